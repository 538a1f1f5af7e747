package shadow

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // see below
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/git"
)

// indexed gives a pack that has an index of these entries and no content.
func indexed(t *testing.T, entries []packEntry) (*Pack, []byte) {
	t.Helper()
	base := filepath.Join(t.TempDir(), "pack-x")
	idx := (&packWriter{entries: entries}).index(make([]byte, 20))
	noErr(t, os.WriteFile(base+".idx", idx, 0o600))
	noErr(t, os.WriteFile(base+".pack", nil, 0o600))
	p, err := openPack(base, must[os.FileInfo](t)(os.Stat(base+".idx")), &fileCache{max: 2})
	noErr(t, err)
	return p, idx
}

// TestLargeIndexIsReadInPlace: more objects than an index held in memory has,
// many of them in one bucket.
func TestLargeIndexIsReadInPlace(t *testing.T) {
	t.Parallel()
	const n = 60_000
	entries := make([]packEntry, n)
	for i := range entries {
		id := gitstore.ID(sha1.Sum(binary.BigEndian.AppendUint32(nil, uint32(i)))) //nolint:gosec // any distinct ids
		if i%2 == 0 {
			id[0] = 7
		}
		entries[i] = packEntry{id: id, offset: int64(12 + i)}
	}
	p, _ := indexed(t, slices.Clone(entries))
	if p.whole != nil || p.Count() != n {
		t.Fatalf("%d objects, held in memory: %v", p.Count(), p.whole != nil)
	}
	for i := 0; i < n; i += 11 {
		e := entries[i]
		if at, ok, err := p.Find(e.id); !ok || err != nil || at != e.offset {
			t.Fatalf("%s: %d %v %v", e.id, at, ok, err)
		}
		absent := e.id
		absent[19] ^= 1
		if _, ok, err := p.Find(absent); ok || err != nil {
			t.Fatalf("%s is found: %v", absent, err)
		}
	}
}

// TestLargeOffsets: packs over 2 GiB keep offsets in a table of their own.
func TestLargeOffsets(t *testing.T) {
	t.Parallel()
	var entries []packEntry
	want := map[gitstore.ID]int64{}
	for i, off := range []int64{12, 1<<31 - 1, 1 << 31, 1<<31 + 5, 1 << 40} {
		id := testID(byte(i))
		want[id] = off
		entries = append(entries, packEntry{id: id, offset: off, crc: uint32(i)})
	}
	got, idx := indexed(t, entries)
	out, err := git.Run(context.Background(), git.Command{Dir: t.TempDir(), Stdin: bytes.NewReader(idx), Args: []string{"show-index", "--object-format=sha1"}})
	noErr(t, err)
	for id, off := range want {
		at, ok, err := got.Find(id)
		if !ok || err != nil || at != off {
			t.Errorf("%s: %d %v %v, want %d", id, at, ok, err, off)
		}
		if !strings.Contains(string(out), fmt.Sprintf("%d %s", off, id)) {
			t.Errorf("git does not see %d %s", off, id)
		}
	}
}

func TestBrokenIndexHidesNoOtherObject(t *testing.T) {
	t.Parallel()
	s, ctx := newStore(t), context.Background()
	b := s.NewBatch()
	defer b.Discard()
	id := must[gitstore.ID](t)(b.Blob([]byte("loose")))
	noErr(t, b.Flush(ctx))
	noErr(t, os.WriteFile(filepath.Join(s.PackDir(), "pack-1.idx"), []byte("nonsense"), 0o600))
	noErr(t, os.WriteFile(filepath.Join(s.PackDir(), "pack-1.pack"), []byte("nonsense"), 0o600))
	again := must[*Store](t)(Open(s.Dir()))
	defer again.Close()
	if ok, err := again.Has(id); !ok || err != nil {
		t.Errorf("%v %v", ok, err)
	}
	if got := must[[]byte](t)(again.Blob(id)); string(got) != "loose" {
		t.Errorf("%q", got)
	}
	if ok, err := again.Has(testID(3)); ok || err == nil {
		t.Errorf("absence was claimed beside a broken index: %v %v", ok, err)
	}
}
