package capture

import (
	"errors"
	"slices"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// TestKnownWalksAsTheTree: what a capture knows is walked as its tree is, in
// Git's order, which is not that of names.
func TestKnownWalksAsTheTree(t *testing.T) {
	l := newLab(t, Settings{SizeCap: 100})
	for _, name := range []string{"a/b", "a.txt", "a0", "a-/x", "d/e/f", "d/e.x", "ignored", "only/ignored", ".env"} {
		l.write(name, name)
	}
	l.write("large", string(make([]byte, 200)))
	l.write(".gitignore", "ignored\n")
	result := l.walk()
	type found struct {
		path  string
		entry gitstore.TreeEntry
	}
	var want []found
	var walk func(id gitstore.ID, path string)
	walk = func(id gitstore.ID, path string) {
		for _, e := range l.batch.trees[id] {
			at := treepath.Join(path, e.Name)
			want = append(want, found{at, e})
			if e.Mode.IsDir() {
				walk(e.ID, at)
			}
		}
	}
	walk(result.Tree, "")
	var got []found
	collect := func(path string, e gitstore.TreeEntry) error {
		got = append(got, found{path, e})
		return nil
	}
	known := l.scanner.Known()
	if ok, err := known.WalkTree(result.Tree, collect); !ok || err != nil || !slices.Equal(got, want) || len(got) != 11 {
		t.Errorf("known %v, %v:\n%v, want\n%v", ok, err, got, want)
	}
	for what, k := range map[string]Known{"another tree": known, "nothing known": {}} {
		tree := result.Tree
		if what == "another tree" {
			tree = gitstore.ID{1}
		}
		if ok, err := k.WalkTree(tree, func(string, gitstore.TreeEntry) error { panic("called") }); ok || err != nil {
			t.Errorf("%s: %v, %v", what, ok, err)
		}
	}
	failure := errors.New("enough")
	if ok, err := known.WalkTree(result.Tree, func(string, gitstore.TreeEntry) error { return failure }); !ok || err != failure {
		t.Errorf("an error of the caller's: %v, %v", ok, err)
	}
}
