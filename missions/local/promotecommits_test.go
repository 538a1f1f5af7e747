package local

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// withCommits moves the parent's branch too.
func withCommits(r *missions.PromoteRequest) { r.Commits = true }

// newRepository is a bench in a repository with one commit.
func newRepository(t *testing.T, paths ...string) *testBench {
	t.Helper()
	b := newBench(t)
	for _, path := range paths {
		b.write(path, "begun\n")
	}
	b.git("init", "-q", "-b", "main")
	b.git("add", ".")
	b.git("commit", "-q", "-m", "first")
	return b
}

// refusesCommits expects that a promotion with --commits is refused, and changes nothing.
func (b *testBench) refusesCommits(fork, says string) {
	b.Helper()
	before := b.commit("HEAD")
	_, err := b.promote(fork, withCommits)
	if err == nil {
		b.Fatal("--commits is not refused")
	}
	if e := missions.AsError(err); e.Kind != missions.KindConflict || !strings.Contains(e.Message, says) || !strings.Contains(e.Hint, "git merge umbra/"+fork) {
		b.Errorf("refused: %s (%s), want %q", e.Message, e.Hint, says)
	}
	if plan := b.promoted(fork, withCommits, func(r *missions.PromoteRequest) { r.Preview = true }); len(plan.Refused) == 0 {
		b.Errorf("the preview refuses nothing: %+v", plan)
	}
	if b.commit("HEAD") != before || b.git("status", "--porcelain") != "" {
		b.Errorf("it changed something all the same: %s, %q", b.commit("HEAD"), b.git("status", "--porcelain"))
	}
}

// TestPromoteCommitsOutside: the branch moves to no commits whose files a promotion does
// not bring, as they are outside of the parent's workspace.
func TestPromoteCommitsOutside(t *testing.T) {
	t.Parallel()
	top := newRepository(t, "sub/s.txt", "other.txt")
	b := *top
	b.dir = filepath.Join(top.dir, "sub")
	if _, err := b.local.NewMission(t.Context(), missions.NewMissionRequest{Caller: b.caller(), Name: "work", Workspace: b.dir, Command: []string{"sh"}}); err != nil {
		t.Fatal(err)
	}
	fork := b.forkBench("child")
	fork.write("s.txt", "changed\n")
	fork.git("commit", "-q", "-a", "-m", "within")
	if r := b.promoted("child", withCommits); r.MovedBranch != "main" || b.read("s.txt") != "changed\n" {
		t.Errorf("commits within the workspace: %+v", r)
	}
	if err := os.WriteFile(filepath.Join(strings.TrimSpace(fork.git("rev-parse", "--show-toplevel")), "other.txt"), []byte("changed\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	fork.git("commit", "-q", "-a", "-m", "outside")
	b.refusesCommits("child", "other.txt")
	b.healthy()
}

// TestPromoteCommitsUnkept: nor to commits of files that Umbra does not keep.
func TestPromoteCommitsUnkept(t *testing.T) {
	t.Parallel()
	b := newRepository(t, "a.txt")
	b.mission("work")
	fork := b.forkBench("child")
	b.local.Config.Capture.MaxFileSize = 10
	fork.write("large.txt", "more than ten bytes\n")
	fork.git("add", ".")
	fork.git("commit", "-q", "-m", "a large file")
	b.refusesCommits("child", "large.txt")
	b.healthy()
}

// TestPromoteCommitsUndone: what an undo and a redo name for the branch leaves nothing
// staged, and the redo goes on after it.
func TestPromoteCommitsUndone(t *testing.T) {
	t.Parallel()
	b := newRepository(t, "a.txt")
	first := b.commit("HEAD")
	b.mission("work")
	fork := b.forkBench("child")
	fork.write("a.txt", "changed\n")
	fork.git("commit", "-q", "-a", "-m", "of the fork")
	tip := fork.commit("HEAD")
	b.promoted("child", withCommits)
	undone, err := b.local.Undo(t.Context(), missions.UndoRequest{Caller: b.caller(), Mission: "work"})
	if err != nil || !strings.Contains(strings.Join(undone.Notes, "\n"), "git reset "+first[:10]) {
		t.Errorf("undo: %q %v", undone.Notes, err)
	}
	b.git("reset", "-q", first[:10])
	if status := b.git("status", "--porcelain"); status != "" {
		t.Errorf("after the reset: %q", status)
	}
	_, err = b.local.Redo(t.Context(), missions.UndoRequest{Caller: b.caller(), Mission: "work"})
	if err == nil || !strings.Contains(missions.AsError(err).Hint, "git reset "+tip[:10]) {
		t.Fatalf("redo: %v", err)
	}
	b.git("reset", "-q", tip[:10])
	b.redo()
	if status := b.git("status", "--porcelain"); status != "" || b.read("a.txt") != "changed\n" {
		t.Errorf("after the redo: %q", status)
	}
	b.healthy()
}

// TestPromoteCommitsKept: the branch stays where the promotion left a file of the commits
// as it was, but for those of which the user chose the parent's.
func TestPromoteCommitsKept(t *testing.T) {
	t.Parallel()
	b := newRepository(t, "a.txt")
	b.write(".gitignore", "out/\n")
	b.git("add", ".")
	b.git("commit", "-q", "-m", "ignore out")
	first := b.commit("HEAD")
	b.mission("work")
	fork := b.forkBench("child")
	fork.write("out", "the fork's\n")
	fork.git("add", ".")
	fork.git("commit", "-q", "-m", "a file out")
	b.write("out/built", "built\n")
	stays := func(r missions.PromoteResult, says string) {
		t.Helper()
		if notes := strings.Join(r.Notes, "\n"); r.MovedBranch != "" || b.commit("HEAD") != first || !strings.Contains(notes, "main was not moved to the commits of child: "+says) {
			t.Errorf("the branch moved, or it is not said why not: %+v", r)
		}
	}
	stays(b.promoted("child", withCommits), "out did not come along")
	if err := os.RemoveAll(filepath.Join(b.dir, "out")); err != nil {
		t.Fatal(err)
	}
	fork.write("a.txt", "the fork's\n")
	fork.git("commit", "-q", "-a", "-m", "and a.txt")
	b.local.RestoreStep = func(step string) error {
		if step == "exchange a.txt" {
			b.write("a.txt", "another program's\n")
		}
		return nil
	}
	stays(b.promoted("child", withCommits), "another program wrote a.txt meanwhile")
	b.local.RestoreStep = nil
	if r := b.promoted("child", withCommits); r.MovedBranch != "main" || b.git("status", "--porcelain") != "" {
		t.Errorf("once nothing is in the way: %+v, %q", r, b.git("status", "--porcelain"))
	}
	fork.write("a.txt", "the fork's second\n")
	fork.git("commit", "-q", "-a", "-m", "a.txt again")
	b.write("a.txt", "the parent's\n")
	r := b.promoted("child", withCommits, func(r *missions.PromoteRequest) { r.KeepOthers = true })
	if r.MovedBranch != "main" || b.read("a.txt") != "the parent's\n" {
		t.Errorf("--keep-others: %+v", r)
	}
	b.healthy()
}

// TestPromoteCommitsNamed: what is said of the fork's commits is so: where they are, and
// whether the files are here.
func TestPromoteCommitsNamed(t *testing.T) {
	t.Parallel()
	b := newRepository(t, "a.txt")
	b.mission("work")
	fork := b.forkBench("child")
	fork.git("checkout", "-q", "--detach")
	fork.write("a.txt", "changed\n")
	fork.git("commit", "-q", "-a", "-m", "of the fork")
	stays := "1 commit of the fork stays on " + fork.commit("HEAD")[:10]
	for _, tt := range []struct {
		change func(*missions.PromoteRequest)
		says   string
	}{
		{func(r *missions.PromoteRequest) { r.Preview = true }, stays + "; --commits moves the branch here to them"},
		{func(r *missions.PromoteRequest) { r.ConversationOnly = true }, stays},
		{func(*missions.PromoteRequest) {}, stays + ": the files are here without, and --commits moves the branch here to them"},
	} {
		if r := b.promoted("child", tt.change); !slices.Contains(r.Notes, tt.says) {
			t.Errorf("the notes are %q, want %q", r.Notes, tt.says)
		}
	}
}
