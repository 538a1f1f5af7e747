package objects

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // see below
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/git"
)

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
	_, p := withIndex(t, slices.Clone(entries))
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
		id := numbered(i)
		want[id] = off
		entries = append(entries, packEntry{id: id, offset: off, crc: uint32(i)})
	}
	_, got := withIndex(t, entries)
	idx := must[[]byte](t)(os.ReadFile(got.Base + ".idx"))
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

// TestSearchingAnIndexReadsLittle: where one of many objects is in a pack whose
// index is too large to be held is found by reading some of the names. It is not
// parallel: the memory that other tests take would be counted too.
func TestSearchingAnIndexReadsLittle(t *testing.T) {
	const size = 300_000
	var entries []packEntry
	for n := range size {
		entries = append(entries, packEntry{id: numbered(n), offset: 12 + int64(n)})
	}
	_, p := withIndex(t, entries)
	const runs = 200
	var before, after runtime.MemStats
	for n := range runs + 1 {
		if n == 1 { // the first call makes what is made once
			runtime.ReadMemStats(&before)
		}
		off, ok, err := p.Find(numbered(n * 1000))
		if err != nil || !ok || off != 12+int64(n)*1000 {
			t.Fatalf("object %d is at %d, %t, %v", n*1000, off, ok, err)
		}
	}
	runtime.ReadMemStats(&after)
	if took := (after.TotalAlloc - before.TotalAlloc) / runs; took > 8<<10 {
		t.Errorf("finding one takes %d bytes; a 256th of the names has %d", took, size/256*gitstore.IDSize)
	}
}

// TestSearchOfUnevenNames finds names that are not spread as hashes are.
func TestSearchOfUnevenNames(t *testing.T) {
	t.Parallel()
	uneven := func(n int) gitstore.ID {
		var id gitstore.ID
		binary.BigEndian.PutUint32(id[n%2*8:], uint32(n)+1) // low in the bucket, or lower
		id[0] = 7
		return id
	}
	var entries []packEntry
	const size = 40_000
	for n := 0; n < size; n += 2 {
		entries = append(entries, packEntry{id: uneven(n * 64), offset: 12 + int64(n)}, packEntry{id: uneven(n*64 + 1), offset: 13 + int64(n)})
	}
	_, p := withIndex(t, entries)
	if p.whole != nil {
		t.Fatal("the index is held")
	}
	for n := 0; n < size; n += 6 {
		for k := range 3 { // the third is not there
			off, ok, err := p.Find(uneven(n*64 + k))
			if err != nil || ok != (k < 2) || ok && off != 12+int64(n+k) {
				t.Fatalf("%d, %d: at %d, %t, %v", n, k, off, ok, err)
			}
		}
	}
}
