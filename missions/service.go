// Package missions has the words of the domain: agents at work in workspaces, their
// lifecycle, their snapshots, restores and forks. Service is the one API of the command
// line, the terminal interface and the daemon; the packages below this one carry it out.
// It stores nothing, prints nothing, and reads neither the process's environment nor its
// terminal.
package missions

import "context"

// Service is everything Umbra does. It has two implementations, in process and
// over the daemon's socket, held to one contract by one suite. Methods are safe
// for concurrent use; every error is or wraps an *Error where the user can do
// something about it. Progress is told through WithNotify's function, on the
// goroutine that called.
type Service interface {
	Missions
	Launches
	Forks
	Landings
	Updates
	Imports
	Remotes
	Removals
	Snapshots
	Restores
	History
	Authorship
	Searches
	Hooks
	Upkeep
}

// Missions are the missions that there are.
type Missions interface {
	NewMission(context.Context, NewMissionRequest) (Mission, error)
	Missions(context.Context, MissionsRequest) ([]Mission, error)
	Mission(context.Context, MissionRequest) (Mission, error)
	Rename(context.Context, RenameRequest) (Mission, error)
}

// Launches start agents, keep them and stop them.
type Launches interface {
	Launch(context.Context, LaunchRequest) (Launch, error)
	Keep(context.Context, KeepRequest) (KeepResult, error)
	Wait(context.Context, WaitRequest) ([]Mission, error)
	Stop(context.Context, StopRequest) ([]Mission, error)
}

// Forks begin missions where others are, or were, and bring what they did home.
type Forks interface {
	Fork(context.Context, ForkRequest) (ForkResult, error)
	Promote(context.Context, PromoteRequest) (PromoteResult, error)
	Merge(context.Context, MergeRequest) (MergeResult, error)
	Compare(context.Context, CompareRequest) ([]ComparedFork, error)
	EnterFork(context.Context, EnterForkRequest) (SideForkResult, error)
	LeaveFork(context.Context, LeaveForkRequest) (SideForkResult, error)
}

// Updates are what missions tell the agents of others.
type Updates interface {
	Report(context.Context, ReportRequest) (ReportResult, error)
	Updates(context.Context, UpdatesRequest) ([]Update, error)
	ClearUpdates(context.Context, UpdatesRequest) ([]Update, error)
}

// Removals put missions into the trash, bring them back and empty it.
type Removals interface {
	Remove(context.Context, RemoveRequest) (RemoveResult, error)
	Unremove(context.Context, UnremoveRequest) (Mission, error)
	Trash(context.Context, TrashRequest) (TrashResult, error)
}

// Snapshots are taken by hand, and named.
type Snapshots interface {
	Snapshot(context.Context, SnapshotRequest) (Entry, error)
	Pin(context.Context, PinRequest) (Pin, error)
	Unpin(context.Context, PinRequest) (Pin, error)
	Pins(context.Context, PinsRequest) ([]Pin, error)
}

// Restores put a moment back, and undo that.
type Restores interface {
	Restore(context.Context, RestoreRequest) (RestoreResult, error)
	Undo(context.Context, UndoRequest) (RestoreResult, error)
	Redo(context.Context, UndoRequest) (RestoreResult, error)
	Cancel(context.Context, CancelRequest) (Canceled, error)
}

// History reads what snapshots hold.
type History interface {
	Log(context.Context, LogRequest) ([]Entry, error)
	Show(context.Context, ShowRequest) (ShowResult, error)
	Cat(context.Context, CatRequest) ([]byte, error)
	Diff(context.Context, DiffRequest) (Difference, error)
	Resolve(context.Context, ResolveRequest) (ResolveResult, error)
	Forget(context.Context, ForgetRequest) (Holders, error)
}

// Hooks are what agents, editors and Git call, and how they come to.
type Hooks interface {
	Hook(context.Context, HookRequest) (HookResult, error)
	InstallHooks(context.Context, HooksRequest) (HooksResult, error)
	UninstallHooks(context.Context, HooksRequest) (HooksResult, error)
	HooksStatus(context.Context, HooksRequest) (HooksResult, error)
	HooksList(context.Context, HooksListRequest) ([]HooksResult, error)
}

// Upkeep is about the home as a whole.
type Upkeep interface {
	Projects(context.Context, ProjectsRequest) ([]Project, error)
	MoveProject(context.Context, MoveProjectRequest) (Project, error)
	Status(context.Context, StatusRequest) (Status, error)
	Doctor(context.Context, DoctorRequest) (DoctorResult, error)
	Usage(context.Context, UsageRequest) (Usage, error)
	Prune(context.Context, PruneRequest) (PruneResult, error)
}

// Caller is who asks, and from where: names and defaults are resolved against
// it, since a daemon's own directory and environment mean nothing.
type Caller struct {
	Cwd     string            `json:"cwd"`     // absolute, as the shell says it
	Mission string            `json:"mission"` // $UMBRA_MISSION
	Env     map[string]string `json:"env"`     // only the variables of CallerVariables
	Binary  string            `json:"binary"`  // how hooks name umbra; "" if it has no lasting path (go run)
}
