package upkeep

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
)

// packOf adds a pack of so many objects that have nothing in common.
func packOf(t *testing.T, s *shadow.Store, random *rand.Rand, objects int) {
	t.Helper()
	b := s.NewBatch()
	defer b.Discard()
	for range objects {
		content := make([]byte, 64)
		for at := 0; at < len(content); at += 8 {
			binary.NativeEndian.PutUint64(content[at:], random.Uint64())
		}
		storetest.Must[gitstore.ID](t)(b.Blob(content))
	}
	storetest.NoErr(t, b.Flush(context.Background()))
}

// TestBulkIsWhatIsRepacked holds the bytes that make a repack due to those that git takes:
// else a repository of files that nothing makes smaller is repacked again and again.
func TestBulkIsWhatIsRepacked(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	random := rand.New(rand.NewPCG(3, 4))
	stays := false
	for range 6 {
		s := storetest.New(t)
		for range 3 {
			for range 1 + random.IntN(4) {
				packOf(t, s, random, storetest.InPack<<random.IntN(5)+random.IntN(40))
			}
			before := storetest.Must[Bulk](t)(BulkOf(s))
			taken := len(outOfProgression(s.Own().Packs))
			stats := storetest.Must[RepackStats](t)(Repack(ctx, s))
			after := storetest.Must[Bulk](t)(BulkOf(s))
			if (before.Bytes > 0) != (taken > 0) || stats.Packs != taken || after.Bytes > 0 {
				t.Errorf("%d packs were expected to be repacked: %+v, then %+v: %+v", taken, before, after, stats)
			}
			if again := storetest.Must[RepackStats](t)(Repack(ctx, s)); again != (RepackStats{}) {
				t.Errorf("nothing has come, and it was repacked again: %+v", again)
			}
			stays = stays || after.Packs > 1
		}
	}
	if !stays {
		t.Error("one pack was left each time: nothing was shown")
	}
}
