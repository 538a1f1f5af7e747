package local

import (
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
			b.promoted("child")
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
