package upkeep

import (
	"maps"
	"slices"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
)

// FuzzOthers: what is written is read as it was, whatever the names; what is torn is an
// error, and nothing that nobody else has changed.
func FuzzOthers(f *testing.F) {
	one, two := gitstore.ID{1}, gitstore.ID{2}
	f.Add(encodeOthers(map[gitstore.ID][]string{one: {"a\n b", "\xff 1"}, two: {}}))
	f.Add([]byte("0100000000000000000000000000000000000000 2\x00a\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := parseOthers(data)
		if err != nil {
			return
		}
		again, err := parseOthers(encodeOthers(all))
		if err != nil || !maps.EqualFunc(all, again, slices.Equal) {
			t.Fatalf("%q becomes %v, then %v: %v", data, all, again, err)
		}
		for id, paths := range again {
			if paths == nil {
				t.Fatalf("nobody knows of %s", id)
			}
		}
	})
}
