package capture

import (
	"context"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// TestSeededUntilRead: what was taken over counts as unread until it is read, in
// steps, however often it is captured and in whatever process.
func TestSeededUntilRead(t *testing.T) {
	t.Parallel()
	l := newSeedLab(t)
	l.some()
	l.commit()
	repo, err := usergit.Discover(l.root)
	l.must(err)
	l.sources.Repository, l.rules = repo, nil
	l.scanner = l.newScanner()
	unread := func() int { return l.scanner.Known().Unread() }
	if unread() != 0 {
		t.Error("unread before the first capture")
	}
	batch := l.store.NewBatch()
	defer batch.Discard()
	first, err := l.scanner.Capture(context.Background(), batch, l.refresh(), Dirty{All: true}, Options{Seed: &Seed{Repository: repo, Store: l.store}})
	l.must(err)
	l.scanner.Accept(first)
	known := l.scanner.Known()
	if unread() != 6 || !known.Seeded("b/d/e.sh") || !known.Seeded("link") || known.Seeded("b") || known.Seeded("none") {
		t.Fatalf("%d unread of %+v", unread(), first.Stats)
	}
	for _, bound := range []struct {
		files int
		bytes int64
		want  int
	}{{2, 1 << 20, 2}, {10, 1, 1}, {10, 11, 2}, {10, 1 << 20, 6}} {
		if got := seededFiles(known.base, bound.files, bound.bytes); len(got) != bound.want {
			t.Errorf("%+v: %q", bound, got)
		}
	}
	l.scanner, err = OpenScanner(l.scanner.workspace, l.save(7), 7)
	l.must(err)
	if r := l.capture(Dirty{}, Options{}); !r.Walked || r.Stats.ReadFiles != 0 || unread() != 6 {
		t.Errorf("after a restart %d are unread, %d were read", unread(), r.Stats.ReadFiles)
	}
	if r := l.capture(Dirty{All: true}, Options{Verify: true}); r.Stats.ReadFiles != 0 || unread() != 6 {
		t.Errorf("after a walk %d are unread, %d were read", unread(), r.Stats.ReadFiles)
	}
	l.write("same", "another text\n")
	if l.paths("same"); unread() != 5 {
		t.Errorf("after an edit %d are unread", unread())
	}
	if r := l.capture(Dirty{}, Options{Seeded: true}); r.Stats.ReadFiles != 5 || r.Stats.Corrected != 0 || unread() != 0 {
		t.Errorf("read %d, %d corrected, %d unread", r.Stats.ReadFiles, r.Stats.Corrected, unread())
	}
}
