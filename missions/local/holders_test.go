package local

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
)

// TestHolders: which snapshots hold a path is found in every mission of the project, in
// the trash and under a pin too, and whether the next one will hold it.
func TestHolders(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.write("key/secret.txt", "hunter2\n")
	b.mission("work")
	b.write("a.txt", "two\n")
	b.snapshot("two")
	holders := func(path string) missions.Holders {
		t.Helper()
		h, err := b.local.Forget(context.Background(), missions.ForgetRequest{Caller: b.caller(), Mission: "work", Path: path})
		kind := missions.KindConflict
		if h.Snapshots == 0 {
			kind = missions.KindNotFound
		}
		b.fails("to forget "+path, err, kind)
		return h
	}
	if h := holders("key/secret.txt"); h.Snapshots != 2 || !h.Captured || len(h.Missions) != 1 || h.Missions[0].Name != "work" || h.Missions[0].Oldest == h.Missions[0].Newest || h.Path != "key/secret.txt" {
		t.Errorf("%+v", h)
	}
	made, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: "work", Name: "other"})
	if err != nil {
		t.Fatal(err)
	}
	fork := made.Missions[0]
	b.remove("key/secret.txt")
	b.snapshot("gone")
	if h := holders("key"); h.Snapshots != 2 || !h.Captured {
		t.Errorf("with a fork: %+v", h)
	}
	if _, err := b.local.Remove(context.Background(), missions.RemoveRequest{Caller: b.caller(), Missions: []string{fork.Name}, Force: true}); err != nil {
		t.Fatal(err)
	}
	if h := holders("key/secret.txt"); h.Snapshots != 2 || h.Captured {
		t.Errorf("once it is gone: %+v", h)
	}
	if h := holders("none"); h.Snapshots != 0 || h.Captured || len(h.Missions) != 0 {
		t.Errorf("of nothing: %+v", h)
	}
	_, err = b.local.Forget(context.Background(), missions.ForgetRequest{Caller: b.caller(), Path: "../x"})
	b.fails("a path outside", err, missions.KindUsage)
	b.healthy()
}

// TestHoldersInUnreadRepository: a repository of the user's that git can't read may have the
// file; one that is gone has it no more.
func TestHoldersInUnreadRepository(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.git("init", "-q")
	b.write("key.txt", "hunter2\n")
	b.mission("work")
	b.git("add", "key.txt")
	forget := func() (missions.Holders, error) {
		return b.local.Forget(t.Context(), missions.ForgetRequest{Caller: b.caller(), Mission: "work", Path: "key.txt"})
	}
	if h, err := forget(); h.Repository == "" || missions.AsError(err).Kind != missions.KindConflict {
		t.Errorf("what is staged: %+v %v", h, err)
	}
	b.write(".git/config", "[broken\n")
	if h, err := forget(); err == nil || missions.AsError(err).Kind == missions.KindConflict {
		t.Errorf("what can't be read: %+v %v", h, err)
	}
}

// TestHoldersInSubdirectories: missions of one repository whose workspaces are other
// directories of it name one file by other paths.
func TestHoldersInSubdirectories(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.git("init", "-q")
	b.write("services/api/key/secret.txt", "hunter2\n")
	b.write("key/secret.txt", "another\n")
	b.mission("whole")
	api := *b
	api.dir = filepath.Join(b.dir, "services", "api")
	_, err := api.local.NewMission(t.Context(), missions.NewMissionRequest{
		Caller: api.caller(), Name: "api", Command: []string{"sh"}, Workspace: api.dir,
	})
	if err != nil {
		t.Fatal(err)
	}
	look := func(b *testBench, mission, path string) map[string]int {
		t.Helper()
		h, _ := b.local.Forget(t.Context(), missions.ForgetRequest{Caller: b.caller(), Mission: mission, Path: path})
		found := map[string]int{}
		for _, m := range h.Missions {
			found[m.Name] = m.Snapshots
		}
		want := []string{"key/secret.txt", "services/api/key/secret.txt"}
		slices.Sort(h.CapturedPaths)
		if len(found) == 2 && path != "services" && (!h.Captured || !slices.Equal(h.CapturedPaths, want)) {
			t.Errorf("%s of %s is captured as %q", path, mission, h.CapturedPaths)
		}
		return found
	}
	both := map[string]int{"whole": 1, "api": 1}
	if got := look(&api, "api", "key/secret.txt"); !maps.Equal(got, both) {
		t.Errorf("asked of the subdirectory: %v", got)
	}
	if got := look(b, "whole", "services/api/key/secret.txt"); !maps.Equal(got, both) {
		t.Errorf("asked of the whole repository: %v", got)
	}
	if got := look(b, "whole", "services"); !maps.Equal(got, both) {
		t.Errorf("of a directory around the workspace: %v", got)
	}
	if got := look(b, "whole", "key/secret.txt"); !maps.Equal(got, map[string]int{"whole": 1}) {
		t.Errorf("of another file: %v", got)
	}
	b.healthy()
}

// TestForgetNamesRemotes: a remote that has been sent snapshots of a mission is named, with the
// refs there that lead to them, a fork's too; other missions on it are left alone.
func TestForgetNamesRemotes(t *testing.T) {
	t.Parallel()
	c := startRemote(t)
	c.write("a.txt", "one\n")
	work := c.testBench.mission("work")
	made, err := c.local.Fork(t.Context(), missions.ForkRequest{Caller: c.caller(), From: "work", Name: "twin"})
	if err != nil {
		t.Fatal(err)
	}
	c.remove("a.txt")
	c.testBench.mission("without")
	forget := func() missions.Holders {
		t.Helper()
		found, err := c.local.Forget(t.Context(), missions.ForgetRequest{Caller: c.caller(), Mission: "work", Path: "a.txt"})
		c.fails("forget", err, missions.KindConflict)
		if named := strings.Contains(missions.AsError(err).Hint, "the remote office has"); named != (len(found.Pushed) > 0) {
			t.Errorf("the remote is named: %t, %+v", named, found.Pushed)
		}
		return found
	}
	if found := forget(); len(found.Pushed) > 0 {
		t.Errorf("nothing was pushed: %+v", found.Pushed)
	}
	c.push()
	found := forget()
	if len(found.Pushed) != 1 || found.Pushed[0].Remote != "office" {
		t.Fatalf("pushed to %+v", found.Pushed)
	}
	refs := strings.Fields(c.remoteGit("for-each-ref", "--format=%(refname)"))
	if len(refs) != 6 {
		t.Fatalf("the remote has %q", refs)
	}
	var want []string
	for _, ref := range refs {
		if strings.HasSuffix(ref, "/"+work.ID) || strings.HasSuffix(ref, "/"+made.Missions[0].ID) {
			want = append(want, ref)
		}
	}
	got := slices.Sorted(slices.Values(found.Pushed[0].Refs))
	if !slices.Equal(got, want) {
		t.Errorf("to be deleted: %q, not %q", got, want)
	}
	c.healthy()
}

// TestForgetNamesPromoted: a promotion takes along what its fork had, also what its newest
// snapshot has no more: the mission's refs on the remote lead to it.
func TestForgetNamesPromoted(t *testing.T) {
	t.Parallel()
	c := startRemote(t)
	c.write("a.txt", "one\n")
	c.testBench.mission("work")
	made, err := c.local.Fork(t.Context(), missions.ForkRequest{Caller: c.caller(), From: "work", Name: "twin"})
	if err != nil {
		t.Fatal(err)
	}
	twin := *c.testBench
	twin.dir = made.Missions[0].Workspace
	twin.write("key.txt", "hunter2\n")
	twin.snapshot("with")
	twin.remove("key.txt")
	twin.write("b.txt", "two\n")
	twin.snapshot("without")
	c.promoted("twin")
	c.push("work")
	found, err := c.local.Forget(t.Context(), missions.ForgetRequest{Caller: c.caller(), Mission: "work", Path: "key.txt"})
	c.fails("forget", err, missions.KindConflict)
	refs := strings.Fields(c.remoteGit("for-each-ref", "--format=%(refname)"))
	if len(found.Pushed) != 1 || len(refs) != 2 || !slices.Equal(slices.Sorted(slices.Values(found.Pushed[0].Refs)), refs) {
		t.Errorf("to be deleted: %+v, not %q", found.Pushed, refs)
	}
	if found.Snapshots != 1 || found.Captured {
		t.Errorf("%+v", found)
	}
	c.healthy()
}

// TestForgetNamesWhatWasPushed: refs on a remote are named by the snapshot that was pushed. It
// may be from before the file came, or of a mission that is gone here.
func TestForgetNamesWhatWasPushed(t *testing.T) {
	t.Parallel()
	c := startRemote(t)
	c.write("key.txt", "hunter2\n")
	c.testBench.mission("work")
	made, err := c.local.Fork(t.Context(), missions.ForkRequest{Caller: c.caller(), From: "work", Name: "twin"})
	if err != nil {
		t.Fatal(err)
	}
	twin := made.Missions[0]
	c.writeIn(twin.Workspace, "own.txt", "only there\n")
	if _, err := c.local.Snapshot(t.Context(), missions.SnapshotRequest{Caller: c.caller(), Mission: "twin"}); err != nil {
		t.Fatal(err)
	}
	c.write("other.txt", "two\n")
	c.snapshot("other")
	c.push()
	c.write("late.txt", "three\n")
	c.snapshot("late")
	if _, err := c.local.Remove(t.Context(), missions.RemoveRequest{Caller: c.caller(), Missions: []string{"twin"}, Workspace: true, Force: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.trash(true, "twin"); err != nil {
		t.Fatal(err)
	}
	store := c.project().Store
	for _, kind := range []gitstore.RefKind{gitstore.RefTrashAgent, gitstore.RefTrashRecord} { // as once they have expired
		list, err := store.Refs(kind)
		if err != nil || len(list.Refs) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		if err := store.DeleteRef(t.Context(), list.Refs[0].Name, list.Refs[0].ID); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]int{"key.txt": 4, "own.txt": 2, "other.txt": 2, "late.txt": 0} {
		found, err := c.local.Forget(t.Context(), missions.ForgetRequest{Caller: c.caller(), Mission: "work", Path: path})
		c.fails("forget", err, missions.KindConflict)
		var refs []string
		for _, to := range found.Pushed {
			refs = append(refs, to.Refs...)
		}
		named := slices.ContainsFunc(refs, func(ref string) bool { return strings.HasSuffix(ref, twin.ID) })
		if len(refs) != want || named != (path == "key.txt" || path == "own.txt") || len(found.Trash) > 0 {
			t.Errorf("%s is in %q, in the trash %q", path, refs, found.Trash)
		}
	}
	c.healthy()
}

// TestForgetNamesCutOffPush: what a remote has taken is known also where a push ends before it
// learns of that, and whatever the next one does.
func TestForgetNamesCutOffPush(t *testing.T) {
	t.Parallel()
	c := startRemote(t)
	c.write("key.txt", "hunter2\n")
	c.testBench.mission("work")
	hook := filepath.Join(c.url, "hooks", "post-receive")
	if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hook, []byte("#!/bin/sh\nkill -9 $PPID\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := c.local.Push(t.Context(), missions.PushRequest{Caller: c.caller()})
	if refs := strings.Fields(c.remoteGit("for-each-ref", "--format=%(refname)")); err == nil || len(refs) != 2 {
		t.Fatalf("%v, the remote has %q", err, refs)
	}
	named := func() int {
		t.Helper()
		found, err := c.local.Forget(t.Context(), missions.ForgetRequest{Caller: c.caller(), Mission: "work", Path: "key.txt"})
		c.fails("forget", err, missions.KindConflict)
		if len(found.Pushed) == 0 {
			return 0
		}
		return len(found.Pushed[0].Refs)
	}
	if n := named(); n != 2 {
		t.Errorf("%d refs are named", n)
	}
	if err := os.Remove(hook); err != nil {
		t.Fatal(err)
	}
	c.push()
	saved, err := os.ReadFile(c.project().RemotesFile())
	if n := named(); err != nil || n != 2 || strings.Contains(string(saved), "sending") {
		t.Errorf("once it was pushed: %d refs, %s, %v", n, saved, err)
	}
	c.healthy()
}

// TestForgetNamesFetched: what was fetched holds the path too, also where nothing else does,
// and the remote has it. It is said which remote is to be forgotten; then a fork of it still
// holds the path.
func TestForgetNamesFetched(t *testing.T) {
	t.Parallel()
	c := startRemote(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "key.txt", "hunter2\n")
	theirs := "office/" + c.only().Name
	c.push()
	b := c.other("office")
	b.fetch()
	forget := func(mission string) (missions.Holders, string) {
		t.Helper()
		found, err := b.local.Forget(t.Context(), missions.ForgetRequest{Caller: b.caller(), Mission: mission, Path: "key.txt"})
		b.fails("forget", err, missions.KindConflict)
		return found, missions.AsError(err).Hint
	}
	named := func(mission string) {
		t.Helper()
		found, hint := forget(mission)
		if len(found.Missions) != 1 || found.Missions[0].Name != theirs || found.Missions[0].Remote != "office" || found.Missions[0].Removed || found.Captured {
			t.Errorf("%+v", found)
		}
		if !strings.Contains(hint, "the remote office has") || !strings.Contains(hint, "\numbra remote rm office\n") || strings.Contains(hint, "capture.secrets") {
			t.Errorf("%s", hint)
		}
	}
	named(theirs)
	b.write("b.txt", "mine\n")
	b.mission("mine")
	named("mine")
	if _, err := b.local.Fork(t.Context(), missions.ForkRequest{Caller: b.caller(), From: theirs, Name: "again"}); err != nil {
		t.Fatal(err)
	}
	if found, hint := forget("mine"); len(found.Pushed) != 1 || !found.Pushed[0].Fetched || !strings.Contains(hint, "umbra remote rm office") {
		t.Errorf("with a fork of it: %+v, %s", found, hint)
	}
	if _, err := b.local.RemoveRemote(t.Context(), missions.RemoteRequest{Caller: b.caller(), Name: "office"}); err != nil {
		t.Fatal(err)
	}
	if found, hint := forget("mine"); !found.Captured || len(found.Pushed) > 0 || strings.Contains(hint, "remote") {
		t.Errorf("of a remote that was forgotten: %+v, %s", found, hint)
	}
	b.healthy()
}
