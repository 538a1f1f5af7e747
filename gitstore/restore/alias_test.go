package restore

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// folding is a disk that does not tell cases apart.
type folding struct{ *beneath.Root }

func (f folding) real(path string) string {
	at := ""
	for name := range strings.SplitSeq(path, "/") {
		entries, _ := f.Root.ReadDir(at)
		for _, e := range entries {
			if strings.EqualFold(e.Name, name) {
				name = e.Name
				break
			}
		}
		at = treepath.Join(at, name)
	}
	return at
}

func (f folding) Lstat(path string) (beneath.Stat, error) { return f.Root.Lstat(f.real(path)) }

func (f folding) ReadDir(path string) ([]beneath.Entry, error) { return f.Root.ReadDir(f.real(path)) }

func (f folding) Open(path string) (*os.File, beneath.Stat, error) { return f.Root.Open(f.real(path)) }

func (f folding) Readlink(path string) (string, error) { return f.Root.Readlink(f.real(path)) }

// TestOnlyTheCase: names that are one for the file system become one rename
// (H15). The plan is made as if the disk did not tell cases apart; this one
// does, so that the rename finds its new name free.
func TestOnlyTheCase(t *testing.T) {
	hazards.Held(t, hazards.H15, "names that are one for the file system become one rename")
	for _, failAt := range []string{"", "rename", "exchange"} {
		l := newFastLab(t)
		l.write("Readme", "1")
		l.write("Src/a", "a")
		l.write("Src/Deep/b", "b")
		l.write("Src/c", "c1")
		to := l.capture()
		l.must(os.Rename(l.path("Readme"), l.path("README")))
		l.must(os.Rename(l.path("Src"), l.path("src")))
		l.must(os.Rename(l.path("src/Deep"), l.path("src/deep")))
		l.write("src/c", "c2")
		p, err := Make(l.store, folding{l.ws}, Request{From: l.capture(), To: to})
		l.must(err)
		p = l.throughJSON(p)
		if got := lines(p); got != "R Src/c" || len(p.Renames) != 3 {
			t.Fatalf("plan is %s, renames %v", got, p.Renames)
		}
		before, a := l.disk(), l.inodes()["src/a"]
		o := l.begin(p, PrepareOptions{})
		failed := errors.New("failed here")
		o.work.Step = func(step string) error {
			if failAt != "" && strings.HasPrefix(step, failAt) {
				failAt = ""
				return failed
			}
			return nil
		}
		fails := failAt != ""
		_, err = o.work.Apply(context.Background())
		if fails {
			if !errors.Is(err, failed) {
				t.Fatal(err)
			}
			l.want(before)
			o.end()
			continue
		}
		l.must(err)
		o.end()
		if got := l.capture(); got.Tree != to.Tree {
			t.Errorf("disk: %v", l.disk())
		}
		if l.inodes()["Src/a"] != a {
			t.Error("a file of which only the spelling changed was touched")
		}
	}
}

// TestHardLinksAreNoAliases: two names of one file are two names.
func TestHardLinksAreNoAliases(t *testing.T) {
	l := newFastLab(t)
	l.write("Readme", "1")
	to := l.capture()
	l.must(os.Rename(l.path("Readme"), l.path("README")))
	l.write(".gitignore", "Readme\n")
	l.must(os.Link(l.path("README"), l.path("Readme")))
	if got := lines(l.plan(l.capture(), to)); got != "D .gitignore, D README, K Readme ignored" {
		t.Errorf("plan is %s", got)
	}
}
