package local

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/moves"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// moved asks for a move between two directories of the user's.
func (b *testBench) moved(old, to string, force bool) (missions.Project, error) {
	return b.local.MoveProject(context.Background(), missions.MoveProjectRequest{Caller: b.caller(), Old: old, New: to, Force: force})
}

// beside makes another directory next to the bench's and gives it a mission.
func (b *testBench) beside(name, mission string) *testBench {
	b.Helper()
	o := *b
	o.dir = filepath.Join(filepath.Dir(b.dir), name)
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		b.Fatal(err)
	}
	if mission != "" {
		o.write("of.txt", mission)
		o.mission(mission)
	}
	return &o
}

// TestMoveNowhereElse refuses to rebind a project to a directory that it was not
// moved to: the next restore would delete what is in it.
func TestMoveNowhereElse(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.mission("work")
	other, repo := b.beside("other", "others"), b.beside("repo", "")
	repo.git("init", "-q")
	repo.write("sub/of.txt", "x\n")
	repo.mission("versioned")
	precious := b.beside("precious", "")
	precious.write("b.txt", "mine\n")
	for _, to := range []string{"/", b.user, other.dir, repo.dir, filepath.Join(repo.dir, "sub"), precious.dir} {
		_, err := b.moved(b.dir, to, true)
		b.fails("to "+to, err, missions.KindConflict)
	}
	if err := os.Rename(b.dir, b.dir+"-gone"); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"/", b.user, other.dir, filepath.Join(repo.dir, "sub")} {
		_, err := b.moved(b.dir, to, true)
		b.fails("moved away, to "+to, err, missions.KindConflict)
	}
	_, err := b.moved(b.dir, precious.dir, false)
	b.fails("to a directory with other files", err, missions.KindConflict)
	if p, err := b.moved(b.dir, precious.dir, true); err != nil || p.Path != precious.dir {
		t.Errorf("insisting: %+v %v", p, err)
	}
	for _, o := range []*testBench{other, repo} {
		if list, err := o.local.Missions(context.Background(), missions.MissionsRequest{Caller: o.caller()}); err != nil || len(list) != 1 {
			t.Errorf("in %s: %+v %v", o.dir, list, err)
		}
	}
	if got := precious.read("b.txt"); got != "mine\n" {
		t.Errorf("in the new place: %q", got)
	}
}

// TestMoveToCopy goes on in a copy, which has another identity, and where a link
// leads from the old place to the new one.
func TestMoveToCopy(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.write("b.txt", "two\n")
	b.mission("work")
	if err := os.Symlink("a.txt", filepath.Join(b.dir, "link")); err != nil {
		t.Fatal(err)
	}
	b.snapshot("")
	gone := b.dir + "-gone"
	if err := os.Rename(b.dir, gone); err != nil {
		t.Fatal(err)
	}
	now := b.beside("copy", "")
	now.write("a.txt", "one\n")
	if _, err := b.moved(b.dir, now.dir, false); err == nil || !strings.Contains(err.Error(), "of 3 of its files 1 are") {
		t.Errorf("a third of it: %v", err)
	}
	now.write("b.txt", "two\n")
	if p, err := b.moved(b.dir, now.dir, false); err != nil || p.Path != now.dir {
		t.Errorf("a copy, changed since: %+v %v", p, err)
	}
	old := now.dir
	now.dir += "-linked"
	if err := os.Rename(old, now.dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(now.dir, old); err != nil {
		t.Fatal(err)
	}
	if p, err := b.moved(old, now.dir, false); err != nil || p.Path != now.dir {
		t.Errorf("with a link behind: %+v %v", p, err)
	}
	now.healthy()
}

// TestTwoProjectsInOnePlace is what an older version could make: doctor says it,
// and one of them can be moved away.
func TestTwoProjectsInOnePlace(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.git("init", "-q")
	b.write("a.txt", "one\n")
	b.mission("work")
	stray := b.beside("stray", "strays")
	g, err := projects.InspectDirectory(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	all, _ := b.local.AllProjects()
	hijacker := all[0]
	if hijacker.Locations.Path == b.dir {
		hijacker = all[1]
	}
	list, _ := b.local.ProjectMissions(hijacker)
	for _, m := range list {
		if err := b.local.MoveMission(context.Background(), moves.MissionMove{Mission: m, Directory: g}, stray.dir, b.dir); err != nil {
			t.Fatal(err)
		}
	}
	_, err = b.local.ChangeLocations(context.Background(), hijacker, func(h *projects.Locations) bool {
		h.CommonDir = ""
		return moves.MoveLocations(h, stray.dir, g)
	})
	if err != nil {
		t.Fatal(err)
	}
	d, err := b.local.Doctor(context.Background(), missions.DoctorRequest{Caller: b.caller()})
	if err != nil || len(d.Problems) == 0 || !strings.Contains(d.Problems[0].Message, "belongs to two projects") {
		t.Errorf("doctor: %+v %v", d.Problems, err)
	}
	_, err = b.moved(b.dir, stray.dir, false)
	b.fails("which of the two", err, missions.KindNotFound)
	if p, err := b.moved(filepath.Base(hijacker.Dir), stray.dir, false); err != nil || p.Path != stray.dir || p.CommonDir != "" {
		t.Errorf("moved back: %+v %v", p, err)
	}
	for _, o := range []*testBench{b, stray} {
		if list, err := o.local.Missions(context.Background(), missions.MissionsRequest{Caller: o.caller()}); err != nil || len(list) != 1 || list[0].Workspace != o.dir {
			t.Errorf("in %s: %+v %v", o.dir, list, err)
		}
	}
	b.healthy()
}

// TestMoveProjectWithForks has the worktrees of forks work after their repository was moved,
// and says what to type where one does not.
func TestMoveProjectWithForks(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.versioned()
	b.mission("work")
	made, err := b.local.Fork(ctx, missions.ForkRequest{Caller: b.caller(), From: "work", Name: "fix"})
	if err != nil {
		t.Fatal(err)
	}
	fork, old := made.Missions[0].Workspace, b.dir
	b.dir += "-moved"
	if err := os.Rename(old, b.dir); err != nil {
		t.Fatal(err)
	}
	if _, err := b.moved(old, b.dir, false); err != nil {
		t.Fatal(err)
	}
	if out := b.git("-C", fork, "status", "--porcelain", "--branch"); out != "## umbra/fix\n" {
		t.Errorf("git status in the fork: %q", out)
	}
	b.healthy()
	b.put(filepath.Join(fork, ".git"), "gitdir: "+old+"/.git/worktrees/fix\n")
	d, err := b.local.Doctor(ctx, missions.DoctorRequest{Caller: b.caller()})
	want := "git -C " + b.dir + "/.git worktree repair " + fork
	if err != nil || len(d.Problems) != 1 || d.Problems[0].Fix != want {
		t.Errorf("doctor: %+v %v", d.Problems, err)
	}
	b.git("-C", b.dir+"/.git", "worktree", "repair", fork)
	if _, err := b.local.Remove(ctx, missions.RemoveRequest{Caller: b.caller(), Missions: []string{"fix"}, Workspace: true}); err != nil {
		t.Errorf("remove the fork: %v", err)
	}
	b.stands(fork, false)
	if left := b.git("branch", "--list", "umbra/*"); left != "" {
		t.Errorf("its branch stays: %q", left)
	}
	b.healthy()
}
