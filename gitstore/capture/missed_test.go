package capture

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
)

// TestVerifyTellsWhatNobodyTold changes files of which some are named, and
// walks: the others are captured and listed.
func TestVerifyTellsWhatNobodyTold(t *testing.T) {
	l := newLab(t, Settings{SizeCap: 100})
	for _, path := range []string{"a", "d/b", "d/c", "gone/x", "kept/y", "kind", "old/z", "ig/.gitignore"} {
		l.write(path, "first "+path)
	}
	l.walk()
	verify := func(dirty ...string) *Result {
		t.Helper()
		return l.capture(Dirty{Paths: dirty}, Options{Verify: true})
	}
	if r := verify(); !r.Walked || len(r.Missed) > 0 {
		t.Errorf("walked %v, missed %q where nothing happened", r.Walked, r.Missed)
	}
	change := func() {
		l.write("a", "second")
		l.write("d/b", "second")
		l.write("d/new", "new")
		l.write("fresh/deep/file", "new")
		l.must(os.RemoveAll(l.path("gone")))
		l.must(os.Remove(l.path("kind")))
		l.must(os.Symlink("a", l.path("kind")))
		l.must(os.Chmod(l.path("d/c"), 0o755))
	}
	change()
	r := verify("a", "d/b")
	want := []string{"d/c", "d/new", "fresh", "gone", "kind"}
	if !slices.Equal(r.Missed, want) {
		t.Errorf("missed %q, want %q", r.Missed, want)
	}
	if r.Tree != l.freshTree() {
		t.Error("what was missed is not in the tree")
	}
	for i, told := range [][]string{{"old"}, {"old/z"}, {""}} {
		l.write("old/z", fmt.Sprint("told ", i))
		if r := verify(told...); told[0] != "" && len(r.Missed) > 0 || told[0] == "" && !slices.Equal(r.Missed, []string{"old/z"}) {
			t.Errorf("%q was told: missed %q", told, r.Missed)
		}
	}
	// Nobody tells of what rules bring and take, nor of what is not captured.
	l.write("ig/.gitignore", "*.o\n")
	l.write("ig/x.o", "ignored")
	l.write(".env", "secret")
	if r := verify("ig/.gitignore"); len(r.Missed) > 0 {
		t.Errorf("missed %q", r.Missed)
	}
	l.write("a", string(make([]byte, 101)))
	if r := verify(); !slices.Equal(r.Missed, []string{"a"}) {
		t.Errorf("a file that grew over the cap: missed %q", r.Missed)
	}
}

// freshTree is what a capture without memory gives.
func (l *lab) freshTree(held ...string) gitstore.ID {
	l.t.Helper()
	keep := l.scanner
	defer func() { l.scanner = keep }()
	l.scanner = l.newScanner()
	return l.capture(Dirty{All: true}, Options{Held: NewHeld(held)}).Tree
}
