package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// TestLostWorktree: a project may have been first seen in a worktree that is gone. Its
// repository is not: the workspace is made again as a worktree of it, and so is a fork.
func TestLostWorktree(t *testing.T) {
	t.Parallel()
	naive := newBench(t)
	naive.git("init", "-q", "-b", "main")
	naive.git("commit", "-q", "--allow-empty", "-m", "first")
	tree := filepath.Join(naive.dir, "trees", "fox")
	naive.git("worktree", "add", "-q", "-b", "fox", tree)
	if err := errors.Join(os.RemoveAll(tree), os.Mkdir(tree, 0o755)); err != nil { // as an agent makes its directory anew
		t.Fatal(err)
	}
	branch, err := hazards.Git(tree, "symbolic-ref", "--short", "HEAD")
	hazards.Shown(t, hazards.H44, err == nil && branch == "main", "in the directory of a lost worktree, made anew, git works on the main checkout's branch")
	for name, c := range map[string]struct {
		lose func(b *testBench, worktree string) error
		hint string // "" where it is made again at once
	}{
		"by git": {func(b *testBench, worktree string) error {
			b.git("worktree", "remove", "--force", worktree)
			return nil
		}, ""},
		"by hand": {func(_ *testBench, worktree string) error { return os.RemoveAll(worktree) }, "worktree prune"},
		"moved":   {func(_ *testBench, worktree string) error { return os.Rename(worktree, worktree+"-away") }, "worktree repair"},
		"locked": {func(b *testBench, worktree string) error {
			b.git("worktree", "lock", worktree)
			return os.RemoveAll(worktree)
		}, "worktree unlock"},
		"but for a directory": {func(_ *testBench, worktree string) error { return os.Remove(filepath.Join(worktree, ".git")) }, "move away"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, ctx := newBench(t), context.Background()
			b.git("init", "-q", "-b", "main")
			b.write(".gitignore", "trees/\n")
			b.git("add", ".")
			b.git("commit", "-qm", "first")
			worktree := filepath.Join(b.dir, "trees", "fox")
			b.git("worktree", "add", "-q", "-b", "fox", worktree)
			inside := *b
			inside.dir = worktree
			inside.write("a.txt", "one\n")
			inside.mission("work")
			if err := c.lose(b, worktree); err != nil {
				t.Fatal(err)
			}
			forked, err := b.local.Fork(ctx, missions.ForkRequest{Caller: b.caller(), From: "work", Name: "forked"})
			if name == "moved" {
				b.fails("a fork without the files that went along", err, missions.KindFailed)
				if hint := missions.AsError(err).Hint; hint != "umbra project move "+worktree+" "+worktree+"-away" {
					t.Errorf("hint: %s", hint)
				}
			} else if err != nil {
				t.Fatal(err)
			}
			request := missions.LaunchRequest{Caller: b.caller(), Mission: "work", Resume: true, Recreate: worktree}
			launch, err := b.local.Launch(ctx, request)
			if c.hint != "" {
				b.fails("a place that is taken", err, missions.KindConflict)
				if hint := missions.AsError(err).Hint; !strings.Contains(hint, c.hint) {
					t.Errorf("hint: %s", hint)
				}
				if name == "but for a directory" {
					inside.saysLostWorktree(worktree)
				}
				if name != "by hand" {
					return
				}
				b.git("worktree", "prune")
				launch, err = b.local.Launch(ctx, request)
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, dir := range []string{forked.Missions[0].Workspace, launch.Dir} {
				again := *b
				again.dir = dir
				if top := strings.TrimSpace(again.git("rev-parse", "--show-toplevel")); top != dir {
					t.Errorf("git in %s works in %s", dir, top)
				}
				if got, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(got) != "one\n" {
					t.Errorf("%s: a.txt is %q, %v", dir, got, err)
				}
			}
			b.healthy()
		})
	}
	hazards.Held(t, hazards.H44, "a workspace that was a worktree is made again as one, and so is a fork; where something is in the way, the message says what to type")
}

// saysLostWorktree expects that a launch and doctor say where git works in a worktree
// that has lost its .git, and that what they name mends it.
func (b *testBench) saysLostWorktree(worktree string) {
	b.Helper()
	const lost = "is no worktree any more"
	launch, err := b.local.Launch(context.Background(), missions.LaunchRequest{Caller: b.caller(), Mission: "work", Resume: true})
	if err != nil || !strings.Contains(strings.Join(launch.Notes, "\n"), lost) {
		b.Errorf("the launch says %q, %v", launch.Notes, err)
	}
	checked, err := b.local.Doctor(context.Background(), missions.DoctorRequest{Caller: b.caller()})
	if err != nil || len(checked.Problems) != 1 || !strings.Contains(checked.Problems[0].Message, lost) {
		b.Errorf("doctor says %+v, %v", checked.Problems, err)
	}
	b.git("-C", filepath.Dir(filepath.Dir(worktree)), "worktree", "repair")
	b.healthy()
}
