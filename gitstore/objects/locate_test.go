package objects

import (
	"slices"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
)

// TestLocate looks many objects up in an index that is too large to be held,
// few, and in one that is held, and finds what single lookups find; offsets over
// 2 GiB too.
func TestLocate(t *testing.T) {
	t.Parallel()
	for _, size := range []int{40_000, 5_000} {
		var entries []packEntry
		for n := range size {
			entries = append(entries, packEntry{id: numbered(n), offset: 12 + int64(n)*(1<<20)})
		}
		o, p := withIndex(t, entries)
		if held := p.whole != nil; held == (size > 5_000) {
			t.Fatalf("%d objects: held %t", size, held)
		}
		for _, step := range []int{1, 7, 5_003} {
			offsets := map[gitstore.ID]int64{}
			var ids []gitstore.ID
			for n := 0; n < 2*size; n += step {
				ids = append(ids, numbered(n))
				if n < size {
					offsets[numbered(n)] = 12 + int64(n)*(1<<20)
				}
			}
			slices.SortFunc(ids, gitstore.ID.Compare)
			found := 0
			for i, at := range o.Locate(ids) {
				want, there := offsets[ids[i]]
				if at.Nowhere() == there || there && (at.Pack != p || at.Offset != want) {
					t.Fatalf("%d objects, step %d: %s is at %d, want %d %t", size, step, ids[i], at.Offset, want, there)
				}
				if there {
					found++
				}
			}
			if found != len(offsets) {
				t.Errorf("found %d of %d", found, len(offsets))
			}
		}
	}
}

func TestDeltaNumber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		bytes []byte
		want  int64
		rest  int // -1: none
	}{
		{[]byte{5, 9}, 5, 1},
		{[]byte{0x80, 1}, 128, 0},
		{[]byte{0xff, 0xff, 0x7f}, 1<<21 - 1, 0},
		{[]byte{0x80}, 0, -1},
		{nil, 0, -1},
		{[]byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1}, 0, -1},
	} {
		n, rest := deltaNumber(c.bytes)
		if c.rest < 0 && rest != nil || c.rest >= 0 && (rest == nil || n != c.want || len(rest) != c.rest) {
			t.Errorf("%x: %d, rest %v", c.bytes, n, rest)
		}
	}
}
