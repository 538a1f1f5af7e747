package servicetest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/missions"
)

func missionsLive(d *desk) {
	empty, err := d.Missions(d.ctx, missions.MissionsRequest{Caller: d.caller()})
	if d.ok("no missions", err); len(empty) != 0 {
		d.wrong("missions before the first: %+v", empty)
	}
	d.write("a.txt", "one\n")
	made := d.mission("alpha")
	if made.Name != "alpha" || made.State != missions.StateInitializing || made.Workspace == "" || made.Head == "" {
		d.wrong("made %+v", made)
	}
	_, err = d.NewMission(d.ctx, missions.NewMissionRequest{Caller: d.caller(), Name: "alpha", Command: []string{"sh"}})
	if e := d.refuses("a name twice", missions.KindConflict, err); e != nil && e.Hint == "" {
		d.wrong("no hint: %v", e)
	}
	renamed, err := d.Rename(d.ctx, missions.RenameRequest{Caller: d.caller(), Mission: "alpha", Name: "beta"})
	if d.ok("rename", err); renamed.Name != "beta" || renamed.ID != made.ID {
		d.wrong("renamed %+v", renamed)
	}
	got, err := d.Mission(d.ctx, missions.MissionRequest{Caller: d.caller(), Name: made.ID[:8]})
	if d.ok("mission by id", err); got.Name != "beta" || !got.CreatedAt.Equal(made.CreatedAt) {
		d.wrong("by id %+v", got)
	}
	_, err = d.Mission(d.ctx, missions.MissionRequest{Caller: d.caller(), Name: "alpha"})
	d.refuses("its old name", missions.KindNotFound, err)
	plan, err := d.Remove(d.ctx, missions.RemoveRequest{Caller: d.caller(), Missions: []string{"beta"}, Preview: true})
	if d.ok("preview of removing", err); len(plan.Missions) != 1 {
		d.wrong("would remove %+v", plan)
	}
	list, err := d.Missions(d.ctx, missions.MissionsRequest{Caller: d.caller(), All: true})
	if d.ok("list", err); len(list) != 1 {
		d.wrong("after a preview: %+v", list)
	}
	_, err = d.Forget(d.ctx, missions.ForgetRequest{Caller: d.caller(), Mission: "beta", Path: "a.txt"})
	d.refuses("to forget a file", missions.KindConflict, err)
	_, err = d.Remove(d.ctx, missions.RemoveRequest{Caller: d.caller(), Missions: []string{"beta"}, Force: true})
	d.ok("remove", err)
	_, err = d.Mission(d.ctx, missions.MissionRequest{Caller: d.caller(), Name: "beta"})
	d.refuses("a removed mission", missions.KindNotFound, err)
	d.trashed(made.ID)
	d.holds("a.txt", "one\n")
}

// trashed takes the removed mission beta back.
func (d *desk) trashed(id string) {
	in, err := d.Trash(d.ctx, missions.TrashRequest{Caller: d.caller()})
	if d.ok("trash", err); len(in.Removed) != 1 || in.Removed[0].ID != id || in.Removed[0].Name != "beta" || in.Bytes != 0 {
		d.wrong("the trash: %+v", in)
	}
	used, err := d.Usage(d.ctx, missions.UsageRequest{Caller: d.caller()})
	if d.ok("usage", err); len(used.Projects) != 1 || len(used.Projects[0].Missions) != 1 || !used.Projects[0].Missions[0].Removed || used.Bytes <= 0 {
		d.wrong("usage: %+v", used)
	}
	back, err := d.Unremove(d.ctx, missions.UnremoveRequest{Caller: d.caller(), Mission: id[:8]})
	if d.ok("unremove", err); back.ID != id || back.Name != "beta" {
		d.wrong("back: %+v", back)
	}
	_, err = d.Unremove(d.ctx, missions.UnremoveRequest{Caller: d.caller(), Mission: "beta"})
	d.refuses("unremove again", missions.KindNotFound, err)
	found, err := d.Mission(d.ctx, missions.MissionRequest{Caller: d.caller(), Name: "beta"})
	if d.ok("the mission that is back", err); found.ID != id {
		d.wrong("found %+v", found)
	}
	_, err = d.Trash(d.ctx, missions.TrashRequest{Caller: d.caller(), Missions: []string{"beta"}, Empty: true})
	d.refuses("empty what is not there", missions.KindNotFound, err)
}

func badRequests(d *desk) {
	_, err := d.NewMission(d.ctx, missions.NewMissionRequest{Caller: d.caller(), Name: "No Name", Command: []string{"sh"}})
	d.refuses("a bad name", missions.KindUsage, err)
	_, err = d.NewMission(d.ctx, missions.NewMissionRequest{Caller: d.caller(), Agent: "nobody"})
	d.refuses("an unknown agent", missions.KindUsage, err)
	_, err = d.NewMission(d.ctx, missions.NewMissionRequest{Caller: d.caller(), Workspace: "missing", Command: []string{"sh"}})
	d.refuses("a missing workspace", missions.KindNotFound, err)
	_, err = d.NewMission(d.ctx, missions.NewMissionRequest{Caller: d.caller(), Workspace: "/", Command: []string{"sh"}})
	d.refuses("the root as workspace", missions.KindConflict, err)
	_, err = d.Snapshot(d.ctx, missions.SnapshotRequest{Caller: d.caller()})
	d.refuses("a snapshot without a mission", missions.KindNotFound, err)
	_, err = d.Launch(d.ctx, missions.LaunchRequest{Caller: d.caller(), Mission: "nobody"})
	d.refuses("launch", missions.KindNotFound, err)
	_, err = d.Keep(d.ctx, missions.KeepRequest{Mission: "11111111-1111-4111-8111-111111111111"})
	d.refuses("keep", missions.KindNotFound, err)
	_, err = d.Stop(d.ctx, missions.StopRequest{Caller: d.caller(), Missions: []string{"nobody"}})
	d.refuses("stop", missions.KindNotFound, err)
	_, err = d.Wait(d.ctx, missions.WaitRequest{Caller: d.caller(), States: []missions.StateName{"bored"}})
	d.refuses("wait for no state", missions.KindUsage, err)
	_, err = d.Remove(d.ctx, missions.RemoveRequest{Caller: d.caller()})
	d.refuses("remove nothing", missions.KindUsage, err)
	_, err = d.Rename(d.ctx, missions.RenameRequest{Caller: d.caller(), Mission: "nobody", Name: "x"})
	d.refuses("rename", missions.KindNotFound, err)
	_, err = d.Hook(d.ctx, missions.HookRequest{Caller: d.caller(), Agent: "nobody", Payload: []byte("{}")})
	d.refuses("a hook of nobody", missions.KindUsage, err)
	_, err = d.Hook(d.ctx, missions.HookRequest{Caller: d.caller(), Agent: "claude", Payload: []byte("{\"torn")})
	d.refuses("a torn hook", missions.KindUsage, err)
	_, err = d.MoveProject(d.ctx, missions.MoveProjectRequest{Caller: d.caller(), Old: "/nowhere/at/all", New: d.dir})
	d.refuses("move of no project", missions.KindNotFound, err)
}

func snapshotsRead(d *desk) {
	bin := []byte{0, 1, 0xff, '\n', 0xfe}
	d.write("dir/bin", string(bin))
	d.write("a.txt", "one\n")
	d.mission("work")
	d.write("a.txt", "two\n")
	e := d.snapshot("text with \"quotes\", ünicode and \x00 a zero")
	if e.ID == "" || e.Files.Modified != 1 || e.MissionName != "work" {
		d.wrong("entry %+v", e)
	}
	entries, err := d.Log(d.ctx, missions.LogRequest{Caller: d.caller(), Lines: true})
	if d.ok("log", err); len(entries) != 2 || entries[0].ID != e.ID || !entries[0].At.Equal(e.At) || entries[0].Lines == nil {
		d.wrong("log %+v", entries)
	}
	_, err = d.Log(d.ctx, missions.LogRequest{Caller: d.caller(), Grep: "("})
	d.refuses("log --grep (", missions.KindUsage, err)
	got, err := d.Cat(d.ctx, missions.CatRequest{Caller: d.caller(), Moment: "work@start", Path: "dir/bin"})
	if d.ok("cat", err); !bytes.Equal(got, bin) {
		d.wrong("cat gave %q, want %q", got, bin)
	}
	_, err = d.Cat(d.ctx, missions.CatRequest{Caller: d.caller(), Moment: "work", Path: "none"})
	d.refuses("cat of no file", missions.KindNotFound, err)
	_, err = d.Cat(d.ctx, missions.CatRequest{Caller: d.caller(), Moment: "work", Path: "dir"})
	d.refuses("cat of a directory", missions.KindUsage, err)
	shown, err := d.Show(d.ctx, missions.ShowRequest{Caller: d.caller(), Moment: e.ID[:10]})
	if d.ok("show", err); shown.Entry.ID != e.ID || len(shown.Files) != 1 || !strings.Contains(shown.Patch, "+two") {
		d.wrong("shown %+v", shown)
	}
	_, err = d.Show(d.ctx, missions.ShowRequest{Caller: d.caller(), Moment: "nothing"})
	d.refuses("show nothing", missions.KindNotFound, err)
	diff, err := d.Diff(d.ctx, missions.DiffRequest{Caller: d.caller(), From: "work@start", To: "work", Patch: true})
	if d.ok("diff", err); len(diff.Files) != 1 || diff.Files[0].Path != "a.txt" || diff.Patch == "" {
		d.wrong("difference %+v", diff)
	}
	_, err = d.Diff(d.ctx, missions.DiffRequest{Caller: d.caller(), From: "work@9"})
	d.refuses("diff from no turn", missions.KindNotFound, err)
	r, err := d.Resolve(d.ctx, missions.ResolveRequest{Caller: d.caller(), Moment: "work~1"})
	if d.ok("resolve", err); r.Snapshot != entries[len(entries)-1].ID || r.ShadowRepo == "" {
		d.wrong("resolved %+v", r)
	}
	_, err = d.Resolve(d.ctx, missions.ResolveRequest{Caller: d.caller(), Moment: "work~7"})
	d.refuses("resolve too far back", missions.KindNotFound, err)
}

func pinsName(d *desk) {
	d.write("a.txt", "one\n")
	d.mission("work")
	pin, err := d.Pin(d.ctx, missions.PinRequest{Caller: d.caller(), Moment: "work", Name: "good"})
	if d.ok("pin", err); pin.Name != "good" || pin.Snapshot == "" {
		d.wrong("pin %+v", pin)
	}
	_, err = d.Pin(d.ctx, missions.PinRequest{Caller: d.caller(), Moment: "work", Name: "Bad Name"})
	d.refuses("a bad pin", missions.KindUsage, err)
	_, err = d.Pin(d.ctx, missions.PinRequest{Caller: d.caller(), Moment: "work", Name: "work"})
	d.refuses("a mission's name", missions.KindConflict, err)
	list, err := d.Pins(d.ctx, missions.PinsRequest{Caller: d.caller()})
	if d.ok("pins", err); len(list) != 1 || list[0].Snapshot != pin.Snapshot {
		d.wrong("pins %+v", list)
	}
	_, err = d.Unpin(d.ctx, missions.PinRequest{Caller: d.caller(), Name: "good"})
	d.ok("unpin", err)
	_, err = d.Unpin(d.ctx, missions.PinRequest{Caller: d.caller(), Name: "good"})
	d.refuses("unpin twice", missions.KindNotFound, err)
}

func restoreAndBack(d *desk) {
	d.write("a.txt", "one\n")
	d.mission("work")
	d.write("a.txt", "two\n")
	d.write("b.txt", "new\n")
	d.snapshot("second")
	_, err := d.Undo(d.ctx, missions.UndoRequest{Caller: d.caller()})
	d.refuses("undo of nothing", missions.KindNotFound, err)
	_, err = d.Restore(d.ctx, missions.RestoreRequest{Caller: d.caller(), Moment: "work@start", KeepOthers: true, All: true})
	d.refuses("mine and all", missions.KindUsage, err)
	plan, err := d.Restore(d.ctx, missions.RestoreRequest{Caller: d.caller(), Moment: "work@start", Preview: true})
	if d.ok("preview", err); plan.Done || !slices.Equal(plan.Modify, []string{"a.txt"}) || !slices.Equal(plan.Delete, []string{"b.txt"}) {
		d.wrong("plan %+v", plan)
	}
	d.holds("a.txt", "two\n")
	done, err := d.Restore(d.ctx, missions.RestoreRequest{Caller: d.caller(), Moment: "work@start"})
	if d.ok("restore", err); !done.Done || done.SafetySnapshot == "" || done.Snapshot == "" {
		d.wrong("restored %+v", done)
	}
	d.holds("a.txt", "one\n")
	d.holds("b.txt", "")
	_, err = d.Undo(d.ctx, missions.UndoRequest{Caller: d.caller()})
	d.ok("undo", err)
	d.holds("a.txt", "two\n")
	d.holds("b.txt", "new\n")
	_, err = d.Redo(d.ctx, missions.UndoRequest{Caller: d.caller()})
	d.ok("redo", err)
	d.holds("b.txt", "")
	_, err = d.Redo(d.ctx, missions.UndoRequest{Caller: d.caller()})
	d.refuses("redo of nothing", missions.KindNotFound, err)
	_, err = d.Cancel(d.ctx, missions.CancelRequest{Caller: d.caller()})
	d.refuses("cancel of nothing", missions.KindNotFound, err)
}

// refusalCarriesPlan restores over somebody else's change, which needs a choice.
func refusalCarriesPlan(d *desk) {
	d.write("own.txt", "one\n")
	d.write("foreign.txt", "one\n")
	d.hook("SessionStart", map[string]any{"source": "startup"})
	d.hook("UserPromptSubmit", map[string]any{"prompt": "write", "prompt_id": "p1"})
	d.write("own.txt", "two\n")
	d.hook("Stop", map[string]any{"prompt_id": "p1"})
	d.write("foreign.txt", "two\n")
	_, err := d.Restore(d.ctx, missions.RestoreRequest{Caller: d.caller(), Moment: "@1.0", FilesOnly: true})
	if e := d.refuses("a choice is needed", missions.KindConflict, err); e != nil {
		if !bytes.Contains(e.Details, []byte("foreign.txt")) || e.Hint == "" {
			d.wrong("refusal: hint %q, details %s", e.Hint, e.Details)
		}
	}
	d.holds("own.txt", "two\n")
	_, err = d.Restore(d.ctx, missions.RestoreRequest{Caller: d.caller(), Moment: "@1.0", FilesOnly: true, KeepOthers: true})
	d.ok("restore --keep-others", err)
	d.holds("own.txt", "one\n")
	d.holds("foreign.txt", "two\n")
}

func forkLives(d *desk) {
	d.write("a.txt", "one\n")
	d.mission("work")
	d.write("a.txt", "two\n")
	_, err := d.Fork(d.ctx, missions.ForkRequest{Caller: d.caller(), From: "work", Count: -1})
	d.refuses("a fork of no count", missions.KindUsage, err)
	_, err = d.Fork(d.ctx, missions.ForkRequest{Caller: d.caller(), From: "nobody"})
	d.refuses("a fork of nobody", missions.KindNotFound, err)
	f, err := d.Fork(d.ctx, missions.ForkRequest{Caller: d.caller(), From: "work", Name: "child"})
	if !d.ok("fork", err) || len(f.Missions) != 1 {
		d.wrong("forked %+v", f)
		return
	}
	child := f.Missions[0]
	if child.Parent == nil || child.Name != "child" || child.Workspace == d.dir {
		d.wrong("child %+v", child)
	}
	got, err := os.ReadFile(child.Workspace + "/a.txt")
	if d.ok("the child's file", err); string(got) != "two\n" {
		d.wrong("the child has %q", got)
	}
}

func forkComesHome(d *desk) {
	d.write("a.txt", "one\n")
	d.mission("work")
	f, err := d.Fork(d.ctx, missions.ForkRequest{Caller: d.caller(), From: "work", Name: "child"})
	if !d.ok("fork", err) {
		return
	}
	d.ok("change the child", os.WriteFile(f.Missions[0].Workspace+"/a.txt", []byte("child\n"), 0o644))
	d.write("b.txt", "mine\n")
	promote := missions.PromoteRequest{Caller: d.caller(), Fork: "child", Preview: true}
	plan, err := d.Promote(d.ctx, promote)
	if d.ok("preview", err); plan.Done || !slices.Equal(plan.Modify, []string{"a.txt"}) || plan.From != f.Missions[0].ID {
		d.wrong("plan %+v", plan)
	}
	d.holds("a.txt", "one\n")
	promote.Preview = false
	done, err := d.Promote(d.ctx, promote)
	if d.ok("promote", err); !done.Done || !slices.Equal(done.Merged, []string{"b.txt"}) || len(done.Forks) != 1 {
		d.wrong("promoted %+v", done)
	}
	d.holds("a.txt", "child\n")
	d.holds("b.txt", "mine\n")
	_, err = d.Undo(d.ctx, missions.UndoRequest{Caller: d.caller(), Mission: "work"})
	d.ok("undo", err)
	d.holds("a.txt", "one\n")
	d.write("a.txt", "two\n")
	_, err = d.Promote(d.ctx, promote)
	if e := d.refuses("what both changed", missions.KindConflict, err); e != nil && len(e.Details) == 0 {
		d.wrong("the refusal has no plan")
	}
	promote.Fork = "work"
	_, err = d.Promote(d.ctx, promote)
	d.refuses("what is no fork", missions.KindNotFound, err)
}

func forksMerged(d *desk) {
	d.write("a.txt", "one\n")
	d.mission("work")
	f, err := d.Fork(d.ctx, missions.ForkRequest{Caller: d.caller(), From: "work", Name: "child"})
	if !d.ok("fork", err) {
		return
	}
	d.ok("change the child", os.WriteFile(f.Missions[0].Workspace+"/a.txt", []byte("child\n"), 0o644))
	merge := missions.MergeRequest{Caller: d.caller(), Step: missions.MergeBegin, Forks: []string{"child"}, Preview: true}
	plan, err := d.Merge(d.ctx, merge)
	if d.ok("preview", err); plan.Done || len(plan.Taken) != 1 || plan.Taken[0].Severity != missions.SeverityLow {
		d.wrong("plan %+v", plan)
	}
	d.holds("a.txt", "one\n")
	merge.Preview = false
	done, err := d.Merge(d.ctx, merge)
	if d.ok("merge", err); !done.Done || done.Result == "" {
		d.wrong("merged %+v", done)
	}
	d.holds("a.txt", "child\n")
	_, err = d.Undo(d.ctx, missions.UndoRequest{Caller: d.caller(), Mission: "work"})
	d.ok("undo", err)
	d.write("a.txt", "two\n")
	open, err := d.Merge(d.ctx, merge)
	if d.ok("merge what both changed", err); open.Done || len(open.Conflicts) != 1 {
		d.wrong("merged %+v", open)
	}
	_, err = d.Merge(d.ctx, merge)
	d.refuses("a second one", missions.KindBusy, err)
	d.holds("a.txt", "two\n")
	_, err = d.Merge(d.ctx, missions.MergeRequest{Caller: d.caller(), Step: missions.MergeAbort})
	d.ok("abort", err)
	_, err = d.Merge(d.ctx, missions.MergeRequest{Caller: d.caller(), Step: missions.MergeContinue})
	d.refuses("none that waits", missions.KindNotFound, err)
}

func forksCompared(d *desk) {
	d.write("a.txt", "one\n")
	d.mission("work")
	f, err := d.Fork(d.ctx, missions.ForkRequest{Caller: d.caller(), From: "work", Name: "try", Count: 2})
	if !d.ok("fork", err) {
		return
	}
	for i, m := range f.Missions {
		d.ok("change a fork", os.WriteFile(m.Workspace+"/a.txt", []byte(fmt.Sprintf("fork %d\nand more\n", i)), 0o644))
		d.ok("add to a fork", os.WriteFile(fmt.Sprintf("%s/%d.txt", m.Workspace, i), []byte("new\n"), 0o644))
		_, err := d.Snapshot(d.ctx, missions.SnapshotRequest{Caller: d.caller(), Mission: m.ID})
		d.ok("snapshot", err)
	}
	list, err := d.Compare(d.ctx, missions.CompareRequest{Caller: d.caller(), Forks: []string{"try-1", "try-2", "try-1"}, Patch: true})
	if !d.ok("compare", err) || len(list) != 2 {
		d.wrong("compared %+v", list)
		return
	}
	c := list[1]
	if c.Mission != "try-2" || c.Files != 2 || c.Lines != (missions.LineCounts{Added: 3, Deleted: 1}) || !slices.Equal(c.Alone, []string{"1.txt"}) ||
		!slices.Equal(c.Shared, []string{"a.txt"}) || c.Check != nil || c.Tokens != nil || c.Cost != nil || c.Turns != 0 {
		d.wrong("the comparison is %+v", c.Comparison)
	}
	if len(c.Patches) != len(c.Changes) || c.Fork.ID != f.Missions[1].ID || c.ForkPoint != f.Source.ID {
		d.wrong("compared %+v", c)
	}
	for what, forks := range map[string][]string{"what is no fork": {"work"}, "nobody": {"nobody"}} {
		_, err = d.Compare(d.ctx, missions.CompareRequest{Caller: d.caller(), Forks: forks})
		d.refuses(what, missions.KindNotFound, err)
	}
	_, err = d.Compare(d.ctx, missions.CompareRequest{Caller: d.caller()})
	d.refuses("no fork", missions.KindUsage, err)
}

func forkReports(d *desk) {
	d.write("a.txt", "one\n")
	d.mission("work")
	_, err := d.Report(d.ctx, missions.ReportRequest{Caller: d.caller(), Fork: "work", Text: "found"})
	d.refuses("a report of what is no fork", missions.KindNotFound, err)
	_, err = d.Fork(d.ctx, missions.ForkRequest{Caller: d.caller(), From: "work", Name: "child"})
	d.ok("fork", err)
	again := missions.ReportRequest{Caller: d.caller(), ID: missions.NewRequestID(), Fork: "child", Text: "found\x1b[1m it"}
	for range 2 {
		r, err := d.Report(d.ctx, again)
		if u := r.Update; d.ok("report", err) && (u.ID != again.ID || u.From != "child" || u.Mission != "work" || u.Text != "found it") {
			d.wrong("reported %+v", r)
		}
	}
	ask := missions.UpdatesRequest{Caller: d.caller(), Mission: "work"}
	list, err := d.Updates(d.ctx, ask)
	if d.ok("updates", err); len(list) != 1 || list[0].ID != again.ID || !list[0].Waits() {
		d.wrong("updates %+v", list)
	}
	if list, err = d.ClearUpdates(d.ctx, ask); d.ok("clear updates", err) && len(list) != 1 {
		d.wrong("cleared %+v", list)
	}
	if list, err = d.Updates(d.ctx, ask); d.ok("updates", err) && (list == nil || len(list) != 0) {
		d.wrong("after that: %+v", list)
	}
}

func agentLives(d *desk) {
	d.write("a.txt", "one\n")
	m := d.mission("work")
	launch, err := d.Launch(d.ctx, missions.LaunchRequest{Caller: d.caller(), Mission: "work"})
	if d.ok("launch", err); len(launch.Argv) == 0 || launch.Dir == "" || launch.Env["UMBRA_MISSION"] != m.ID {
		d.wrong("launch %+v", launch)
	}
	agent := exec.Command("sleep", "60")
	if !d.ok("start an agent", agent.Start()) {
		return
	}
	gone := make(chan struct{})
	go func() { defer close(gone); _ = agent.Wait() }()
	defer func() { _ = agent.Process.Kill(); <-gone }()
	next, err := d.Keep(d.ctx, missions.KeepRequest{Mission: m.ID, Launch: launch.ID, KeeperPID: agent.Process.Pid, AgentPID: agent.Process.Pid})
	if d.ok("keep", err); next.Do != missions.DoExit {
		d.wrong("next %+v", next)
	}
	_, err = d.Launch(d.ctx, missions.LaunchRequest{Caller: d.caller(), Mission: "work"})
	d.refuses("launch of a live one", missions.KindBusy, err)
	_, err = d.Remove(d.ctx, missions.RemoveRequest{Caller: d.caller(), Missions: []string{"work"}})
	d.refuses("remove a live one", missions.KindBusy, err)
	there, err := d.Wait(d.ctx, missions.WaitRequest{Caller: d.caller(), Missions: []string{"work"}, States: []missions.StateName{missions.StateClosed}, Timeout: 1})
	d.refuses("wait for its end", missions.KindTimeout, err)
	if len(there) != 0 {
		d.wrong("closed already: %+v", there)
	}
	stopped, err := d.Stop(d.ctx, missions.StopRequest{Caller: d.caller(), Missions: []string{"work"}})
	if d.ok("stop", err); len(stopped) != 1 || stopped[0].State != missions.StateClosed {
		d.wrong("stopped %+v", stopped)
	}
	there, err = d.Wait(d.ctx, missions.WaitRequest{Caller: d.caller(), Missions: []string{"work"}, States: []missions.StateName{missions.StateClosed}})
	if d.ok("wait", err); len(there) != 1 || there[0].ID != m.ID {
		d.wrong("waited for %+v", there)
	}
}

func hooksInstalled(d *desk) {
	r := missions.HooksRequest{Caller: d.caller(), Name: "claude"}
	before, err := d.HooksStatus(d.ctx, r)
	if d.ok("hooks status", err); before.Installed {
		d.wrong("installed already: %+v", before)
	}
	in, err := d.InstallHooks(d.ctx, r)
	if d.ok("install", err); !in.Installed || !in.Changed || in.File == "" {
		d.wrong("installed %+v", in)
	}
	all, err := d.HooksList(d.ctx, missions.HooksListRequest{Caller: d.caller()})
	if d.ok("hooks list", err); !slices.ContainsFunc(all, func(h missions.HooksResult) bool { return h.Name == "claude" && h.File == in.File && h.Installed }) {
		d.wrong("of all hooks: %+v", all)
	}
	out, err := d.UninstallHooks(d.ctx, r)
	if d.ok("uninstall", err); out.Installed || !out.Changed {
		d.wrong("uninstalled %+v", out)
	}
	r.Shared = true
	_, err = d.InstallHooks(d.ctx, r)
	d.refuses("shared without a project", missions.KindUsage, err)
}

func hookEvents(d *desk) {
	d.write("a.txt", "one\n")
	start := d.hook("SessionStart", map[string]any{"source": "startup"})
	if start.Mission == "" {
		d.wrong("not adopted: %+v", start)
	}
	prompt := d.hook("UserPromptSubmit", map[string]any{"prompt": "write it", "prompt_id": "p1"})
	again := d.hook("UserPromptSubmit", map[string]any{"prompt": "write it", "prompt_id": "p1"})
	d.write("a.txt", "two\n")
	stop := d.hook("Stop", map[string]any{"prompt_id": "p1"})
	if prompt.Snapshot == "" || stop.Snapshot == "" || stop.Snapshot == prompt.Snapshot || prompt.Mission != start.Mission {
		d.wrong("prompt %+v, stop %+v", prompt, stop)
	}
	if again.Snapshot != "" && again.Snapshot != prompt.Snapshot {
		d.wrong("the same prompt twice took two snapshots: %+v", again)
	}
	m, err := d.Mission(d.ctx, missions.MissionRequest{Caller: d.caller(), Name: start.Mission})
	if d.ok("its mission", err); m.State != missions.StateIdle || m.Turn != 1 || m.LastPrompt == nil {
		d.wrong("mission %+v", m)
	}
	got, err := d.Cat(d.ctx, missions.CatRequest{Caller: d.caller(), Moment: "@1.0", Path: "a.txt"})
	if d.ok("before the turn", err); string(got) != "one\n" {
		d.wrong("before the turn: %q", got)
	}
}

func looks(d *desk) {
	d.write("a.txt", "one\n")
	d.mission("work")
	s, err := d.Status(d.ctx, missions.StatusRequest{Caller: d.caller()})
	if d.ok("status", err); s.Home == "" || s.Project == nil || s.LastSnapshot == nil || len(s.Missions) != 1 || len(s.Problems) != 0 {
		d.wrong("status %+v", s)
	}
	for _, r := range []missions.DoctorRequest{{Rebuild: true}, {}} {
		r.Caller = d.caller()
		checked, err := d.Doctor(d.ctx, r)
		if d.ok("doctor", err); checked.Projects != 1 || checked.Missions != 1 || len(checked.Problems) != 0 || checked.Rebuilt != r.Rebuild {
			d.wrong("doctor %+v", checked)
		}
	}
	projects, err := d.Projects(d.ctx, missions.ProjectsRequest{Caller: d.caller()})
	if d.ok("projects", err); len(projects) != 1 || projects[0].Missions != 1 {
		d.wrong("projects %+v", projects)
	}
	moved := d.user + "/moved"
	d.ok("move the workspace", os.Rename(d.dir, moved))
	old := d.dir
	d.dir = moved
	p, err := d.MoveProject(d.ctx, missions.MoveProjectRequest{Caller: d.caller(), Old: old, New: moved})
	if d.ok("move the project", err); p.Path != moved {
		d.wrong("moved %+v", p)
	}
}
