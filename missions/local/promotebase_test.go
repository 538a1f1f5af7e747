package local

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// forkBench is a fork of the mission work in a bench of its own.
func (b *testBench) forkBench(name string) *testBench {
	b.Helper()
	there := *b
	there.dir = b.fork(name).Workspace
	return &there
}

// redo brings back what was undone last.
func (b *testBench) redo() {
	b.Helper()
	if _, err := b.local.Redo(b.Context(), missions.UndoRequest{Caller: b.caller(), Mission: "work"}); err != nil {
		b.Fatal(err)
	}
}

// TestPromoteBase promotes a fork again, after what else happened to the parent: what the
// fork did since its last promotion is merged, and nothing twice.
func TestPromoteBase(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		between func(b, other *testBench)
	}{
		{"nothing", func(_, _ *testBench) {}},
		{"another fork", func(b, other *testBench) {
			other.write("other.txt", "other\n")
			b.promoted("other")
		}},
		{"another fork, undone", func(b, other *testBench) {
			other.write("other.txt", "other\n")
			b.promoted("other")
			b.undo()
		}},
		{"restore of one path", func(b, _ *testBench) {
			b.write("mine.txt", "one\n")
			moment := b.snapshot("mine").ID
			b.write("mine.txt", "two\n")
			if _, err := b.local.Restore(b.Context(), missions.RestoreRequest{Caller: b.caller(), Moment: moment, Paths: []string{"mine.txt"}, All: true}); err != nil {
				b.Fatal(err)
			}
		}},
		{"undo and redo", func(b, _ *testBench) {
			b.undo()
			b.redo()
		}},
		{"undo and redo, twice", func(b, _ *testBench) {
			for range 2 {
				b.undo()
				b.redo()
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.write("a.txt", tenLines(-1, ""))
			b.mission("work")
			fork, other := b.forkBench("child"), b.forkBench("other")
			fork.write("a.txt", tenLines(1, "the fork's"))
			fork.write("new.txt", "new\n")
			fork.write(".env", "SECRET=1\n") // which no snapshot holds
			if r := b.promoted("child"); len(r.Kept) != 1 {
				t.Errorf("left as they are: %+v", r.Kept)
			}
			tt.between(b, other)
			b.remove("new.txt")
			fork.write("a.txt", tenLines(1, "the fork's second"))
			if r := b.promoted("child"); !r.Done || b.read("a.txt") != tenLines(1, "the fork's second") || b.read("new.txt") != "(none)" {
				t.Errorf("promoted again: %+v; new.txt is %q", r.RestoreResult, b.read("new.txt"))
			}
			b.healthy()
		})
	}
}

// TestPromoteBaseUndone: a promotion that was undone counts no more, nor one from before
// a restore of files.
func TestPromoteBaseUndone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.mission("work")
	first := b.snapshot("first").ID
	fork := b.forkBench("child")
	fork.write("new.txt", "new\n")
	b.promoted("child")
	b.undo()
	if b.promoted("child"); b.read("new.txt") != "new\n" {
		t.Error("after an undo the fork's file does not come home again")
	}
	if _, err := b.local.Restore(t.Context(), missions.RestoreRequest{Caller: b.caller(), Moment: first, All: true}); err != nil {
		t.Fatal(err)
	}
	if b.promoted("child"); b.read("new.txt") != "new\n" {
		t.Error("after a restore the fork's file does not come home again")
	}
	b.healthy()
}

// TestPromoteBaseOfRestoredPath: after a restore of one path to before a promotion, that is
// still the base of all other paths.
func TestPromoteBaseOfRestoredPath(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.write("b.txt", "one\n")
	b.mission("work")
	first := b.snapshot("first").ID
	fork := b.forkBench("child")
	fork.write("a.txt", "the fork's\n")
	fork.write("b.txt", "the fork's\n")
	fork.write("new.txt", "new\n")
	b.promoted("child")
	b.write("b.txt", "one\n") // the parent goes back by itself
	b.snapshot("back")
	if _, err := b.local.Restore(t.Context(), missions.RestoreRequest{Caller: b.caller(), Moment: first, Paths: []string{"a.txt"}, All: true}); err != nil {
		t.Fatal(err)
	}
	b.remove("new.txt")
	fork.write("third.txt", "third\n")
	r := b.promoted("child")
	if b.read("a.txt") != "the fork's\n" {
		t.Errorf("the restored file does not come home again: %q", b.read("a.txt"))
	}
	if b.read("b.txt") != "one\n" || b.read("new.txt") != "(none)" || b.read("third.txt") != "third\n" {
		t.Errorf("what the parent did with other files: %+v; b.txt %q, new.txt %q", r.RestoreResult, b.read("b.txt"), b.read("new.txt"))
	}
	b.healthy()
}

// TestPromoteBaseKept: a promotion is no base of a path that it left as it was: asked again,
// the fork's file comes home.
func TestPromoteBaseKept(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.mission("work")
	fork := b.forkBench("child")
	fork.write("a.txt", "the fork's\n")
	fork.write("new.txt", "new\n")
	b.write("a.txt", "the parent's\n")
	b.promoted("child", func(r *missions.PromoteRequest) { r.KeepOthers = true })
	if a, n := b.read("a.txt"), b.read("new.txt"); a != "the parent's\n" || n != "new\n" {
		t.Fatalf("--keep-others: %q, %q", a, n)
	}
	_, err := b.promote("child")
	b.fails("asked again", err, missions.KindConflict)
	if b.promoted("child", func(r *missions.PromoteRequest) { r.All = true }); b.read("a.txt") != "the fork's\n" {
		t.Errorf("--all: %q", b.read("a.txt"))
	}
	fork.write("late.txt", "late\n")
	fork.write("second.txt", "second\n")
	b.local.RestoreStep = func(step string) error {
		if step != "create late.txt" {
			return nil
		}
		return os.Mkdir(filepath.Join(b.dir, "late.txt"), 0o755)
	}
	r := b.promoted("child")
	b.local.RestoreStep = nil
	if len(r.Kept) != 1 || r.Kept[0].Path != "late.txt" || b.read("second.txt") != "second\n" {
		t.Fatalf("with a directory in the way: %+v", r.RestoreResult)
	}
	if err := os.Remove(filepath.Join(b.dir, "late.txt")); err != nil {
		t.Fatal(err)
	}
	if b.promoted("child"); b.read("late.txt") != "late\n" {
		t.Errorf("once the directory is gone: %q", b.read("late.txt"))
	}
	b.healthy()
}

// TestPromoteBaseOfPaths: a promotion that left one path is the base of all others. What the
// parent changed in these since is merged, and what it did not touch is no conflict.
func TestPromoteBaseOfPaths(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T) (b, fork *testBench) {
		b = newBench(t)
		b.write(".gitignore", "built\n")
		b.write("a.txt", "one\n")
		b.mission("work")
		fork = b.forkBench("child")
		fork.write("a.txt", "the fork's\n")
		fork.write("out", "out\n")
		if err := os.Chmod(filepath.Join(fork.dir, "out"), 0o600); err != nil {
			t.Fatal(err)
		}
		b.write("out/built", "built\n")
		b.promotedBut("out")
		return b, fork
	}
	t.Run("the parent goes back", func(t *testing.T) {
		t.Parallel()
		b, fork := begin(t)
		b.write("a.txt", "one\n")
		b.snapshot("back")
		fork.write("new", "new\n")
		r := b.promotedBut("out")
		if !slices.Contains(r.Merged, "a.txt") || b.read("a.txt") != "one\n" || b.read("new") != "new\n" {
			t.Errorf("promoted again: %+v; a.txt is %q", r.RestoreResult, b.read("a.txt"))
		}
		b.healthy()
	})
	t.Run("the parent goes on", func(t *testing.T) {
		t.Parallel()
		b, fork := begin(t)
		for _, text := range []string{"the fork's second\n", "the fork's third\n"} {
			fork.write("a.txt", text)
			if b.promotedBut("out"); b.read("a.txt") != text {
				t.Errorf("promoted again: %q, want %q", b.read("a.txt"), text)
			}
		}
		b.remove("out")
		r := b.promoted("child")
		info, err := os.Stat(filepath.Join(b.dir, "out"))
		if err != nil || info.Mode() != 0o600 {
			t.Errorf("once the directory is gone: %+v; out: %v, %v", r.RestoreResult, info, err)
		}
		b.healthy()
	})
}

// promotedBut promotes the fork child, and one path alone is left as it is.
func (b *testBench) promotedBut(path string) missions.PromoteResult {
	b.Helper()
	r := b.promoted("child")
	if len(r.Kept) != 1 || r.Kept[0].Path != path {
		b.Fatalf("left as they are: %+v", r.Kept)
	}
	return r
}

// TestPromotePartsAgain: a promotion of the conversation alone does not hide that of the
// files before it.
func TestPromotePartsAgain(t *testing.T) {
	t.Parallel()
	c, f := newForkedTalk(t)
	c.promoted("other", func(r *missions.PromoteRequest) { r.FilesOnly = true })
	c.promoted("other", func(r *missions.PromoteRequest) { r.ConversationOnly = true })
	c.remove("new")
	f.takeTurn("more", "a.txt", tenLines(1, "the fork's second"))
	r := c.promoted("other")
	if !strings.Contains(c.read("a.txt"), "second") || c.read("new/b.txt") != "(none)" {
		t.Errorf("promoted again: %+v; a.txt is %q", r.RestoreResult, c.read("a.txt"))
	}
	c.healthy()
}

// TestPromoteOffersForks: forks are offered for removal once all that the promoted one did
// is the parent's, and never those whose agent is there.
func TestPromoteOffersForks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.mission("work")
	fork := b.forkBench("child")
	fork.write("a.txt", "the fork's\n")
	b.write("a.txt", "the parent's\n")
	if r := b.promoted("child", func(r *missions.PromoteRequest) { r.KeepOthers = true }); len(r.Kept) != 1 || len(r.Forks) > 0 {
		t.Errorf("where the parent's file was kept: %+v", r.Forks)
	}
	if r := b.promoted("child", func(r *missions.PromoteRequest) { r.FilesOnly, r.All = true, true }); len(r.Forks) > 0 {
		t.Errorf("--files-only: %+v", r.Forks)
	}
	if r := b.promoted("child", func(r *missions.PromoteRequest) { r.All = true }); len(r.Forks) != 1 || r.Forks[0].Name != "child" {
		t.Errorf("--all: %+v", r.Forks)
	}
	c, _ := newForkedTalk(t)
	if r := c.promoted("other"); !r.Done || len(r.Forks) > 0 {
		t.Errorf("where the fork's agent is there: %+v", r.Forks)
	}
}
