package missions

import (
	"context"
)

// A Relay is a Service whose methods all hand their calls to one function. It fills in
// result; request and result are pointers, as Method.New makes them.
//
// Its methods are the table of Service, a row each: the gate, the client and the daemon
// know of a method what its row says. A new method is a line of the interface, what
// carries it out, and a row. Rows that neither grow nor change pass the Gate: an agent
// waits for the answer to its event, and a snapshot for it is refused where it is taken.
type Relay struct {
	reads
	acts
}

type (
	reads func(ctx context.Context, m Method, request, result any) error // the rows that change nothing
	acts  func(ctx context.Context, m Method, request, result any) error // all others
)

// NewRelay makes a Relay that hands its calls to a function.
func NewRelay(pass func(ctx context.Context, m Method, request, result any) error) Relay {
	return Relay{reads: pass, acts: pass}
}

var _ Service = Relay{}

func (r acts) NewMission(ctx context.Context, q NewMissionRequest) (Mission, error) {
	return method("new_mission", Grows, Service.NewMission).unsure("the mission was made", "umbra mission ls shows it if it was").by(ctx, r, q)
}

func (r reads) Missions(ctx context.Context, q MissionsRequest) ([]Mission, error) {
	return method("missions", Reads, Service.Missions).by(ctx, r, q)
}

func (r reads) Mission(ctx context.Context, q MissionRequest) (Mission, error) {
	return method("mission", Reads, Service.Mission).by(ctx, r, q)
}

func (r acts) Rename(ctx context.Context, q RenameRequest) (Mission, error) {
	return method("rename", Grows, Service.Rename).unsure("the mission was renamed", "umbra mission ls shows its name").by(ctx, r, q)
}

func (r acts) Launch(ctx context.Context, q LaunchRequest) (Launch, error) {
	return method("launch", Grows, Service.Launch).unsure("the agent may start", "umbra mission resume starts it").by(ctx, r, q)
}

func (r acts) Keep(ctx context.Context, q KeepRequest) (KeepResult, error) {
	return method("keep", Repeats, Service.Keep).by(ctx, r, q)
}

func (r reads) Wait(ctx context.Context, q WaitRequest) ([]Mission, error) {
	return method("wait", Reads, Service.Wait).by(ctx, r, q)
}

func (r acts) Stop(ctx context.Context, q StopRequest) ([]Mission, error) {
	return method("stop", Changes|Repeats, Service.Stop).by(ctx, r, q)
}

func (r acts) Fork(ctx context.Context, q ForkRequest) (ForkResult, error) {
	return method("fork", Grows, Service.Fork).unsure("the fork was made", "umbra mission ls shows it if it was; one half made is taken away").by(ctx, r, q)
}

func (r acts) Promote(ctx context.Context, q PromoteRequest) (PromoteResult, error) {
	return method("promote", Grows, Service.Promote).
		unsure("the fork was promoted", shownByOps("undo")).by(ctx, r, q)
}

func (r acts) Merge(ctx context.Context, q MergeRequest) (MergeResult, error) {
	return method("merge", Grows, Service.Merge).unsure("the merge was done", "umbra merge --status shows it if it still waits").by(ctx, r, q)
}

func (r reads) Compare(ctx context.Context, q CompareRequest) ([]ComparedFork, error) {
	return method("compare", Reads, Service.Compare).by(ctx, r, q)
}

func (r reads) PlanLanding(ctx context.Context, q LandingRequest) (LandingPlan, error) {
	return method("plan_landing", Reads, Service.PlanLanding).by(ctx, r, q)
}

func (r acts) EnterFork(ctx context.Context, q EnterForkRequest) (SideForkResult, error) {
	return method("enter_fork", Grows, Service.EnterFork).unsure("the side fork was entered", "umbra mission ls --tree shows it if it was").by(ctx, r, q)
}

func (r acts) LeaveFork(ctx context.Context, q LeaveForkRequest) (SideForkResult, error) {
	return method("leave_fork", Changes, Service.LeaveFork).unsure("the side fork was left", "umbra mission ls --tree shows it if it was").by(ctx, r, q)
}

func (r acts) Report(ctx context.Context, q ReportRequest) (ReportResult, error) {
	return method("report", Changes|Repeats, Service.Report).by(ctx, r, q)
}

func (r reads) Updates(ctx context.Context, q UpdatesRequest) ([]Update, error) {
	return method("updates", Reads, Service.Updates).by(ctx, r, q)
}

func (r acts) ClearUpdates(ctx context.Context, q UpdatesRequest) ([]Update, error) {
	return method("clear_updates", Changes|Repeats, Service.ClearUpdates).by(ctx, r, q)
}

func (r acts) Import(ctx context.Context, q ImportRequest) (ImportResult, error) {
	return method("import", Grows|Repeats, Service.Import).by(ctx, r, q)
}

func (r acts) AddRemote(ctx context.Context, q AddRemoteRequest) (Remote, error) {
	return method("add_remote", Grows|Repeats, Service.AddRemote).by(ctx, r, q)
}

func (r acts) RemoveRemote(ctx context.Context, q RemoteRequest) (Remote, error) {
	return method("remove_remote", Changes, Service.RemoveRemote).unsure("the remote was removed", "umbra remote ls shows it if it was not").by(ctx, r, q)
}

func (r reads) Remotes(ctx context.Context, q RemoteRequest) ([]Remote, error) {
	return method("remotes", Reads, Service.Remotes).by(ctx, r, q)
}

func (r acts) Push(ctx context.Context, q PushRequest) (Transfer, error) {
	return method("push", Stores|Changes|Repeats, Service.Push).by(ctx, r, q)
}

func (r acts) Fetch(ctx context.Context, q FetchRequest) (Transfer, error) {
	return method("fetch", Grows|Repeats, Service.Fetch).by(ctx, r, q)
}

func (r acts) Export(ctx context.Context, q ExportRequest) (Transfer, error) {
	return method("export", Stores|Changes|Repeats, Service.Export).by(ctx, r, q)
}

func (r acts) ImportFile(ctx context.Context, q ImportFileRequest) (Transfer, error) {
	return method("import_file", Grows|Repeats, Service.ImportFile).by(ctx, r, q)
}

func (r acts) Remove(ctx context.Context, q RemoveRequest) (RemoveResult, error) {
	return method("remove", Changes, Service.Remove).
		unsure("the mission was removed", "umbra mission ls shows what is left; nothing is ever deleted").by(ctx, r, q)
}

func (r acts) Unremove(ctx context.Context, q UnremoveRequest) (Mission, error) {
	return method("unremove", Grows, Service.Unremove).unsure("the mission was taken back", "umbra mission ls shows it if it was").by(ctx, r, q)
}

func (r acts) Trash(ctx context.Context, q TrashRequest) (TrashResult, error) {
	return method("trash", Changes, Service.Trash).
		unsure("the trash was emptied", "umbra trash ls shows what is left; what is gone was in no mission any more").by(ctx, r, q)
}

func (r acts) Snapshot(ctx context.Context, q SnapshotRequest) (Entry, error) {
	return method("snapshot", Grows|Repeats, Service.Snapshot).by(ctx, r, q)
}

func (r acts) Pin(ctx context.Context, q PinRequest) (Pin, error) {
	return method("pin", Grows|Repeats, Service.Pin).by(ctx, r, q)
}

func (r acts) Unpin(ctx context.Context, q PinRequest) (Pin, error) {
	return method("unpin", Grows, Service.Unpin).unsure("the pin was taken away", "umbra pins shows what is left").by(ctx, r, q)
}

func (r reads) Pins(ctx context.Context, q PinsRequest) ([]Pin, error) {
	return method("pins", Reads, Service.Pins).by(ctx, r, q)
}

func (r acts) Restore(ctx context.Context, q RestoreRequest) (RestoreResult, error) {
	return method("restore", Grows, Service.Restore).
		unsure("the restore was done", shownByOps("undo")).by(ctx, r, q)
}

func (r acts) Undo(ctx context.Context, q UndoRequest) (RestoreResult, error) {
	return method("undo", Grows, Service.Undo).
		unsure("the undo was done", shownByOps("redo")).by(ctx, r, q)
}

func (r acts) Redo(ctx context.Context, q UndoRequest) (RestoreResult, error) {
	return method("redo", Grows, Service.Redo).
		unsure("the redo was done", shownByOps("undo")).by(ctx, r, q)
}

func (r acts) Cancel(ctx context.Context, q CancelRequest) (Canceled, error) {
	return method("cancel", Changes, Service.Cancel).unsure("the restore that waits was canceled", "umbra status shows it if it still waits").by(ctx, r, q)
}

func (r reads) Log(ctx context.Context, q LogRequest) ([]Entry, error) {
	return method("log", Reads, Service.Log).by(ctx, r, q)
}

func (r reads) Show(ctx context.Context, q ShowRequest) (ShowResult, error) {
	return method("show", Reads, Service.Show).by(ctx, r, q)
}

func (r reads) Cat(ctx context.Context, q CatRequest) ([]byte, error) {
	return method("cat", Reads, Service.Cat).by(ctx, r, q)
}

func (r reads) Diff(ctx context.Context, q DiffRequest) (Difference, error) {
	return method("diff", Reads, Service.Diff).by(ctx, r, q)
}

func (r reads) Blame(ctx context.Context, q BlameRequest) (Blame, error) {
	return method("blame", Reads, Service.Blame).by(ctx, r, q)
}

func (r reads) Search(ctx context.Context, q SearchRequest) (SearchResult, error) {
	return method("search", Reads, Service.Search).by(ctx, r, q)
}

func (r reads) Resolve(ctx context.Context, q ResolveRequest) (ResolveResult, error) {
	return method("resolve", Reads, Service.Resolve).by(ctx, r, q)
}

func (r reads) Forget(ctx context.Context, q ForgetRequest) (Holders, error) {
	return method("forget", Reads, Service.Forget).by(ctx, r, q)
}

func (r acts) Prune(ctx context.Context, q PruneRequest) (PruneResult, error) {
	return method("prune", Changes, Service.Prune).
		unsure("the old snapshots were dropped", "umbra prune --dry-run shows what would still go").by(ctx, r, q)
}

func (r acts) Hook(ctx context.Context, q HookRequest) (HookResult, error) {
	return method("hook", Stores|Repeats, Service.Hook).by(ctx, r, q)
}

func (r acts) InstallHooks(ctx context.Context, q HooksRequest) (HooksResult, error) {
	return method("install_hooks", Repeats, Service.InstallHooks).by(ctx, r, q)
}

func (r acts) UninstallHooks(ctx context.Context, q HooksRequest) (HooksResult, error) {
	return method("uninstall_hooks", Repeats, Service.UninstallHooks).by(ctx, r, q)
}

func (r reads) HooksStatus(ctx context.Context, q HooksRequest) (HooksResult, error) {
	return method("hooks_status", Reads, Service.HooksStatus).by(ctx, r, q)
}

func (r reads) HooksList(ctx context.Context, q HooksListRequest) ([]HooksResult, error) {
	return method("hooks_list", Reads, Service.HooksList).by(ctx, r, q)
}

func (r reads) Projects(ctx context.Context, q ProjectsRequest) ([]Project, error) {
	return method("projects", Reads, Service.Projects).by(ctx, r, q)
}

func (r acts) MoveProject(ctx context.Context, q MoveProjectRequest) (Project, error) {
	return method("move_project", Grows, Service.MoveProject).unsure("the project was moved", "umbra project ls shows where it is").by(ctx, r, q)
}

func (r reads) Status(ctx context.Context, q StatusRequest) (Status, error) {
	return method("status", Reads, Service.Status).by(ctx, r, q)
}

func (r acts) Doctor(ctx context.Context, q DoctorRequest) (DoctorResult, error) {
	return method("doctor", Stores|Changes|Repeats, Service.Doctor).by(ctx, r, q)
}

func (r reads) Usage(ctx context.Context, q UsageRequest) (Usage, error) {
	return method("usage", Reads, Service.Usage).by(ctx, r, q)
}

// shownByOps says how to find out whether an operation was done, and what takes it back.
func shownByOps(inverse string) string {
	return "umbra log --ops shows it if it was, umbra " + inverse + " takes it back; one half done is finished or taken back"
}
