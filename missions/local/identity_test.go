package local

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// changeIdentities changes what the home remembers of where the bench's directories are:
// as if these had another device number, or another time of birth, than they have.
func (b *testBench) changeIdentities(change func(*home.DirectoryIdentity)) {
	b.Helper()
	p := b.project()
	list, problems := b.local.ProjectMissions(p)
	if len(problems) > 0 {
		b.Fatal(problems)
	}
	for _, m := range list {
		change(&m.Binding.Identity)
		if err := b.local.WriteMetaRecord(context.Background(), m, "changed by the test"); err != nil {
			b.Fatal(err)
		}
	}
	_, err := b.local.ChangeLocations(context.Background(), p, func(h *projects.Locations) bool {
		if h.CommonDir != "" {
			change(&h.CommonIdentity)
		}
		for i := range h.Workspaces {
			change(&h.Workspaces[i].Identity)
		}
		return true
	})
	if err != nil {
		b.Fatal(err)
	}
}

func renumbered(d *home.DirectoryIdentity)  { d.Device++ }
func bornEarlier(d *home.DirectoryIdentity) { d.Born-- }

// copied has another directory with the same files take the place of the bench's, as a
// restored backup does.
func (b *testBench) copied() {
	b.Helper()
	for _, args := range [][]string{{"cp", "-a", b.dir, b.dir + ".backup"}, {"mv", b.dir, b.dir + ".gone"}, {"mv", b.dir + ".backup", b.dir}} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			b.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
}

// works shows that the mission of the bench, whatever became of its directory, still works
// there and that nothing is said of it.
func (b *testBench) works(name string) {
	b.Helper()
	s, err := b.local.Status(context.Background(), missions.StatusRequest{Caller: b.caller()})
	if err != nil || s.Project == nil || len(s.Problems) > 0 {
		b.Fatalf("status: %+v %+v %v", s.Project, s.Problems, err)
	}
	b.write("a.txt", "changed since\n")
	b.snapshot("since")
	if got := b.cat(name, "a.txt"); got != "changed since\n" {
		b.Errorf("the newest snapshot has %q", got)
	}
	m, err := b.local.MissionByID(b.only().ID)
	if err != nil || m.IsWorkspaceGone() {
		b.Errorf("its workspace is gone: %v", err)
	}
	b.healthy()
}

// TestSameDirectoryOtherIdentity goes on where the workspace has another identity and is the
// same by what Git and its files say: after a remount, or where a backup was restored.
func TestSameDirectoryOtherIdentity(t *testing.T) {
	t.Parallel()
	for what, become := range map[string]func(*testBench){
		"another device number":     func(b *testBench) { b.changeIdentities(renumbered) },
		"a new time of birth":       func(b *testBench) { b.changeIdentities(bornEarlier) }, // as of a directory that an overlay has copied
		"a copy":                    (*testBench).copied,
		"a copy on another device":  func(b *testBench) { b.copied(); b.changeIdentities(renumbered) },
		"a copy on a reused number": func(b *testBench) { b.copied(); b.changeIdentities(bornEarlier) },
	} {
		for _, kind := range []string{"git", "plain", "a subdirectory", "a git directory elsewhere"} {
			t.Run(what+", "+kind, func(t *testing.T) {
				t.Parallel()
				b := newBench(t)
				switch kind {
				case "a git directory elsewhere":
					b.git("init", "-q", "--separate-git-dir", b.dir+".git")
				case "a subdirectory":
					b.git("init", "-q")
					b.dir = filepath.Join(b.dir, "sub")
				}
				b.write("a.txt", "one\n")
				b.write("b.txt", "two\n")
				if kind == "git" {
					b.versioned()
				}
				ask := missions.NewMissionRequest{Caller: b.caller(), Name: "work", Command: []string{"sh"}, Workspace: b.dir}
				if _, err := b.local.NewMission(t.Context(), ask); err != nil {
					t.Fatal(err)
				}
				become(b)
				b.works("work")
			})
		}
	}
}

// TestRecordOfThenKeepsItsNumber: the number that a workspace's device has now is looked up
// for a mission as it is, not for each record of its history that is read.
func TestRecordOfThenKeepsItsNumber(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.mission("work")
	now := b.stateNow().Binding.Identity
	b.changeIdentities(renumbered)
	m := b.stateNow()
	if m.Binding.Identity != now {
		t.Errorf("the mission is bound to %+v, its workspace is %+v", m.Binding.Identity, now)
	}
	then := &projects.Mission{Project: m.Project, Record: m.Record}
	if err := then.ReadRecord(m.Binding.Machine); err != nil || then.Binding.Identity.Device != now.Device+1 {
		t.Errorf("the record says %+v, %v", then.Binding.Identity, err)
	}
}

// TestNewRepositoryOnReusedInode takes a new repository in the place of another for a new
// one, even where its inode and its files are the same.
func TestNewRepositoryOnReusedInode(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.versioned()
	b.mission("work")
	if err := os.RemoveAll(filepath.Join(b.dir, ".git")); err != nil {
		t.Fatal(err)
	}
	b.write("c.txt", "of the new repository\n")
	b.git("init", "-q")
	b.git("add", ".")
	b.git("commit", "-qm", "another first")
	b.changeIdentities(bornEarlier)
	p := b.project()
	p.Locations.CommonIdentity = home.DirectoryIdentity{}
	g, err := projects.InspectDirectory(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := b.local.FindProject(g); err != nil || found != nil {
		t.Errorf("it belongs to the old project: %+v %v", found, err)
	}
	m := b.mission("fresh")
	if all, _ := b.local.AllProjects(); len(all) != 2 {
		t.Errorf("%d projects", len(all))
	}
	_, err = b.local.Restore(context.Background(), missions.RestoreRequest{Caller: b.caller(), Mission: "work", Moment: "work@start"})
	b.fails("a restore of the old mission", err, missions.KindNotFound)
	if m.Workspace != b.dir || b.read("c.txt") != "of the new repository\n" {
		t.Errorf("the new mission: %+v", m)
	}
}

// TestCheckoutsSideBySide keeps two checkouts of one repository apart.
func TestCheckoutsSideBySide(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.versioned()
	b.mission("work")
	b.copied()
	side := *b
	side.dir = b.dir + ".gone" // the first of the two
	if s, err := side.local.Status(context.Background(), missions.StatusRequest{Caller: side.caller()}); err != nil || s.Project == nil {
		t.Errorf("the directory itself, moved: %+v %v", s.Project, err)
	}
	again := newBench(t)
	again.write("a.txt", "one\n")
	again.versioned()
	again.mission("work")
	if out, err := exec.Command("cp", "-a", again.dir, again.dir+"2").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	other := *again
	other.dir += "2"
	other.mission("other")
	if all, _ := again.local.AllProjects(); len(all) != 2 {
		t.Errorf("%d projects", len(all))
	}
	again.healthy()
}

// TestFollowMovedWorkspace has missions follow a directory that their agent has moved, and
// says where it is to whoever asks before.
func TestFollowMovedWorkspace(t *testing.T) {
	t.Parallel()
	for name, link := range map[string]bool{"moved": false, "with a link behind": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newTalker(newBench(t))
			c.local.Adapters = projects.Agents()
			c.versioned()
			c.write("a.txt", "one\n")
			c.hook("SessionStart", map[string]any{"source": "startup"})
			c.hook("UserPromptSubmit", map[string]any{"prompt": "move it"})
			old := c.dir
			c.dir = old + "-moved"
			if err := os.Rename(old, c.dir); err != nil {
				t.Fatal(err)
			}
			if link {
				if err := os.Symlink(c.dir, old); err != nil {
					t.Fatal(err)
				}
			}
			s, err := c.local.Status(context.Background(), missions.StatusRequest{Caller: c.caller()})
			if err != nil || len(s.Problems) != 1 || s.Problems[0].Fix != "umbra project move "+old+" "+c.dir {
				t.Errorf("status: %+v %v", s.Problems, err)
			}
			_, err = c.local.Log(context.Background(), missions.LogRequest{Caller: c.caller()})
			if e := missions.AsError(err); err == nil || !strings.HasSuffix(e.Hint, " "+c.dir) {
				t.Errorf("log: %v", err)
			}
			c.write("a.txt", "two\n")
			c.hook("Stop", nil)
			c.works(c.only().Name)
			if m := c.only(); m.Workspace != c.dir {
				t.Errorf("its workspace: %s", m.Workspace)
			}
		})
	}
}

// TestMovedForkIsSaid says in a fork's workspace that was moved what has the fork go on there.
func TestMovedForkIsSaid(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.versioned()
	b.mission("work")
	made, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: "work", Name: "fix"})
	if err != nil {
		t.Fatal(err)
	}
	old := made.Missions[0].Workspace
	b.dir += "-fork"
	if err := os.Rename(old, b.dir); err != nil {
		t.Fatal(err)
	}
	s, err := b.local.Status(context.Background(), missions.StatusRequest{Caller: b.caller()})
	if err != nil || len(s.Missions) != 1 || len(s.Problems) != 1 || s.Problems[0].Fix != "umbra project move "+old+" "+b.dir {
		t.Errorf("status: %+v %+v %v", s.Missions, s.Problems, err)
	}
}

// TestMovedToAnotherDisk says in a copy of a directory that is gone where its project is.
func TestMovedToAnotherDisk(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.versioned()
	b.mission("work")
	old := b.dir
	b.copied()
	b.dir = old + "-copy"
	if err := os.Rename(old, b.dir); err != nil {
		t.Fatal(err)
	}
	s, err := b.local.Status(context.Background(), missions.StatusRequest{Caller: b.caller()})
	if err != nil || len(s.Problems) != 1 || !strings.HasPrefix(s.Problems[0].Fix, "umbra project move "+old+" "+b.dir) {
		t.Fatalf("status: %+v %v", s.Problems, err)
	}
	if _, err := b.moved(old, b.dir, false); err != nil {
		t.Fatal(err)
	}
	b.works("work")
}

// TestDirectoryOfAnother: what is where a workspace was is not taken for it, however alike,
// if it belongs to another, was made anew from the same repository, or has no repository
// where the workspace had one.
func TestDirectoryOfAnother(t *testing.T) {
	t.Parallel()
	run := func(b *testBench, args ...string) {
		b.Helper()
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			b.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	for name, replace := range map[string]func(b *testBench){
		"another project, moved there": func(b *testBench) {
			other := *b
			other.dir = b.dir + "2"
			run(b, "cp", "-a", b.dir, other.dir)
			other.mission("other")
			other.write("new.txt", "of the other\n")
			run(b, "mv", b.dir, b.dir+".old")
			run(b, "mv", other.dir, b.dir)
		},
		"no repository": func(b *testBench) {
			b.copied()
			b.write("new.txt", "of the other\n")
			if err := os.RemoveAll(filepath.Join(b.dir, ".git")); err != nil {
				b.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.write("a.txt", "one\n")
			b.versioned()
			m := b.mission("work")
			replace(b)
			_, err := b.local.Restore(context.Background(), missions.RestoreRequest{Caller: b.caller(), Mission: m.ID, Moment: m.Name + "@start", Force: true})
			if err == nil || b.read("new.txt") != "of the other\n" {
				t.Errorf("restored: %v", err)
			}
			if now, err := b.local.MissionByID(m.ID); err != nil || !now.IsWorkspaceGone() {
				t.Errorf("it is bound to that directory: %v", err)
			}
		})
	}
	t.Run("a worktree made anew", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.write("a.txt", "one\n")
		b.versioned()
		tree := *b
		tree.dir = b.dir + "-tree"
		b.git("worktree", "add", "-q", tree.dir)
		m := tree.mission("work")
		b.git("worktree", "remove", "--force", tree.dir)
		b.git("worktree", "add", "-q", "-b", "fresh", tree.dir)
		if _, err := tree.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: tree.caller(), Mission: m.ID}); err == nil {
			t.Error("a snapshot was taken of another worktree")
		}
		s, err := tree.local.Status(t.Context(), missions.StatusRequest{Caller: tree.caller()})
		if err != nil || len(s.Problems) != 1 || !strings.Contains(s.Problems[0].Message, "was moved, replaced") {
			t.Errorf("status says of it %+v, %v", s.Problems, err)
		}
	})
}

// TestRepositoryAroundAnother: a repository that is made around one that has a project is a
// project of its own.
func TestRepositoryAroundAnother(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	inner := *b
	inner.dir = filepath.Join(b.dir, "app")
	inner.write("a.txt", "one\n")
	inner.git("init", "-q")
	inner.git("add", ".")
	inner.git("commit", "-qm", "first")
	inner.mission("inner")
	b.write("b.txt", "two\n")
	b.versioned()
	b.mission("outer")
	if all, _ := b.local.AllProjects(); len(all) != 2 {
		t.Errorf("%d projects", len(all))
	}
}

// TestFollowOfASubdirectory: a workspace below a repository's top that was moved out of it
// takes nothing else along.
func TestFollowOfASubdirectory(t *testing.T) {
	t.Parallel()
	c := newTalker(newBench(t))
	c.local.Adapters = projects.Agents()
	c.versioned()
	top := c.dir
	c.write("app/a.txt", "one\n")
	whole := *c.testBench
	whole.mission("whole")
	c.dir = filepath.Join(top, "app")
	c.mission = ""
	c.hook("SessionStart", map[string]any{"source": "startup"})
	moved := filepath.Join(filepath.Dir(top), "app")
	if err := os.Rename(c.dir, moved); err != nil {
		t.Fatal(err)
	}
	c.dir = moved
	c.hook("Stop", nil)
	p := whole.project()
	if p.Locations.Path != top || p.Locations.CommonDir != filepath.Join(top, ".git") {
		t.Errorf("the project is said to be in %s, %s", p.Locations.Path, p.Locations.CommonDir)
	}
}
