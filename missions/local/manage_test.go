package local

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// TestRename moves the name and nothing else.
func TestRename(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	m := b.mission("work")
	b.mission("other")
	if _, err := b.local.Pin(context.Background(), missions.PinRequest{Caller: b.caller(), Moment: "work", Name: "keep"}); err != nil {
		t.Fatal(err)
	}
	rename := func(from, to string) (missions.Mission, error) {
		return b.local.Rename(context.Background(), missions.RenameRequest{Caller: b.caller(), Mission: from, Name: to})
	}
	for name, kind := range map[string]missions.Kind{"other": missions.KindConflict, "keep": missions.KindConflict, "Bad": missions.KindUsage, "fork": missions.KindUsage, "deadbeef": missions.KindUsage} {
		_, err := rename("work", name)
		b.fails("to "+name, err, kind)
	}
	_, err := rename("nobody", "fine")
	b.fails("of nobody", err, missions.KindNotFound)
	for _, name := range []string{"better", "better", "work"} {
		got, err := rename(m.ID, name)
		if err != nil || got.Name != name || got.ID != m.ID || got.Head != m.Head || got.Ref != m.Ref {
			t.Errorf("to %s: %+v %v", name, got, err)
		}
	}
	if got := b.resolves(b.caller(), "better"); got != string(missions.KindNotFound) {
		t.Errorf("the former name leads to %s", got)
	}
	if got := b.resolves(b.caller(), "work@start"); got != m.Head {
		t.Errorf("the name leads to %s", got)
	}
	b.healthy()
}

// TestRenameCutOff: what a renaming has left that was killed is no hindrance to
// the same one.
func TestRenameCutOff(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	m := b.mission("work")
	at, err := b.local.FindMission(context.Background(), b.caller(), "work", addresses.InProject)
	if err != nil {
		t.Fatal(err)
	}
	if err := at.Project.Store.SetSymbolic(context.Background(), gitstore.HeadRef("better"), "", gitstore.AgentRef(m.ID), gitstore.Durable); err != nil {
		t.Fatal(err)
	}
	got, err := b.local.Rename(context.Background(), missions.RenameRequest{Caller: b.caller(), Mission: m.ID, Name: "better"})
	if err != nil || got.Name != "better" {
		t.Errorf("renamed: %+v %v", got, err)
	}
	b.healthy()
}

// TestNameOfNameless: a mission whose process died before a name led to it keeps its name
// from others, and a fork's name leads to it when the next fork is made.
func TestNameOfNameless(t *testing.T) {
	t.Parallel()
	b, ctx := newBench(t), context.Background()
	b.write("a.txt", "one\n")
	b.mission("work")
	made, err := b.local.Fork(ctx, missions.ForkRequest{Caller: b.caller(), From: "work"})
	if err != nil {
		t.Fatal(err)
	}
	fork, err := b.local.MissionByID(made.Missions[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	name, agent, store := gitstore.HeadRef(fork.Name), gitstore.AgentRef(fork.ID), fork.Project.Store
	if err := store.DeleteSymbolic(ctx, name, agent); err != nil {
		t.Fatal(err)
	}
	if second, err := b.local.Fork(ctx, missions.ForkRequest{Caller: b.caller(), From: "work"}); err != nil || second.Missions[0].Name == fork.Name {
		t.Errorf("the second fork: %+v %v", second, err)
	}
	if _, err := b.local.Rename(ctx, missions.RenameRequest{Caller: b.caller(), Mission: "work", Name: fork.Name}); missions.AsError(err).Kind != missions.KindConflict {
		t.Errorf("a mission renamed so: %v", err)
	}
	if _, err := b.local.Pin(ctx, missions.PinRequest{Caller: b.caller(), Moment: "work", Name: fork.Name}); missions.AsError(err).Kind != missions.KindConflict {
		t.Errorf("a pin named so: %v", err)
	}
	gone := b.local.Self
	gone.Start++
	doc := projects.ForkDoc{Project: fork.Project.Dir, Mission: fork.ID, Name: fork.Name, Owner: gone}
	if _, err := b.local.Journal.Begin(b.local.NewID(), projects.ForkKind, doc); err != nil {
		t.Fatal(err)
	}
	next, err := b.local.Fork(ctx, missions.ForkRequest{Caller: b.caller(), From: "work"})
	if err != nil || next.Missions[0].Name == fork.Name {
		t.Errorf("the next fork: %+v %v", next, err)
	}
	if to, err := store.Symbolic(name); err != nil || to != agent {
		t.Errorf("the name leads to %q, %v", to, err)
	}
	b.healthy()
}

// TestNamedTwice: of two missions with one name, which an earlier Umbra could make, one keeps it,
// and the other is renamed as doctor says. So is one to which no name leads.
func TestNamedTwice(t *testing.T) {
	t.Parallel()
	b, ctx := newBench(t), context.Background()
	b.write("a.txt", "one\n")
	b.mission("work")
	m, err := b.local.MissionByID(b.mission("other").ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Project.Store.DeleteSymbolic(ctx, gitstore.HeadRef("other"), gitstore.AgentRef(m.ID)); err != nil {
		t.Fatal(err)
	}
	m.Name = "work"
	if err := b.local.WriteMetaRecord(ctx, m, "renamed"); err != nil {
		t.Fatal(err)
	}
	d, err := b.local.Doctor(ctx, missions.DoctorRequest{Caller: b.caller(), Fix: true})
	if err != nil || len(d.Fixed) > 0 || len(d.Problems) != 1 || d.Problems[0].Fix != "umbra mission rename "+m.ID+" ANOTHER" {
		t.Errorf("doctor: %+v %v", d, err)
	}
	if _, err := b.local.Rename(ctx, missions.RenameRequest{Caller: b.caller(), Mission: m.ID, Name: "another"}); err != nil {
		t.Errorf("renamed: %v", err)
	}
	b.healthy()
}

// TestRemoveCutOff: what a removal has left that was killed is no hindrance to the same one.
func TestRemoveCutOff(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	m := b.mission("work")
	at, err := b.local.FindMission(context.Background(), b.caller(), "work", addresses.InProject)
	if err != nil {
		t.Fatal(err)
	}
	if err := at.Project.Store.DeleteSymbolic(context.Background(), gitstore.HeadRef("work"), gitstore.AgentRef(m.ID)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.local.Remove(context.Background(), missions.RemoveRequest{Caller: b.caller(), Missions: []string{m.ID}}); err != nil {
		t.Fatal(err)
	}
	if list, err := b.local.Missions(context.Background(), missions.MissionsRequest{Caller: b.caller()}); err != nil || len(list) != 0 {
		t.Errorf("there are %+v %v", list, err)
	}
	b.healthy()
}

// TestRemoveGoesOn: a removal whose process died after it had moved the workspace
// away takes its branch and its worktree's entry out of the user's repository too.
func TestRemoveGoesOn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.git("init", "-q")
	b.write("a.txt", "one\n")
	b.git("add", ".")
	b.git("commit", "-qm", "one")
	b.mission("work")
	result, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: "work", Name: "forked"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(result.Missions[0].Workspace, filepath.Join(b.home, "trash", "aside")); err != nil {
		t.Fatal(err)
	}
	if _, err := b.local.Remove(context.Background(), missions.RemoveRequest{Caller: b.caller(), Missions: []string{"forked"}, Workspace: true}); err != nil {
		t.Fatal(err)
	}
	if left := b.git("for-each-ref", "refs/heads/umbra"); left != "" {
		t.Errorf("left %s", left)
	}
	if _, err := os.Lstat(filepath.Join(b.dir, ".git", "worktrees")); !os.IsNotExist(err) {
		t.Errorf("left worktrees: %v", err)
	}
	b.healthy()
}

// TestRemovedParent removes missions: pins and forks go on working (H29).
func TestRemovedParent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.mission("work")
	b.write("a.txt", "two\n")
	pinned, err := b.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: b.caller(), Pin: "good"})
	if err != nil {
		t.Fatal(err)
	}
	fork := func(from, name string) missions.Mission {
		r, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: from, Name: name})
		if err != nil {
			t.Fatal(err)
		}
		return r.Missions[0]
	}
	parent, thin := t.TempDir(), t.TempDir()
	for _, args := range [][]string{{"init", "-q", parent}, {"-C", parent, "-c", "user.name=T", "-c", "user.email=t@t", "commit", "-q", "--allow-empty", "-m", "x"}, {"clone", "-q", "--shared", parent, thin}} {
		if out, err := hazards.Git(b.dir, args...); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	err = os.RemoveAll(parent)
	_, broken := hazards.Git(thin, "log")
	hazards.Shown(t, hazards.H29, err == nil && broken != nil, "a fork that refers to its parent's objects is broken when the parent is removed")
	hazards.Held(t, hazards.H29, "a fork's history is its own: with parent and grandparent removed, each of its moments is there, inherited ones too")
	child := fork("work@start", "child")
	grandchild := fork("child", "grandchild")
	remove := func(name string) missions.RemoveResult {
		r, err := b.local.Remove(context.Background(), missions.RemoveRequest{Caller: b.caller(), Missions: []string{name}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	preview, err := b.local.Remove(context.Background(), missions.RemoveRequest{Caller: b.caller(), Missions: []string{"work"}, Preview: true})
	if err != nil || len(preview.Trash) != 0 || b.resolves(b.caller(), "work") != pinned.ID {
		t.Errorf("a preview: %+v %v", preview, err)
	}
	_, err = b.local.Remove(context.Background(), missions.RemoveRequest{Caller: b.caller(), Missions: []string{"work"}, Workspace: true})
	b.fails("a workspace of the user's", err, missions.KindConflict)
	if r := remove("work"); len(r.Trash) == 0 {
		t.Errorf("removed: %+v", r)
	}
	if r := remove("child"); len(r.Kept) == 0 {
		t.Errorf("removed: %+v", r)
	}
	for _, name := range []string{"work", "child"} {
		if got := b.resolves(b.caller(), name); got != string(missions.KindNotFound) {
			t.Errorf("%s leads to %s", name, got)
		}
	}
	there := b.caller()
	there.Cwd = grandchild.Workspace
	for moment, want := range map[string]string{"grandchild@start": "one\n", "grandchild": "one\n"} {
		p, err := b.local.Cat(context.Background(), missions.CatRequest{Caller: there, Moment: moment, Path: "a.txt"})
		if err != nil || string(p) != want {
			t.Errorf("%s: %q %v", moment, p, err)
		}
	}
	if err := os.WriteFile(filepath.Join(grandchild.Workspace, "a.txt"), []byte("three\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := b.local.Restore(context.Background(), missions.RestoreRequest{Caller: there, Moment: "grandchild@start"}); err != nil {
		t.Errorf("the fork of a removed fork: %v", err)
	}
	if p, err := os.ReadFile(filepath.Join(grandchild.Workspace, "a.txt")); err != nil || string(p) != "one\n" {
		t.Errorf("restored: %q %v", p, err)
	}
	pins, err := b.local.Pins(context.Background(), missions.PinsRequest{Caller: b.caller()})
	if err != nil || len(pins) != 1 || pins[0].Snapshot != pinned.ID {
		t.Errorf("pins: %+v %v", pins, err)
	}
	if p, err := b.local.Cat(context.Background(), missions.CatRequest{Caller: b.caller(), Moment: "good", Path: "a.txt"}); err != nil || string(p) != "two\n" {
		t.Errorf("the pin of a removed mission: %q %v", p, err)
	}
	if _, err := os.Stat(child.Workspace); err != nil {
		t.Errorf("a workspace went with its mission: %v", err)
	}
	if _, err := b.local.Unpin(context.Background(), missions.PinRequest{Caller: b.caller(), Name: "good"}); err != nil {
		t.Error(err)
	}
	b.healthy()
}

// TestMoveProject goes on where the user has moved a project to.
func TestMoveProject(t *testing.T) {
	t.Parallel()
	for name, init := range map[string]bool{"git": true, "plain": false} {
		t.Run(name, func(t *testing.T) {
			c := startTalker(t)
			if init {
				c.git("init", "-q")
			}
			c.hook("SessionStart", map[string]any{"source": "startup"})
			c.takeTurn("first", "a.txt", "one\n")
			m := c.only()
			old := c.dir
			c.dir = old + "-moved"
			if err := os.Rename(old, c.dir); err != nil {
				t.Fatal(err)
			}
			_, err := c.local.MoveProject(context.Background(), missions.MoveProjectRequest{Caller: c.caller(), Old: old, New: old + "-nowhere"})
			c.fails("to nowhere", err, missions.KindNotFound)
			_, err = c.local.MoveProject(context.Background(), missions.MoveProjectRequest{Caller: c.caller(), Old: old + "-never", New: c.dir})
			c.fails("of no project", err, missions.KindNotFound)
			p, err := c.local.MoveProject(context.Background(), missions.MoveProjectRequest{Caller: c.caller(), Old: old, New: c.dir})
			if err != nil || p.Path != c.dir || len(p.Problems) != 0 {
				t.Fatalf("moved: %+v %v", p, err)
			}
			c.takeTurn("second", "a.txt", "two\n")
			if now := c.only(); now.ID != m.ID || now.Turn != 2 || now.Workspace != c.dir {
				t.Errorf("after the move: %+v", now)
			}
			c.restore("@1")
			if got := c.read("a.txt"); got != "one\n" {
				t.Errorf("restored: %q", got)
			}
			c.healthy()
		})
	}
}

// TestStopAndWait ends an agent, and returns when missions are in a state.
func TestStopAndWait(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	m := b.mission("work")
	agent := exec.Command("sleep", "6000")
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- agent.Wait() }()
	t.Cleanup(func() { agent.Process.Kill() })
	if _, err := b.local.Keep(context.Background(), missions.KeepRequest{Mission: m.ID, KeeperPID: 4194304, AgentPID: agent.Process.Pid}); err != nil {
		t.Fatal(err)
	}
	_, err := b.local.Launch(context.Background(), missions.LaunchRequest{Caller: b.caller(), Mission: "work", Resume: true})
	b.fails("a live mission", err, missions.KindBusy)
	_, err = b.local.Remove(context.Background(), missions.RemoveRequest{Caller: b.caller(), Missions: []string{"work"}})
	b.fails("removing a live mission", err, missions.KindBusy)
	_, err = b.local.Wait(context.Background(), missions.WaitRequest{Caller: b.caller(), States: []missions.StateName{missions.StateClosed}, Timeout: 10 * time.Millisecond})
	b.fails("waiting", err, missions.KindTimeout)
	_, err = b.local.Wait(context.Background(), missions.WaitRequest{Caller: b.caller(), States: []missions.StateName{"asleep"}})
	b.fails("an unknown state", err, missions.KindUsage)
	stopped, err := b.local.Stop(context.Background(), missions.StopRequest{Caller: b.caller(), Missions: []string{"work"}})
	if err != nil || len(stopped) != 1 || stopped[0].State != missions.StateClosed || stopped[0].CloseReason != missions.CloseReasonExit {
		t.Fatalf("stopped: %+v %v", stopped, err)
	}
	<-ended
	there, err := b.local.Wait(context.Background(), missions.WaitRequest{Caller: b.caller(), Missions: []string{"work", m.ID}, States: []missions.StateName{missions.StateClosed}})
	if err != nil || len(there) != 1 {
		t.Errorf("waited: %+v %v", there, err)
	}
	if again, err := b.local.Stop(context.Background(), missions.StopRequest{Caller: b.caller()}); err != nil || len(again) != 1 {
		t.Errorf("stopped twice: %+v %v", again, err)
	}
	b.healthy()
}

// TestJournalDamage loses what a process knew, never a snapshot.
func TestJournalDamage(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"empty": "", "garbage": "\x00\xff{]", "an array": "[1,2]\n"} {
		t.Run(name, func(t *testing.T) {
			c := startTalker(t)
			c.hook("SessionStart", map[string]any{"source": "startup"})
			c.takeTurn("first", "a.txt", "one\n")
			m := c.only()
			n := 0
			err := filepath.WalkDir(filepath.Join(c.home, "journal"), func(path string, e os.DirEntry, err error) error {
				if err == nil && e.Type().IsRegular() && strings.Contains(path, m.ID) {
					n++
					err = os.WriteFile(path, []byte(text), 0o600)
				}
				return err
			})
			if err != nil || n == 0 {
				t.Fatalf("%d entries, %v", n, err)
			}
			c.put(filepath.Join(c.home, "statcache", "12-34"), text)
			c.testBench = c.again()
			if err := c.local.Recover(context.Background()); err != nil {
				t.Error(err)
			}
			c.takeTurn("second", "a.txt", "two\n")
			if now := c.only(); now.ID != m.ID || now.Turn != 2 || now.State != missions.StateIdle {
				t.Errorf("after damage: %+v", now)
			}
			if _, err := c.local.Doctor(context.Background(), missions.DoctorRequest{Caller: c.caller(), Fix: true}); err != nil {
				t.Error(err)
			}
			c.healthy()
		})
	}
}

// TestLostObjects brings back what is on disk still, and tells what is not.
func TestLostObjects(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.write("dir/b.txt", "two\n")
	m := b.mission("work")
	b.snapshot("second")
	out, err := exec.Command("git", "-C", m.ShadowRepo, "rev-parse", "work:a.txt").Output()
	if err != nil {
		t.Fatal(err)
	}
	id := strings.TrimSpace(string(out))
	loose := filepath.Join(m.ShadowRepo, "objects", id[:2], id[2:])
	if err := os.Remove(loose); err != nil {
		t.Fatal(err)
	}
	b = b.again()
	_, err = b.local.Cat(context.Background(), missions.CatRequest{Caller: b.caller(), Moment: "work", Path: "a.txt"})
	b.fails("a lost file", err, missions.KindDamaged)
	_, err = b.local.Restore(context.Background(), missions.RestoreRequest{Caller: b.caller(), Moment: "work@start"})
	if err != nil && b.read("a.txt") != "one\n" {
		t.Errorf("a restore of what is lost has changed files: %v", err)
	}
	d, err := b.local.Doctor(context.Background(), missions.DoctorRequest{Caller: b.caller()})
	if err != nil || !slices.ContainsFunc(d.Problems, func(p missions.Problem) bool {
		return strings.HasPrefix(p.Message, "can't be read in 2 snapshots, ") && strings.HasSuffix(p.Message, ": a.txt")
	}) {
		t.Errorf("doctor: %+v %v", d.Problems, err)
	}
	b.write("dir/b.txt", "three\n")
	if err := os.Chtimes(filepath.Join(b.dir, "a.txt"), time.Now(), time.Now()); err != nil {
		t.Fatal(err)
	}
	b.snapshot("reads it again")
	b.healthy()
}
