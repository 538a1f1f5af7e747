package merge_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/merge"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
)

// TestAttempt: what git merges is merged beside what it can't merge, renames included, and
// what it can't has ours in the tree and each side's content with it.
func TestAttempt(t *testing.T) {
	t.Parallel()
	base := files{"a": lines(nil), "b": lines(nil), "c": "c\n", "d": "d\n", "dir/f": "f\n"}
	for _, c := range []struct {
		name               string
		ours, theirs, want files
		conflicts          []string // path, and which of base, ours and theirs are there
	}{
		{
			name: "overlap beside a rename", ours: files{"moved": lines(nil), "b": lines(map[int]string{1: "mine"}), "c": "c\n", "d": "d\n", "dir/f": "f\n"},
			theirs:    files{"a": lines(map[int]string{5: "theirs"}), "b": lines(map[int]string{1: "theirs"}), "c": "c\n", "d": "d\n", "dir/f": "f\n"},
			want:      files{"moved": lines(map[int]string{5: "theirs"}), "b": lines(map[int]string{1: "mine"}), "c": "c\n", "d": "d\n", "dir/f": "f\n"},
			conflicts: []string{"b bot"},
		},
		{
			name: "deleted here, changed there", ours: files{"a": lines(nil), "b": lines(nil), "d": "d\n", "dir/f": "f\n"},
			theirs:    files{"a": lines(nil), "b": lines(nil), "c": "changed\n", "d": "more\n", "dir/f": "f\n"},
			want:      files{"a": lines(nil), "b": lines(nil), "d": "more\n", "dir/f": "f\n"},
			conflicts: []string{"c b-t"},
		},
		{
			name: "a file where there is a directory", ours: files{"a": lines(nil), "b": lines(nil), "c": "c\n", "d": "d\n", "dir/f": "mine\n"},
			theirs:    files{"a": lines(nil), "b": lines(nil), "c": "theirs\n", "d": "d\n", "dir": "a file\n"},
			want:      files{"a": lines(nil), "b": lines(nil), "c": "theirs\n", "d": "d\n", "dir/f": "mine\n"},
			conflicts: []string{"dir bot", "dir/f bo-"},
		},
		{
			name: "added on both sides", ours: files{"a": lines(nil), "b": lines(nil), "c": "c\n", "d": "d\n", "dir/f": "f\n", "new": "mine\n"},
			theirs:    files{"a": lines(nil), "b": lines(nil), "c": "c\n", "d": "d\n", "dir/f": "f\n", "new": "theirs\n"},
			want:      files{"a": lines(nil), "b": lines(nil), "c": "c\n", "d": "d\n", "dir/f": "f\n", "new": "mine\n"},
			conflicts: []string{"new -ot"},
		},
		{
			name: "renamed on both sides, and the same lines changed", ours: files{"mine": lines(map[int]string{1: "mine"}), "b": lines(nil), "c": "c\n"},
			theirs: files{"theirs": lines(map[int]string{1: "theirs"}), "b": lines(nil), "c": "c\n", "d": "d\n", "dir/f": "f\n"},
			want:   files{"mine": lines(map[int]string{1: "mine"}), "theirs": lines(map[int]string{1: "theirs"}), "b": lines(nil), "c": "c\n"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := storetest.New(t)
			got := storetest.Must[merge.Attempted](t)(merge.Attempt(t.Context(), s,
				merge.Sides{Base: writeTree(t, s, base), Ours: writeTree(t, s, c.ours), Theirs: writeTree(t, s, c.theirs)}, merge.Driver{}))
			if want := writeTree(t, s, c.want); got.Tree != want {
				t.Errorf("merged %q, want %q", readTree(t, s, got.Tree), c.want)
			}
			var conflicts []string
			for _, at := range got.Conflicts {
				text := at.Path + " "
				for i, e := range []gitstore.TreeEntry{at.Base, at.Ours, at.Theirs} {
					if e.ID.IsZero() {
						text += "-"
					} else {
						text += fmt.Sprintf("%c", "bot"[i])
					}
				}
				conflicts = append(conflicts, text)
			}
			if !slices.Equal(conflicts, c.conflicts) {
				t.Errorf("conflicts %q, want %q", conflicts, c.conflicts)
			}
			storetest.Fsck(t, s)
		})
	}
}
