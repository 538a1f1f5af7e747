package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/restores"
	"github.com/umbra-vcs/umbra/missions/trash"
)

// trashed forks a mission with a file in no snapshot and removes the fork with its
// workspace. kept is that file in the trash.
func (b *testBench) trashed(source, name string) (fork missions.Mission, kept string) {
	b.Helper()
	made, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: source, Name: name})
	if err != nil {
		b.Fatal(err)
	}
	fork = made.Missions[0]
	b.put(filepath.Join(fork.Workspace, "notes.log"), "only here\n")
	if _, err := b.local.Remove(context.Background(), missions.RemoveRequest{Caller: b.caller(), Missions: []string{name}, Workspace: true, Force: true}); err != nil {
		b.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(b.home, "trash", fork.ID, "*", "notes.log"))
	if err != nil || len(found) != 1 {
		b.Fatalf("in the trash: %q %v", found, err)
	}
	return fork, found[0]
}

func (b *testBench) versioned() {
	b.Helper()
	b.git("init", "-q")
	b.write(".gitignore", "*.log\n")
	b.git("add", ".")
	b.git("commit", "-qm", "one")
}

func (b *testBench) trash(empty bool, names ...string) (missions.TrashResult, error) {
	return b.local.Trash(context.Background(), missions.TrashRequest{Caller: b.caller(), Missions: names, Empty: empty})
}

// stands checks whether a file does.
func (b *testBench) stands(path string, want bool) {
	b.Helper()
	if _, err := os.Lstat(path); (err == nil) != want {
		b.Errorf("%s: %v", path, err)
	}
}

// TestTrashOfTheReturned: what stayed in the trash of a mission that is back is
// called its own, and is removed where it is named.
func TestTrashOfTheReturned(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.versioned()
	b.mission("work")
	fork, _ := b.trashed("work", "fix")
	kept := filepath.Join(b.home, "trash", fork.ID, "conversation", "notes.log")
	b.put(kept, "only here\n")
	b.unremove("fix")
	in, err := b.trash(false)
	if err != nil || len(in.Removed) != 1 || !in.Removed[0].Back || in.Removed[0].Unknown || in.Removed[0].Name != "fix" || in.Removed[0].ID != fork.ID {
		t.Fatalf("in the trash: %+v %v", in, err)
	}
	if done, err := b.trash(true); err != nil || done.HasItems() {
		t.Errorf("emptied unnamed: %+v %v", done, err)
	}
	b.stands(kept, true)
	if done, err := b.trash(true, "fix"); err != nil || !done.HasItems() {
		t.Errorf("emptied: %+v %v", done, err)
	}
	b.stands(kept, false)
}

// TestTrashUnread: where a removed mission can't be read, its files are nobody's
// leftovers, and it is not said to be missing.
func TestTrashUnread(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.versioned()
	work := b.mission("work")
	fork, kept := b.trashed("work", "fix")
	b.put(filepath.Join(work.ShadowRepo, "refs", "trash", "agents", fork.ID), "junk\n")
	b = b.again()
	in, err := b.trash(false)
	if err != nil || len(in.Removed) != 1 || !in.Removed[0].Unknown || len(in.Removed[0].Items) == 0 {
		t.Fatalf("in the trash: %+v %v", in, err)
	}
	if done, err := b.trash(true); err != nil || done.HasItems() {
		t.Errorf("emptied: %+v %v", done, err)
	}
	_, err = b.trash(true, "fix")
	b.fails("emptying by a name that can't be read", err, missions.KindDamaged)
	_, err = b.local.Unremove(context.Background(), missions.UnremoveRequest{Caller: b.caller(), Mission: "fix"})
	b.fails("taking back what can't be read", err, missions.KindDamaged)
	if u, err := b.local.Usage(context.Background(), missions.UsageRequest{Caller: b.caller()}); err != nil || len(u.Problems) == 0 {
		t.Errorf("usage: %+v %v", u.Problems, err)
	}
	b.stands(kept, true)
	if done, err := b.trash(true, fork.ID); err != nil || !done.HasItems() {
		t.Errorf("emptied by its id: %+v %v", done, err)
	}
	b.stands(kept, false)
}

// TestTrashByName: a name means the mission of the caller's project, and nothing
// where it means several.
func TestTrashByName(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.versioned()
	b.mission("work")
	other := b.beside("other", "")
	other.versioned()
	other.mission("work")
	_, kept := b.trashed("work", "fix")
	_, others := other.trashed("work", "fix")
	if done, err := b.trash(true, "fix"); err != nil || len(done.Removed) != 1 {
		t.Errorf("emptied: %+v %v", done, err)
	}
	b.stands(kept, false)
	b.stands(others, true)
	again, second := other.trashed("work", "fix")
	_, err := other.trash(true, "fix")
	b.fails("a name of two", err, missions.KindAmbiguous)
	_, err = other.local.Unremove(context.Background(), missions.UnremoveRequest{Caller: other.caller(), Mission: "fix"})
	b.fails("taking back one of two", err, missions.KindAmbiguous)
	b.stands(others, true)
	if _, err := other.trash(true, again.ID[:13]); err != nil {
		t.Error(err)
	}
	b.stands(second, false)
	b.stands(others, true)
	b.healthy()
}

// TestTrashLeft: what can't be removed now keeps nothing else, and is named.
func TestTrashLeft(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.versioned()
	b.mission("work")
	held, kept := b.trashed("work", "held")
	_, others := b.trashed("work", "free")
	doc := struct {
		Mission string `json:"mission"`
	}{held.ID}
	op, err := b.local.Journal.Begin(b.local.NewID(), restores.JournalKind, doc)
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(context.Background())
	end()
	done, err := b.local.Trash(ended, missions.TrashRequest{Caller: b.caller(), Empty: true})
	if !errors.Is(err, context.Canceled) || done.HasItems() || len(done.Left) == 0 {
		t.Errorf("after it was interrupted: %+v %v", done, err)
	}
	b.stands(others, true)
	done, err = b.trash(true)
	if err != nil || len(done.Left) == 0 || done.Left[0].Fix != "umbra status" || !done.HasItems() {
		t.Errorf("emptied: %+v %v", done, err)
	}
	for _, left := range done.Left {
		if filepath.Dir(left.Path) != filepath.Join(b.home, "trash", held.ID) {
			t.Errorf("left %+v", left)
		}
	}
	b.stands(kept, true)
	b.stands(others, false)

	_, unsure := b.trashed("work", "other")
	entry := filepath.Join(b.home, "journal", op.ID())
	if err := errors.Join(os.RemoveAll(entry), os.Mkdir(entry, 0o700)); err != nil {
		t.Fatal(err)
	}
	b.put(filepath.Join(entry, "op.json"), "junk")
	if done, err = b.trash(true); err != nil || done.HasItems() || len(done.Left) == 0 {
		t.Errorf("emptied beside an operation that can't be read: %+v %v", done, err)
	}
	b.stands(unsure, true)
}

// TestMeasureRefused: what may not be read is counted as that, and ends no walk.
func TestMeasureRefused(t *testing.T) {
	t.Parallel()
	var m home.DiskMeter
	if err := m.AddEntry("closed", nil, &fs.PathError{Op: "open", Path: "closed", Err: syscall.EACCES}); err != nil || m.Unreadable != 1 {
		t.Errorf("refused: %+v %v", m, err)
	}
	if err := m.AddEntry("bad", nil, &fs.PathError{Op: "open", Path: "bad", Err: syscall.EIO}); !errors.Is(err, syscall.EIO) || m.Unreadable != 1 {
		t.Errorf("an error of the disk: %+v %v", m, err)
	}
}

// newRemoved is a talker whose mission was removed.
func newRemoved(t *testing.T) (*talker, missions.Mission) {
	t.Helper()
	c := newTalker(newBench(t))
	c.local.Adapters = projects.Agents()
	c.write("a.txt", "zero\n")
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("one", "a.txt", "one\n")
	first := c.only()
	if _, err := c.local.Remove(context.Background(), missions.RemoveRequest{Caller: c.caller(), Missions: []string{first.ID}, Force: true}); err != nil {
		t.Fatal(err)
	}
	return c, first
}

// TestUnremoveAdoptedAgain: a removed mission does not take the session back that
// has become another mission's; as a fork it can be had all the same.
func TestUnremoveAdoptedAgain(t *testing.T) {
	t.Parallel()
	c, first := newRemoved(t)
	next := &talker{testBench: c.again(), session: c.session, transcript: c.transcript}
	next.takeTurn("two", "a.txt", "two\n")
	second := next.only()
	if second.ID == first.ID {
		t.Fatal("its id was used again")
	}
	_, err := next.local.Unremove(context.Background(), missions.UnremoveRequest{Caller: next.caller(), Mission: first.ID})
	next.fails("taking it back", err, missions.KindConflict)
	next.hook("SessionStart", map[string]any{"source": "resume"})
	next.takeTurn("three", "a.txt", "three\n")
	if m := next.only(); m.ID != second.ID || m.LastPrompt == nil || m.LastPrompt.Text != "three" {
		t.Errorf("the session went on in %+v", m)
	}
	forked, err := next.local.Fork(context.Background(), missions.ForkRequest{Caller: next.caller(), From: first.Head[:10], Name: "aside"})
	if err != nil || len(forked.Missions) != 1 {
		t.Errorf("forked: %+v %v", forked, err)
	}
	next.healthy()
}

// TestUnremoveAdopted: nothing keeps one back whose session went on nowhere else.
func TestUnremoveAdopted(t *testing.T) {
	t.Parallel()
	c, first := newRemoved(t)
	c.testBench.mission("another")
	if back, err := c.local.Unremove(context.Background(), missions.UnremoveRequest{Caller: c.caller(), Mission: first.ID}); err != nil || back.ID != first.ID {
		t.Errorf("back: %+v %v", back, err)
	}
	c.healthy()
}

// TestUnremovePutsTheWorkspaceBack: what a removal took away is in its place again,
// with what no snapshot has, and git works in it as it did.
func TestUnremovePutsTheWorkspaceBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.versioned()
	b.mission("work")
	fork, kept := b.trashed("work", "fix")
	b.unremove("fix")
	b.stands(kept, false)
	b.stands(filepath.Join(fork.Workspace, "notes.log"), true)
	if out := b.git("-C", fork.Workspace, "status", "--porcelain", "--branch"); out != "## umbra/fix\n" {
		t.Errorf("git status: %q", out)
	}
	if in, err := b.trash(false); err != nil || in.HasItems() {
		t.Errorf("in the trash: %+v %v", in, err)
	}
	if m, err := b.local.Mission(context.Background(), missions.MissionRequest{Caller: b.caller(), Name: "fix"}); err != nil || len(m.Problems) > 0 {
		t.Errorf("the mission: %+v %v", m.Problems, err)
	}
	b.healthy()
	if _, err := b.local.Remove(context.Background(), missions.RemoveRequest{Caller: b.caller(), Missions: []string{"fix"}, Workspace: true}); err != nil {
		t.Errorf("removed again: %v", err)
	}
	b.unremove("fix")
	b.stands(filepath.Join(fork.Workspace, "notes.log"), true)
}

// TestUnremoveWhereSomethingElseIs: nothing is replaced, and nothing half done.
func TestUnremoveWhereSomethingElseIs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.versioned()
	b.mission("work")
	fork, kept := b.trashed("work", "fix")
	mine := filepath.Join(fork.Workspace, "mine.txt")
	b.put(mine, "mine\n")
	_, err := b.local.Unremove(context.Background(), missions.UnremoveRequest{Caller: b.caller(), Mission: "fix"})
	b.fails("in the place of another directory", err, missions.KindConflict)
	if hint := missions.AsError(err).Hint; !strings.Contains(hint, fork.Workspace) {
		t.Errorf("hint: %s", hint)
	}
	b.stands(mine, true)
	b.stands(kept, true)
	if err := os.RemoveAll(fork.Workspace); err != nil {
		t.Fatal(err)
	}
	b.unremove("fix")
	b.stands(filepath.Join(fork.Workspace, "notes.log"), true)
}

// TestWorkspaceLeftInTheTrash: the workspace of a mission that is there, such as one
// whose removal was cut off, is never emptied unnamed, and comes back.
func TestWorkspaceLeftInTheTrash(t *testing.T) {
	t.Parallel()
	for how, back := range map[string]func(*testBench) error{
		"restored": func(b *testBench) error {
			_, err := b.local.Unremove(context.Background(), missions.UnremoveRequest{Caller: b.caller(), Mission: "fix"})
			return err
		},
		"resumed": func(b *testBench) error {
			_, err := b.local.Launch(context.Background(), missions.LaunchRequest{Caller: b.caller(), Mission: "fix", Resume: true, KeeperPID: os.Getpid()})
			return err
		},
	} {
		t.Run(how, func(t *testing.T) {
			b := newBench(t)
			b.versioned()
			b.mission("work")
			fork, kept := b.trashed("work", "fix")
			m, _, err := b.local.FindRemoved(context.Background(), missions.UnremoveRequest{Caller: b.caller(), Mission: "fix"})
			if err != nil {
				t.Fatal(err)
			}
			if err := trash.UntrashRefs(context.Background(), m); err != nil {
				t.Fatal(err)
			}
			if in, err := b.trash(false); err != nil || len(in.Removed) != 1 || !in.Removed[0].Back {
				t.Fatalf("in the trash: %+v %v", in, err)
			}
			if done, err := b.trash(true); err != nil || done.HasItems() {
				t.Errorf("emptied: %+v %v", done, err)
			}
			b.stands(kept, true)
			if err := back(b); err != nil {
				t.Fatal(err)
			}
			b.stands(kept, false)
			b.stands(filepath.Join(fork.Workspace, "notes.log"), true)
		})
	}
}

// unremove takes a mission back.
func (b *testBench) unremove(name string) {
	b.Helper()
	if _, err := b.local.Unremove(context.Background(), missions.UnremoveRequest{Caller: b.caller(), Mission: name}); err != nil {
		b.Fatal(err)
	}
}

// TestRemovedIsSaidToBeInTheTrash: whoever asks for a removed mission, by its name or
// by a pin on it, is told how it comes back.
func TestRemovedIsSaidToBeInTheTrash(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.mission("work")
	ctx := context.Background()
	if _, err := b.local.Pin(ctx, missions.PinRequest{Caller: b.caller(), Moment: "work@start", Name: "good"}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.local.Remove(ctx, missions.RemoveRequest{Caller: b.caller(), Missions: []string{"work"}}); err != nil {
		t.Fatal(err)
	}
	_, byPin := b.local.Restore(ctx, missions.RestoreRequest{Caller: b.caller(), Moment: "good"})
	_, byMoment := b.local.Restore(ctx, missions.RestoreRequest{Caller: b.caller(), Moment: "work@start"})
	_, byName := b.local.Snapshot(ctx, missions.SnapshotRequest{Caller: b.caller(), Mission: "work"})
	for what, err := range map[string]error{"by its pin": byPin, "by its moment": byMoment, "by its name": byName} {
		b.fails(what, err, missions.KindNotFound)
		if hint := missions.AsError(err).Hint; hint != "umbra trash restore work" {
			t.Errorf("%s: %v; hint %q", what, err, hint)
		}
	}
}

// TestTrashOnAnotherDisk lists, empties and takes back a workspace that is on another file
// system than the home, and stays there when it is removed.
func TestTrashOnAnotherDisk(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	elsewhere, err := os.MkdirTemp("/dev/shm", "umbra-trash-")
	if err != nil {
		t.Skip("no other file system: ", err)
	}
	t.Cleanup(func() { os.RemoveAll(elsewhere) })
	b := newBench(t)
	here, err := projects.DirectoryIdentity(b.dir)
	there, err2 := projects.DirectoryIdentity(elsewhere)
	if err = errors.Join(err, err2); err != nil || here.Device == there.Device {
		t.Skip("temporary files are on the only other file system: ", err)
	}
	b.versioned()
	b.mission("work")
	made, err := b.local.Fork(ctx, missions.ForkRequest{Caller: b.caller(), From: "work", Name: "fix", Workspace: filepath.Join(elsewhere, "fix")})
	if err != nil {
		t.Fatal(err)
	}
	fork := made.Missions[0].Workspace
	b.put(filepath.Join(fork, "notes.log"), "only here\n")
	remove := func() {
		t.Helper()
		if _, err := b.local.Remove(ctx, missions.RemoveRequest{Caller: b.caller(), Missions: []string{"fix"}, Workspace: true}); err != nil {
			t.Fatal(err)
		}
		b.stands(fork, false)
	}
	remove()
	b.unremove("fix")
	b.stands(filepath.Join(fork, "notes.log"), true)
	if in, err := b.trash(false); err != nil || in.HasItems() {
		t.Errorf("in the trash: %+v %v", in, err)
	}
	remove()
	own := filepath.Join(elsewhere, "mine")
	b.put(filepath.Join(own, "of.txt"), "mine\n")
	if err := os.Symlink(own, filepath.Join(b.home, "trash", made.Missions[0].ID, "link")); err != nil {
		t.Fatal(err)
	}
	in, err := b.trash(false)
	if err != nil || len(in.Removed) != 1 || !slices.ContainsFunc(in.Removed[0].Items, func(i missions.TrashItem) bool { return strings.HasPrefix(i.Path, elsewhere) && i.Bytes > 0 }) {
		t.Errorf("in the trash: %+v %v", in, err)
	}
	if _, err := b.trash(true); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(elsewhere)
	if err != nil || len(left) != 1 {
		t.Errorf("left there: %v %v", left, err)
	}
	b.stands(filepath.Join(own, "of.txt"), true)
	b.stands(filepath.Join(b.home, "trash", made.Missions[0].ID), false)
}

// TestTrashOnADiskThatIsAway keeps what names it, so that it is found again.
func TestTrashOnADiskThatIsAway(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.versioned()
	b.mission("work")
	held, kept := b.trashed("work", "held")
	place := filepath.Join(b.home, "disk", beneath.ScratchName(held.ID, 0))
	link := filepath.Join(b.home, "trash", held.ID, "fix")
	if err := os.Symlink(place, link); err != nil {
		t.Fatal(err)
	}
	done, err := b.trash(true)
	if err != nil || !slices.ContainsFunc(done.Left, func(l missions.LeftInTrash) bool { return l.Path == link && strings.Contains(l.Why, place) }) {
		t.Errorf("emptied: %+v %v", done, err)
	}
	b.stands(kept, false)
	b.stands(link, true)
	b.put(filepath.Join(place, "only.txt"), "here\n")
	if done, err := b.trash(true); err != nil || len(done.Left) != 0 {
		t.Errorf("emptied with its disk: %+v %v", done, err)
	}
	b.stands(place, false)
	b.stands(link, false)
}

// TestUnremoveAfterGC gives a fork its staged content back that the user's git has removed
// meanwhile.
func TestUnremoveAfterGC(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newBench(t)
	b.versioned()
	b.mission("work")
	made, err := b.local.Fork(ctx, missions.ForkRequest{Caller: b.caller(), From: "work", Name: "fix"})
	if err != nil {
		t.Fatal(err)
	}
	fork := made.Missions[0].Workspace
	b.put(filepath.Join(fork, "s.txt"), "staged\n")
	b.git("-C", fork, "add", "s.txt")
	b.put(filepath.Join(fork, "s.txt"), "changed since\n")
	if _, err := b.local.Remove(ctx, missions.RemoveRequest{Caller: b.caller(), Missions: []string{"fix"}, Workspace: true}); err != nil {
		t.Fatal(err)
	}
	b.git("gc", "-q", "--prune=now")
	b.unremove("fix")
	if out := b.git("-C", fork, "show", ":s.txt"); out != "staged\n" {
		t.Errorf("staged: %q", out)
	}
	b.healthy()
}
