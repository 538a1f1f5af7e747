package local

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// writeIn writes a file of a mission's workspace.
func (b *testBench) writeIn(dir, name, content string) {
	b.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
		b.Fatal(err)
	}
}

// mergeFile is where the merge into "m" is kept.
func (b *testBench) mergeFile() string {
	b.Helper()
	view, err := b.local.Mission(context.Background(), missions.MissionRequest{Caller: b.caller(), Name: "m"})
	if err != nil {
		b.Fatal(err)
	}
	m, err := b.local.MissionByID(view.ID)
	if err != nil {
		b.Fatal(err)
	}
	return filepath.Join(m.Project.Dir, "merges", m.ID+".json")
}

// TestMergeLeavesNoMission: a merge knows the mission of its merger until that is removed,
// also where the process was killed that was to remove it; and no mission of the user's that
// has its name is in the way.
func TestMergeLeavesNoMission(t *testing.T) {
	t.Parallel()
	b, dirs := forksToMerge(t, map[string]string{"a.txt": "one\n"}, "child", "m-merger")
	b.local.Adapters = projects.Agents()
	b.writeIn(dirs["child"], "a.txt", "fork\n")
	b.writeIn(b.dir, "a.txt", "mine\n")
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "claude"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	step := func(step missions.MergeStep, change ...func(*missions.MergeRequest)) missions.MergeResult {
		t.Helper()
		r, err := b.merge(step, append(change, func(r *missions.MergeRequest) { r.Caller.Env["PATH"] += ":" + bin })...)
		if err != nil {
			t.Fatalf("%s: %v", step, err)
		}
		return r
	}
	left := func(what string, r missions.MergeResult, want ...string) {
		t.Helper()
		var names []string
		for _, m := range r.Left {
			names = append(names, m.Name)
		}
		if !slices.Equal(names, want) {
			t.Errorf("%s: %q are left, want %q", what, names, want)
		}
	}
	begin := func(r *missions.MergeRequest) { r.Forks, r.Merger = []string{"child"}, "claude" }
	leave := func(r *missions.MergeRequest) { r.Leave = true }
	ended := func(mission string) func(*missions.MergeRequest) {
		return func(r *missions.MergeRequest) {
			r.Proposed = &missions.MergerEnd{Mission: mission, Answer: "a.txt: as it was"}
		}
	}

	if r := step(missions.MergeBegin, begin); r.Merger != "claude" {
		t.Fatalf("nobody is asked: %+v", r)
	}
	first := step(missions.MergePropose).Scratch
	if first == nil || first.Name != "m-merger-2" {
		t.Fatalf("the merger is %+v", first)
	}
	if _, err := b.merge(missions.MergeProposed, ended("another")); missions.AsError(err).Kind != missions.KindConflict {
		t.Errorf("another agent has ended: %v", err)
	}
	if _, err := b.merge(missions.MergeContinue, func(r *missions.MergeRequest) { r.Merger = "gemini" }); missions.AsError(err).Kind != missions.KindBusy {
		t.Errorf("another merger while the work of the first one waits: %v", err)
	}
	left("it was asked", step(missions.MergeProposed, ended(first.ID)), "m-merger-2")
	left("said again", step(missions.MergeProposed, ended(first.ID)), "m-merger-2")
	left("going on after a kill", step(missions.MergeContinue), "m-merger-2")
	left("asked another one", step(missions.MergeContinue, func(r *missions.MergeRequest) { r.Merger = "gemini" }), "m-merger-2")
	left("dropped", step(missions.MergeAbort), "m-merger-2")
	for _, late := range []missions.MergeStep{missions.MergeContinue, missions.MergePropose, missions.MergeScratch} {
		if _, err := b.merge(late); missions.AsError(err).Kind != missions.KindConflict {
			t.Errorf("%s of a merge that was dropped: %v", late, err)
		}
	}
	left("dropped again after a kill", step(missions.MergeAbort), "m-merger-2")
	if _, err := b.local.Remove(context.Background(), missions.RemoveRequest{Caller: b.caller(), Missions: []string{"m-merger-2"}, Workspace: true, Force: true}); err != nil {
		t.Fatal(err)
	}
	left("dropped once it is removed", step(missions.MergeAbort))
	if _, err := b.merge(missions.MergeStatus); missions.AsError(err).Kind != missions.KindNotFound {
		t.Errorf("what waits then: %v", err)
	}

	step(missions.MergeBegin, begin)
	second := step(missions.MergePropose).Scratch
	if _, err := b.merge(missions.MergeProposed, ended(first.ID)); missions.AsError(err).Kind != missions.KindConflict {
		t.Errorf("the agent of an earlier merge has ended: %v", err)
	}
	step(missions.MergeProposed, ended(second.ID))
	step(missions.MergeResolve, func(r *missions.MergeRequest) {
		r.Choices = []missions.MergeChoice{{Path: "a.txt", Take: missions.TakeTheirs}}
	})
	r := step(missions.MergeContinue)
	if left("merged", r, "m-merger-2"); !r.Done || b.read("a.txt") != "fork\n" {
		t.Errorf("merged: %+v", r)
	}
	if seen := step(missions.MergeStatus); !seen.Done {
		t.Errorf("its status: %+v", seen)
	}
	told, err := b.local.Updates(context.Background(), missions.UpdatesRequest{Caller: b.caller(), Mission: "m"})
	if err != nil || len(told) != 1 {
		t.Errorf("told %+v, %v", told, err)
	}
	if _, err := b.local.Undo(context.Background(), missions.UndoRequest{Caller: b.caller(), Mission: "m"}); err != nil {
		t.Fatal(err)
	}
	for _, last := range []func(*missions.MergeRequest){func(*missions.MergeRequest) {}, leave} {
		if again := step(missions.MergeContinue, last); !again.Done || b.read("a.txt") != "mine\n" {
			t.Errorf("what was undone is merged again: %+v, %q", again, b.read("a.txt"))
		}
	}
	if _, err := b.merge(missions.MergeStatus); missions.AsError(err).Kind != missions.KindNotFound {
		t.Errorf("what waits at the end: %v", err)
	}
}

// TestMergeOfEarlierBuild: of a merge that an earlier Umbra has begun a choice is asked again
// of which it is not known what it answers; one that can't be read is put aside, not deleted.
func TestMergeOfEarlierBuild(t *testing.T) {
	t.Parallel()
	b, dirs := forksToMerge(t, map[string]string{"a.txt": "one\n"}, "child", "m-merger-2", "m-merger-and-more")
	b.writeIn(dirs["child"], "a.txt", "fork\n")
	b.writeIn(b.dir, "a.txt", "mine\n")
	begin := func(r *missions.MergeRequest) { r.Forks = []string{"child"} }
	theirs := func(r *missions.MergeRequest) {
		r.Choices = []missions.MergeChoice{{Path: "a.txt", Take: missions.TakeTheirs}}
	}
	if _, err := b.merge(missions.MergeBegin, begin); err != nil {
		t.Fatal(err)
	}
	if _, err := b.merge(missions.MergeResolve, theirs); err != nil {
		t.Fatal(err)
	}
	file := b.mergeFile()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]any{}
	if err := json.Unmarshal(text, &kept); err != nil {
		t.Fatal(err)
	}
	delete(kept["choices"].([]any)[0].(map[string]any), "sides") // as the first builds kept it
	if text, err = json.Marshal(kept); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := b.merge(missions.MergeContinue)
	if err != nil || r.Done || len(r.Conflicts) != 1 || b.read("a.txt") != "mine\n" {
		t.Fatalf("what an earlier build kept: %+v, %v", r, err)
	}

	if err := os.WriteFile(file, text[:len(text)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, step := range []missions.MergeStep{missions.MergeStatus, missions.MergeContinue, missions.MergeBegin} {
		_, err := b.merge(step, func(r *missions.MergeRequest) {
			if step == missions.MergeBegin {
				begin(r)
			}
		})
		if e := missions.AsError(err); !strings.Contains(e.Hint, "umbra merge --abort --into m") || !strings.Contains(e.Message, "can't be read") {
			t.Errorf("%s of what can't be read: %v (%s)", step, err, e.Hint)
		}
	}
	if r, err := b.merge(missions.MergeAbort, func(r *missions.MergeRequest) { r.Merge = "one" }); err == nil {
		t.Errorf("one that may be another: %+v", r)
	}
	if r, err := b.merge(missions.MergeAbort); err != nil || !r.Aborted || !strings.Contains(strings.Join(r.Notes, ""), file+".unread-1") ||
		!strings.HasSuffix(strings.Join(r.Notes, ""), "it may have made m-merger-2: umbra mission rm --workspace m-merger-2") {
		t.Errorf("dropped: %+v, %v", r, err)
	}
	if err := os.Symlink(file, file); err != nil { // what can't be opened may be whole
		t.Fatal(err)
	}
	if r, err := b.merge(missions.MergeAbort); err == nil || r.Aborted || strings.Contains(missions.AsError(err).Hint, "--abort") {
		t.Errorf("what can't be opened: %+v, %v", r, err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if is, err := os.ReadFile(file + ".unread-1"); err != nil || len(is) != len(text)/2 {
		t.Errorf("put aside: %q, %v", is, err)
	}
	if _, err := b.merge(missions.MergeBegin, begin); err != nil {
		t.Fatal(err)
	}
	if _, err := b.merge(missions.MergeResolve, theirs); err != nil {
		t.Fatal(err)
	}
	if r, err := b.merge(missions.MergeContinue); err != nil || !r.Done || b.read("a.txt") != "fork\n" {
		t.Errorf("begun again: %+v, %v", r, err)
	}
}

// TestMergeMediumBesideCheck: where the check does not pass, --auto medium takes nothing that
// Git merged, and --force does.
func TestMergeMediumBesideCheck(t *testing.T) {
	t.Parallel()
	text := "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	b, dirs := forksToMerge(t, map[string]string{"a.txt": text}, "child")
	b.writeIn(dirs["child"], "a.txt", strings.Replace(text, "1", "fork", 1))
	b.writeIn(b.dir, "a.txt", strings.Replace(text, "9", "mine", 1))
	r, err := b.merge(missions.MergeBegin, func(r *missions.MergeRequest) {
		r.Forks, r.Auto, r.Check = []string{"child"}, missions.MergeMedium, "make test"
	})
	if err != nil || !r.NeedsCheck() || r.Done {
		t.Fatalf("begun: %+v, %v", r, err)
	}
	said := func(code int) func(*missions.MergeRequest) {
		return func(q *missions.MergeRequest) {
			q.Checked = &missions.MergeCheck{Tree: r.Tree, Check: missions.NewCheck(code)}
		}
	}
	for _, code := range []int{1, 125} { // it is bad, and it can't tell
		bad, err := b.merge(missions.MergeContinue, said(code))
		if err != nil || bad.Done || len(bad.Conflicts) != 1 || bad.Conflicts[0].Severity != missions.SeverityMedium || strings.Contains(b.read("a.txt"), "fork") {
			t.Errorf("checked with %d: %+v, %v", code, bad, err)
		}
	}
	if good, err := b.merge(missions.MergeContinue, said(0)); err != nil || !good.Done || !strings.Contains(b.read("a.txt"), "fork") {
		t.Errorf("checked: %+v, %v", good, err)
	}
}

// TestMergerOfRenamed: where Git has nothing at the old name of a renamed file, a merger is not
// asked what becomes of that, and what it proposes for the new name is checked and taken.
func TestMergerOfRenamed(t *testing.T) {
	t.Parallel()
	text := "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	b, dirs := forksToMerge(t, map[string]string{"old.txt": text}, "child")
	b.local.Adapters = projects.Agents()
	b.write("old.txt", "mine\n"+text)
	if err := os.Rename(filepath.Join(dirs["child"], "old.txt"), filepath.Join(dirs["child"], "new.txt")); err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "claude"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	step := func(step missions.MergeStep, change func(*missions.MergeRequest)) missions.MergeResult {
		t.Helper()
		r, err := b.merge(step, change, func(r *missions.MergeRequest) { r.Caller.Env["PATH"] += ":" + bin })
		if err != nil {
			t.Fatalf("%s: %v", step, err)
		}
		return r
	}
	checked := func(tree string, code int) func(*missions.MergeRequest) {
		return func(r *missions.MergeRequest) {
			r.Checked = &missions.MergeCheck{Tree: tree, Check: missions.NewCheck(code)}
		}
	}
	r := step(missions.MergeBegin, func(r *missions.MergeRequest) {
		r.Forks, r.Auto, r.Check, r.Merger = []string{"child"}, missions.MergeMedium, "make test", "claude"
	})
	if r = step(missions.MergeContinue, checked(r.Tree, 1)); r.Merger != "claude" {
		t.Fatalf("nobody is asked: %+v", r)
	}
	scratch := step(missions.MergePropose, func(*missions.MergeRequest) {}).Scratch
	if _, err := os.Lstat(filepath.Join(scratch.Workspace, "old.txt")); !os.IsNotExist(err) {
		t.Errorf("the merger has the old name: %v", err)
	}
	b.writeIn(scratch.Workspace, "new.txt", "mended\n")
	r = step(missions.MergeProposed, func(r *missions.MergeRequest) {
		r.Proposed = &missions.MergerEnd{Mission: scratch.ID, Answer: "new.txt: mended"}
	})
	if r.ProposedTree == "" {
		t.Fatalf("what is proposed is not checked: %+v", r)
	}
	if r = step(missions.MergeContinue, checked(r.ProposedTree, 0)); !r.Done || b.read("new.txt") != "mended\n" {
		t.Errorf("merged: %+v", r)
	}
	if _, err := os.Lstat(filepath.Join(b.dir, "old.txt")); !os.IsNotExist(err) {
		t.Errorf("the old name is there: %v", err)
	}
}

// TestMergePicture: a file that is no text follows its new name where one side renamed it and
// another changed it; where the one that renamed it changed it, too, a user chooses.
func TestMergePicture(t *testing.T) {
	t.Parallel()
	picture := "\x89PNG\x00" + strings.Repeat("\x00picture\xff\n", 200)
	for _, renames := range []string{"child", "m"} {
		for _, changes := range []bool{false, true} {
			b, dirs := forksToMerge(t, map[string]string{"old.png": picture}, "child")
			other := map[string]string{"child": "m", "m": "child"}[renames]
			moved := picture
			if changes {
				moved += "renamed"
			}
			if err := os.Remove(filepath.Join(dirs[renames], "old.png")); err != nil {
				t.Fatal(err)
			}
			b.writeIn(dirs[renames], "new.png", moved)
			b.writeIn(dirs[other], "old.png", picture+"changed")
			r, err := b.merge(missions.MergeBegin, func(r *missions.MergeRequest) { r.Forks, r.Auto = []string{"child"}, missions.MergeMedium })
			switch {
			case err != nil:
				t.Fatal(err)
			case !changes && (!r.Done || b.read("new.png") != picture+"changed"):
				t.Errorf("%s has renamed it: %+v, it is %q", renames, r, b.read("new.png"))
			case changes && (r.Done || len(r.Conflicts) != 1 || r.Conflicts[0].Severity != missions.SeverityCritical || r.Conflicts[0].Path != "new.png"):
				t.Errorf("%s has renamed and changed it: %+v", renames, r)
			}
		}
	}
}

// TestMergeThatWaits: where no mission is named, and the one that is guessed has no merge, the
// only merge that waits is meant, and nobody is told of the guess.
func TestMergeThatWaits(t *testing.T) {
	t.Parallel()
	b, dirs := forksToMerge(t, map[string]string{"a.txt": "one\n"}, "child")
	b.writeIn(dirs["child"], "a.txt", "fork\n")
	b.writeIn(b.dir, "a.txt", "mine\n")
	if _, err := b.merge(missions.MergeBegin, func(r *missions.MergeRequest) { r.Forks = []string{"child"} }); err != nil {
		t.Fatal(err)
	}
	b.mission("later")
	var said []string
	ctx := missions.WithNotify(context.Background(), func(n missions.Notice) { said = append(said, n.Text) })
	r, err := b.local.Merge(ctx, missions.MergeRequest{Caller: b.caller(), Step: missions.MergeStatus})
	if err != nil || r.Into != "m" || len(said) != 0 {
		t.Errorf("it waits in %q, %v; said was %q", r.Into, err, said)
	}
}

// TestMergeOfDeletedText: who has changed a text that another one has deleted is named, and what
// was changed can be seen before anybody chooses.
func TestMergeOfDeletedText(t *testing.T) {
	t.Parallel()
	b, dirs := forksToMerge(t, map[string]string{"a.txt": "one\n", "dir": "one\n", "was/x": "one\n"}, "fa", "fb")
	b.writeIn(dirs["fa"], "a.txt", "fork\n")
	b.writeIn(dirs["fa"], "dir", "fork\n")
	for _, name := range []string{"fa", "fb"} { // a directory that each has made a file
		if err := os.RemoveAll(filepath.Join(dirs[name], "was")); err != nil {
			t.Fatal(err)
		}
		b.writeIn(dirs[name], "was", name+"\n")
	}
	if err := errors.Join(os.Remove(filepath.Join(dirs["fb"], "dir")), os.Mkdir(filepath.Join(dirs["fb"], "dir"), 0o755)); err != nil {
		t.Fatal(err)
	}
	b.writeIn(dirs["fb"], "dir/a.txt", "fork\n")
	if err := os.Remove(filepath.Join(dirs["fb"], "a.txt")); err != nil {
		t.Fatal(err)
	}
	if _, err := b.merge(missions.MergeBegin, func(r *missions.MergeRequest) { r.Forks = []string{"fa", "fb"} }); err != nil {
		t.Fatal(err)
	}
	r, err := b.merge(missions.MergeStatus, func(r *missions.MergeRequest) { r.Texts = []missions.Path{"a.txt", "dir"} })
	if err != nil || len(r.Conflicts) != 3 || len(r.Conflicts[1].Texts.Sides) != 0 || r.Conflicts[0].Reason != "changed in fa, deleted in fb" {
		t.Fatalf("%+v, %v", r, err)
	}
	sides := r.Conflicts[0].Texts.Sides
	if len(sides) != 2 || sides[0].Deleted || !strings.Contains(sides[0].Patch, "+fork") || !sides[1].Deleted || sides[1].Patch != "" {
		t.Errorf("what they have changed: %+v", sides)
	}
}
