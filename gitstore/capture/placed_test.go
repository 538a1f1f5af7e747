package capture

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// placed describes a tree that is in the workspace, as whoever put it there
// would.
func (l *lab) placed(tree gitstore.ID) []Placed {
	l.t.Helper()
	root, err := beneath.Open(l.root)
	l.must(err)
	defer root.Close()
	var out []Placed
	var walk func(id gitstore.ID, path string)
	walk = func(id gitstore.ID, path string) {
		for _, e := range l.batch.trees[id] {
			at := treepath.Join(path, e.Name)
			st, err := root.Lstat(at)
			l.must(err)
			out = append(out, Placed{Path: at, Mode: e.Mode, ID: e.ID, Stat: st})
			if e.Mode.IsDir() {
				walk(e.ID, at)
			}
		}
	}
	walk(tree, "")
	return out
}

// TestPlaced captures a workspace that was made from a snapshot a moment ago:
// only what could have been written to unnoticed is read, and what was written
// to is found.
func TestPlaced(t *testing.T) {
	l := newLab(t, Settings{})
	old := time.Now().Add(-time.Hour).Add(123456789 * time.Nanosecond)
	files := []string{"a", "d/.gitignore", "d/b", "d/e/c", "run.sh", "same-size"}
	for _, name := range files {
		l.write(name, "content of "+name+"\n")
	}
	l.must(os.Chmod(l.path("run.sh"), 0o755))
	l.must(os.Symlink("a", l.path("link")))
	l.write("fresh", "written just now\n")
	l.write("d/e/gone", "gone\n")
	l.write("ignored.o", "o")
	l.write(".gitignore", "*.o\n")
	want := l.settle()
	for _, name := range append(files, ".gitignore", "d/e/gone") {
		l.must(os.Chtimes(l.path(name), old, old))
	}
	l.must(os.Chtimes(l.path("fresh"), time.Time{}, time.Now()))
	start := func(entries []Placed) {
		s, err := PlacedScanner(l.scanner.workspace, want.Tree, entries)
		l.must(err)
		l.scanner = s
	}

	start(l.placed(want.Tree))
	r := l.capture(Dirty{}, Options{})
	if r.Tree != want.Tree || r.Stats.ReadFiles != 2 || !r.Walked {
		t.Errorf("tree right: %v, read %d of link and fresh, walked %v", r.Tree == want.Tree, r.Stats.ReadFiles, r.Walked)
	}
	if got := l.settle(); got.Tree != want.Tree {
		t.Error("the next capture gives another tree")
	}

	entries := l.placed(want.Tree)
	for i := range entries {
		if entries[i].Path == "d/b" {
			entries[i].Stat = beneath.Stat{} // whoever made it does not know
		}
	}
	start(entries)
	l.write("same-size", strings.ToUpper("content of same-size\n"))
	l.must(os.Chtimes(l.path("same-size"), old, old))
	l.must(os.Remove(l.path("d/e/gone")))
	l.must(os.Chmod(l.path("a"), 0o755))
	r = l.capture(Dirty{}, Options{})
	got := l.batch.files(t, r.Tree)
	if got["same-size"] != "CONTENT OF SAME-SIZE\n" || got["d/e/gone"] != "" || got["d/b"] != "content of d/b\n" || len(got) != 9 {
		t.Errorf("captured %v", got)
	}
	if r.Stats.ReadFiles != 5 {
		t.Errorf("read %d, want link, fresh, d/b, same-size and a", r.Stats.ReadFiles)
	}
}

func TestPlacedRefusesWhatIsNoTree(t *testing.T) {
	l := newLab(t, Settings{})
	l.write("d/a", "a")
	good := l.placed(l.settle().Tree)
	for name, entries := range map[string][]Placed{
		"a file without its directory": good[1:],
		"a file twice":                 append(slices.Clone(good), good[1]),
		"a gitlink":                    append(slices.Clone(good), Placed{Path: "x", Mode: gitstore.ModeGitlink}),
	} {
		s, err := PlacedScanner(l.scanner.workspace, gitstore.ID{}, entries)
		if !errors.Is(err, ErrNotPlaced) {
			t.Errorf("%s: %v", name, err)
		}
		l.scanner = s
		if r := l.capture(Dirty{}, Options{}); r.Stats.ReadFiles != 1 {
			t.Errorf("%s: what is refused was used", name)
		}
	}
}
