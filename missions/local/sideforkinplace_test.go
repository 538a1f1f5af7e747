package local

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/settings"
)

// enterInPlace has the agent parked for a side fork in its own workspace.
func (k *keptAgent) enterInPlace() missions.Mission {
	k.Helper()
	done := k.keeps()
	r, err := k.local.EnterFork(context.Background(), missions.EnterForkRequest{Caller: k.caller(), Moment: "live", InPlace: true})
	if err != nil || !r.InPlace {
		k.Fatalf("%+v, %v", r, err)
	}
	next := <-done
	if next.Do != missions.DoRelaunch || next.Launch.Mission.ID != r.Fork || next.Launch.Dir != k.dir || !strings.Contains(next.Banner, "side fork "+r.ForkName+" of live, in its workspace") {
		k.Fatalf("after %+v the keeper is told %+v", r, next)
	}
	return k.missionNamed(r.ForkName)
}

// workAside is a turn of a side fork, which changes, makes and removes files.
func (k *keptAgent) workAside(fork missions.Mission) {
	k.Helper()
	aside := *k.talker
	aside.mission, aside.session, aside.transcript = fork.ID, fork.SessionID, fork.SessionPath
	aside.takeTurn("try it", "a.txt", "of the fork\n")
	k.write("new.txt", "of the fork\n")
	aside.takeTurn("go on", "b.txt", "of the fork\n")
}

// files are the files of the workspace.
func (k *keptAgent) files() string {
	k.Helper()
	list, err := os.ReadDir(k.dir)
	if err != nil {
		k.Fatal(err)
	}
	var all []string
	for _, e := range list {
		if !e.IsDir() {
			all = append(all, e.Name()+": "+strings.TrimSpace(k.read(e.Name())))
		}
	}
	return strings.Join(all, ", ")
}

const (
	parentsFiles = "a.txt: two"
	forksFiles   = "a.txt: of the fork, b.txt: of the fork, new.txt: of the fork"
)

// isBack holds a parent and its fork against what they are once the fork was left.
func (k *keptAgent) isBack(fork string) {
	k.Helper()
	m := k.state()
	if m.Lent != nil || k.files() != parentsFiles || m.Stored.Session != k.session {
		k.Errorf("the parent has lent %+v, has %s, and is in %s", m.Lent, k.files(), m.Stored.Session)
	}
	f, err := k.local.MissionByID(fork)
	if err != nil {
		k.Fatal(err)
	}
	if f.IsLodger() || f.Binding.Workspace == k.dir || !f.IsWorkspaceGone() || missions.HasAgent(f.Lifecycle) {
		k.Errorf("the fork is in %s, %+v", f.Binding.Workspace, f.Lifecycle)
	}
	if problem := f.WorkspaceProblem(k.dir); problem != nil {
		k.Errorf("said of the fork: %+v", problem)
	}
}

// TestInPlace enters a side fork in its parent's workspace and leaves it: the parent has its
// files back, by a restore that can be undone, and the fork goes on in a workspace of its own.
func TestInPlace(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	before := k.state().Tip.Tree
	fork := k.enterInPlace()
	if parent := k.missionNamed("live"); parent.SideFork != fork.Name || fork.Workspace != k.dir || fork.SideForkOf != "live" || fork.MadeByUmbra {
		t.Errorf("the parent is %+v, the fork %+v", parent, fork)
	}
	k.workAside(fork)
	done := k.keeps()
	left, err := k.local.LeaveFork(context.Background(), missions.LeaveForkRequest{Caller: k.caller(), Fork: fork.Name})
	if err != nil || left.Resume != "" || !left.InPlace {
		t.Fatalf("left: %+v, %v", left, err)
	}
	if next := <-done; next.Do != missions.DoRelaunch || next.Launch.Mission.ID != k.id || !strings.Contains(next.Banner, "back in live, whose files are put back; "+fork.Name+" is kept") {
		t.Errorf("next: %+v", next)
	}
	k.isBack(fork.ID)
	if m := k.state(); len(m.Notes) > 0 {
		t.Errorf("its agent is told %+v", m.Notes)
	}
	if tip := k.state().Tip; tip.Tree != before {
		t.Errorf("the newest snapshot of the parent has %s, not %s", tip.Tree, before)
	}
	// The snapshot that has the files back says so: a kill after it leaves nothing half done.
	if back := k.state(); back.Tip != nil {
		if stored, err := back.Project.ReadStored(back.Tip.Record); err != nil || stored.Lent != nil {
			t.Errorf("with the snapshot that has its files, the parent has lent %+v, %v", stored.Lent, err)
		}
	}
	undo := missions.UndoRequest{Caller: k.caller(), Mission: "live"}
	if _, err := k.local.Undo(context.Background(), undo); err != nil || k.files() != forksFiles {
		t.Errorf("undone: %v, there is %s", err, k.files())
	}
	if _, err := k.local.Redo(context.Background(), undo); err != nil || k.files() != parentsFiles {
		t.Errorf("redone: %v, there is %s", err, k.files())
	}
	launch, err := k.local.Launch(context.Background(), missions.LaunchRequest{Caller: k.keeper(), Mission: fork.Name, Resume: true})
	if err != nil || launch.Dir == k.dir {
		t.Fatalf("resumed in %s: %v", launch.Dir, err)
	}
	if got, err := os.ReadFile(filepath.Join(launch.Dir, "a.txt")); err != nil || string(got) != "of the fork\n" || k.files() != parentsFiles {
		t.Errorf("the fork has %q, %v, the parent %s", got, err, k.files())
	}
	resumed := launch.Mission
	said, err := os.ReadFile(resumed.SessionPath)
	if err != nil || !strings.Contains(string(said), launch.Dir) || strings.Contains(string(said), `"`+k.dir+`"`) {
		t.Errorf("the fork's conversation in %s is of another place: %v\n%s", resumed.SessionPath, err, said)
	}
	k.healthy()
}

// TestInPlacePromoted: what a side fork did in its parent's workspace stays there when it is
// promoted, and an undo brings back what the parent had.
func TestInPlacePromoted(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	fork := k.enterInPlace()
	k.workAside(fork)
	promote := missions.PromoteRequest{Caller: k.caller(), Fork: fork.Name, Preview: true}
	if p, err := k.local.Promote(context.Background(), promote); err != nil || len(p.Refused) > 0 || p.Done || k.files() != forksFiles {
		t.Errorf("planned: %+v, %v", p, err)
	}
	promote.Preview = false
	done := k.keeps()
	p, err := k.local.Promote(context.Background(), promote)
	if err != nil || !p.Done || p.Snapshot == "" {
		t.Fatalf("promoted: %+v, %v", p, err)
	}
	if next := <-done; next.Do != missions.DoRelaunch || next.Launch.Mission.ID != k.id || !strings.Contains(next.Banner, "back in live, which has what "+fork.Name+" did") {
		t.Errorf("next: %+v", next)
	}
	if m := k.state(); m.Lent != nil || k.files() != forksFiles || m.Stored.Session == k.session {
		t.Errorf("the parent has lent %+v, has %s, and is in %s", m.Lent, k.files(), m.Stored.Session)
	}
	done = k.keeps()
	if _, err := k.local.Undo(context.Background(), missions.UndoRequest{Caller: k.caller(), Mission: "live"}); err != nil {
		t.Error(err)
	}
	<-done
	k.isBack(fork.ID)
	k.healthy()
}

// TestInPlaceEnds: however a side fork in its parent's workspace ends, the parent is launched
// with its own files.
func TestInPlaceEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		leaving bool // the keeper is to end
		keeper  bool // the keeper dies without a word
		promote bool
	}{
		"by itself":           {},
		"with the keeper":     {leaving: true},
		"without the keeper":  {keeper: true},
		"promoted afterwards": {keeper: true, promote: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKeptAgent(t)
			fork := k.enterInPlace()
			k.workAside(fork)
			_ = k.agent.Process.Kill()
			<-k.ended
			if c.keeper {
				k.changeOf(fork.ID, func(m *projects.Mission) { m.Live.Keeper = &deadOwner })
			} else {
				next, err := k.local.Keep(context.Background(), missions.KeepRequest{
					Caller: k.keeper(), Mission: fork.ID, Launch: k.launch.ID, KeeperPID: os.Getpid(), Ended: true, ExitCode: 137, Leaving: c.leaving,
				})
				if err != nil || (next.Do == missions.DoRelaunch) == c.leaving {
					t.Fatalf("next: %+v, %v", next, err)
				}
			}
			if c.promote {
				if p, err := k.local.Promote(context.Background(), missions.PromoteRequest{Caller: k.caller(), Fork: fork.Name}); err != nil || !p.Done || k.files() != forksFiles {
					t.Errorf("promoted: %+v, %v, there is %s", p, err, k.files())
				}
				if _, err := k.local.Undo(context.Background(), missions.UndoRequest{Caller: k.caller(), Mission: "live"}); err != nil {
					t.Error(err)
				}
			} else if c.leaving || c.keeper {
				if problems := k.missionNamed("live").Problems; len(problems) != 1 || !strings.Contains(problems[0], "umbra mission resume live puts the files of live back first") {
					t.Errorf("said: %q", problems)
				}
				d, err := k.local.Doctor(context.Background(), missions.DoctorRequest{Caller: k.caller()})
				lent := func(p missions.Problem) bool {
					return p.Mission == "live" && p.Message == "live is parked, and its workspace has the files of its side fork "+fork.Name &&
						strings.HasSuffix(p.Fix, "umbra mission resume live puts the files of live back first")
				}
				if err != nil || !slices.ContainsFunc(d.Problems, lent) {
					t.Errorf("doctor: %+v, %v", d.Problems, err)
				}
				_, err = k.local.LeaveFork(context.Background(), missions.LeaveForkRequest{Caller: k.caller(), Fork: fork.Name})
				if e := missions.AsError(err); e.Kind != missions.KindBusy || !strings.Contains(e.Hint, "umbra mission resume live") {
					t.Errorf("left: %v", err)
				}
				if _, err := k.local.Launch(context.Background(), missions.LaunchRequest{Caller: k.keeper(), Mission: "live", Resume: true}); err != nil {
					t.Fatal(err)
				}
			}
			k.isBack(fork.ID)
			k.healthy()
		})
	}
}

// TestInPlaceRefused: what would work with the files of a parked mission is refused while its
// workspace has those of a fork, and says what to type.
func TestInPlaceRefused(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	ctx := context.Background()
	for typed, r := range map[string]missions.EnterForkRequest{
		"begins with what is there now": {Moment: "live@1", InPlace: true},
	} {
		r.Caller = k.caller()
		if _, err := k.local.EnterFork(ctx, r); err == nil || !strings.Contains(err.Error(), typed) || !strings.Contains(missions.AsError(err).Hint, "leave out --in-place") {
			t.Errorf("entered %+v: %v", r, err)
		}
	}
	other, err := k.local.Fork(ctx, missions.ForkRequest{Caller: k.caller(), From: "live", Name: "other"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other.Missions[0].Workspace, "other.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	k.testBench.mission("beside")
	fork := k.enterInPlace()
	k.workAside(fork)
	c := k.caller()
	moment := func(n string) string { return "live@" + n }
	refused := map[string]func() error{
		"restore": func() error {
			_, err := k.local.Restore(ctx, missions.RestoreRequest{Caller: c, Moment: moment("1")})
			return err
		},
		"plan": func() error {
			_, err := k.local.Restore(ctx, missions.RestoreRequest{Caller: c, Moment: moment("1"), Preview: true})
			return err
		},
		"undo": func() error {
			_, err := k.local.Undo(ctx, missions.UndoRequest{Caller: c, Mission: "live"})
			return err
		},
		"snapshot": func() error {
			_, err := k.local.Snapshot(ctx, missions.SnapshotRequest{Caller: c, Mission: "live"})
			return err
		},
		"fork": func() error { _, err := k.local.Fork(ctx, missions.ForkRequest{Caller: c, From: "live"}); return err },
		"promote": func() error {
			_, err := k.local.Promote(ctx, missions.PromoteRequest{Caller: c, Fork: "other"})
			return err
		},
		"merge": func() error {
			_, err := k.local.Merge(ctx, missions.MergeRequest{Caller: c, Step: missions.MergeBegin, Forks: []string{"other"}})
			return err
		},
		"remove": func() error {
			_, err := k.local.Remove(ctx, missions.RemoveRequest{Caller: c, Missions: []string{"live"}, Force: true})
			return err
		},
		"drop": func() error {
			_, err := k.local.Remove(ctx, missions.RemoveRequest{Caller: c, Missions: []string{fork.Name}, Force: true})
			return err
		},
		"resume": func() error {
			_, err := k.local.Launch(ctx, missions.LaunchRequest{Caller: k.keeper(), Mission: "live", Resume: true})
			return err
		},
		"another there": func() error {
			_, err := k.local.Launch(ctx, missions.LaunchRequest{Caller: k.keeper(), Mission: "beside", Resume: true})
			return err
		},
	}
	tip := k.state().Tip.ID
	for name, do := range refused {
		err := do()
		if err == nil || missions.AsError(err).Kind != missions.KindBusy || !strings.Contains(missions.AsError(err).Hint, "umbra fork exit "+fork.Name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if k.files() != forksFiles || k.state().Tip.ID != tip {
		t.Errorf("there is %s, the parent's newest snapshot %s was %s", k.files(), k.state().Tip.ID, tip)
	}
	past, err := k.local.Fork(ctx, missions.ForkRequest{Caller: c, From: "live~0", Name: "past"})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(past.Missions[0].Workspace, "a.txt")); err != nil || string(got) != "two\n" {
		t.Errorf("a fork of what the parent had has %q, %v", got, err)
	}
	if _, err := os.Lstat(filepath.Join(past.Missions[0].Workspace, "new.txt")); err == nil {
		t.Error("it has what the side fork has made, too")
	}
	k.healthy()
}

// TestInPlaceCutOff: whoever gives a parked mission its files back may die at any step. The next
// launch of the mission does the rest.
func TestInPlaceCutOff(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	fork := k.enterInPlace()
	k.workAside(fork)
	_ = k.agent.Process.Kill()
	<-k.ended
	k.changeOf(fork.ID, func(m *projects.Mission) { m.Live.Keeper = &deadOwner })
	steps := 0
	k.local.RestoreStep = func(string) error {
		if steps++; steps > 1 {
			return context.Canceled
		}
		return nil
	}
	resume := missions.LaunchRequest{Caller: k.keeper(), Mission: "live", Resume: true}
	if _, err := k.local.Launch(context.Background(), resume); err == nil {
		t.Error("launched without its files")
	}
	if m := k.state(); m.Lent == nil {
		t.Error("the parent counts as one that has its files")
	}
	k.local.RestoreStep = nil
	if _, err := k.local.Launch(context.Background(), resume); err != nil {
		t.Fatal(err)
	}
	k.isBack(fork.ID)
	k.healthy()
}

// TestInPlaceWithoutRoom: where there is no room to keep what a side fork did, its parent is not
// launched among its files.
func TestInPlaceWithoutRoom(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	fork := k.enterInPlace()
	k.workAside(fork)
	k.write("last.txt", "in no snapshot yet\n")
	space := k.local.Space
	k.local.Space = home.NewSpace(k.local.Home, settings.Storage{}, func(string) (uint64, error) { return 0, nil })
	k.mayNotLeave(fork, "live could not get its files back: ", "free some space")
	_ = k.agent.Process.Kill()
	if next := <-k.keeps(); next.Do != missions.DoExit || !strings.Contains(next.Banner, fork.Name+" was left; the agent of live could not be launched here") {
		t.Errorf("next: %+v", next)
	}
	k.local.Space = space
	if k.state().Lent == nil || k.read("last.txt") == "" {
		t.Error("the parent counts as one that has its files")
	}
	k.refusesToTakeAway(fork, "last.txt")
	k.resumesOnceKept(fork)
	k.isBack(fork.ID)
	f, err := k.local.MissionByID(fork.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Project.Store.Lookup(f.Tip.Tree, "last.txt"); err != nil {
		t.Errorf("the fork lacks what it wrote last: %v", err)
	}
	k.healthy()
}

// refusesToTakeAway holds that the parent is not resumed, and why.
func (k *keptAgent) refusesToTakeAway(fork missions.Mission, why string) {
	k.Helper()
	before := k.files()
	resume := missions.LaunchRequest{Caller: k.keeper(), Mission: "live", Resume: true}
	for range 2 { // asking again changes nothing
		_, err := k.local.Launch(context.Background(), resume)
		if err == nil {
			k.Fatalf("resumed; there is %s, was %s", k.files(), before)
		}
		if e := missions.AsError(err); e.Kind != missions.KindConflict || !strings.Contains(e.Message, why) || !strings.Contains(e.Hint, "umbra snapshot "+fork.Name) {
			k.Fatalf("refused: %v, %s", err, e.Hint)
		}
	}
	if k.files() != before || k.state().Lent == nil {
		k.Errorf("there is %s, was %s", k.files(), before)
	}
}

// resumesOnceKept does what the refusal says.
func (k *keptAgent) resumesOnceKept(fork missions.Mission) {
	k.Helper()
	if _, err := k.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: k.caller(), Mission: fork.Name}); err != nil {
		k.Fatal(err)
	}
	if _, err := k.local.Launch(context.Background(), missions.LaunchRequest{Caller: k.keeper(), Mission: "live", Resume: true}); err != nil {
		k.Fatal(err)
	}
}

// TestInPlaceOthersWork: what somebody has done in a lent workspace since the fork's terminal
// died is not taken off the disk before they were told, whenever it is found that it died.
func TestInPlaceOthersWork(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		work  func(k *keptAgent)
		found bool // that it died was found before
		why   string
	}{
		"files":            {work: func(k *keptAgent) { k.write("mine.txt", "the user's\n") }, why: "mine.txt"},
		"files afterwards": {work: func(k *keptAgent) { k.write("mine.txt", "the user's\n") }, found: true, why: "mine.txt"},
		"a commit": {work: func(k *keptAgent) {
			k.git("add", "-A")
			k.git("commit", "-qm", "all of it")
		}, why: "HEAD was moved"},
		"committed files": {work: func(k *keptAgent) {
			k.write("mine.txt", "the user's\n")
			k.git("add", "-A")
			k.git("commit", "-qm", "all of it")
		}, found: true, why: "mine.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKeptAgent(t)
			k.git("init", "-q", "-b", "main")
			k.git("commit", "-q", "--allow-empty", "-m", "first")
			fork := k.enterInPlace()
			k.workAside(fork)
			_ = k.agent.Process.Kill()
			<-k.ended
			k.changeOf(fork.ID, func(m *projects.Mission) { m.Live.Keeper = &deadOwner })
			if c.found {
				f, err := k.local.MissionByID(fork.ID)
				if err == nil {
					f, err = k.local.ReloadMission(context.Background(), f)
				}
				if err != nil || missions.HasAgent(f.Lifecycle) {
					t.Fatalf("the fork is %+v, %v", f.Lifecycle, err)
				}
			}
			c.work(k)
			k.refusesToTakeAway(fork, c.why)
			_, err := k.local.Promote(context.Background(), missions.PromoteRequest{Caller: k.caller(), Fork: fork.Name})
			if err == nil || missions.AsError(err).Kind != missions.KindConflict {
				t.Errorf("promoted as the fork's: %v", err)
			}
			k.resumesOnceKept(fork)
			k.isBack(fork.ID)
			k.healthy()
		})
	}
}

// TestInPlaceGitStays: commits that a side fork makes in its parent's workspace stay there, as
// what it has staged does, and the user is told.
func TestInPlaceGitStays(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	k.git("init", "-q", "-b", "main")
	k.git("add", "-A")
	k.git("commit", "-qm", "first")
	fork := k.enterInPlace()
	k.workAside(fork)
	k.git("commit", "-qam", "of the fork")
	k.git("commit", "-q", "--allow-empty", "-m", "another")
	k.git("add", "new.txt")
	done := k.keeps()
	left, err := k.local.LeaveFork(context.Background(), missions.LeaveForkRequest{Caller: k.caller(), Fork: fork.Name})
	if err != nil || len(left.Notes) != 2 || !strings.Contains(left.Notes[0], "stay on main: git log ") {
		t.Errorf("left: %+v, %v", left, err)
	}
	next := <-done
	for _, said := range []string{"2 commits that were made meanwhile stay on main: git log ", "what is staged is not as it was: git status", fork.Name + " is kept"} {
		if !strings.Contains(next.Banner, said) {
			t.Errorf("%q lacks %q", next.Banner, said)
		}
	}
	k.isBack(fork.ID)
	k.healthy()
}
