package shadow_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
)

// TestLargeBlobsAtOnce writes large blobs from several goroutines, small ones
// between them, in memory that does not grow with their size.
func TestLargeBlobsAtOnce(t *testing.T) {
	s := storetest.New(t)
	b := s.NewBatch()
	defer b.Discard()
	const size, most = 24 << 20, 48 << 20 // the race detector drops pooled buffers
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var ids [3]gitstore.ID
	var work sync.WaitGroup
	for i := range ids {
		work.Go(func() {
			noise := io.LimitReader(rand.NewChaCha8([32]byte{byte(i % 2)}), size) // two are the same
			var err error
			if ids[i], err = b.BlobFrom(noise, size); err != nil {
				t.Error(err)
			}
		})
	}
	small := map[gitstore.ID]string{}
	for i := range 100 {
		text := fmt.Sprint("small ", i)
		small[storetest.Must[gitstore.ID](t)(b.Blob([]byte(text)))] = text
	}
	work.Wait()
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > most {
		t.Errorf("%d bytes were allocated for %d blobs of %d", grown, len(ids), size)
	}
	if ids[0] != ids[2] || ids[0] == ids[1] {
		t.Errorf("ids are %v", ids)
	}
	storetest.NoErr(t, b.Flush(context.Background()))
	for id, text := range small {
		if got := storetest.Must[[]byte](t)(s.Blob(id)); string(got) != text {
			t.Errorf("%q was stored as %q", text, got)
		}
	}
	for i, id := range ids[:2] {
		want := make([]byte, size)
		_, _ = rand.NewChaCha8([32]byte{byte(i)}).Read(want)
		if got := storetest.Must[[]byte](t)(s.Blob(id)); !bytes.Equal(got, want) {
			t.Errorf("large blob %d differs", i)
		}
	}
	storetest.NoLeftovers(t, s)
	storetest.Fsck(t, s)
}
