// Package missions is the domain: agents at work in workspaces, their
// lifecycle, their snapshots, restores and forks. Service is the one API of
// the command line, the terminal interface and the daemon. It owns the rules
// and the order of things; it never prints, never reads the process's
// environment or terminal, and leaves bytes on disk to gitstore and sessions.
package missions

import (
	"context"
	"time"
)

// Service is everything Umbra does. It has two implementations, in process and
// over the daemon's socket, held to one contract by one suite. Methods are safe
// for concurrent use; every error is or wraps an *Error where the user can do
// something about it. Progress is told through WithNotify's function, on the
// goroutine that called.
type Service interface {
	Missions
	Launches
	Forks
	Removals
	Snapshots
	Restores
	History
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

// Forks begin missions where others are, or were.
type Forks interface {
	Fork(context.Context, ForkRequest) (ForkResult, error)
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
}

// Caller is who asks, and from where: names and defaults are resolved against
// it, since a daemon's own directory and environment mean nothing.
type Caller struct {
	Cwd     string            `json:"cwd"`     // absolute, as the shell says it
	Mission string            `json:"mission"` // $UMBRA_MISSION
	Env     map[string]string `json:"env"`     // only the variables of CallerVariables
	Binary  string            `json:"binary"`  // how hooks name umbra; "" if it has no lasting path (go run)
}

// NewMissionRequest asks for a mission without a parent.
type NewMissionRequest struct {
	Caller    Caller   `json:"caller"`
	Name      string   `json:"name,omitempty"`
	Agent     string   `json:"agent,omitempty"`
	Workspace string   `json:"workspace,omitempty"`
	Prompt    string   `json:"prompt,omitempty"`
	Command   []string `json:"command,omitempty"`
	EnvNames  []string `json:"env_names,omitempty"` // names of the variables given at launch
	Launching bool     `json:"launching"`           // a keeper will launch the agent at once
	Force     bool     `json:"force,omitempty"`     // take a root that is over the budget
}

// ForkRequest asks for missions that begin where another is, or was.
type ForkRequest struct {
	Caller    Caller        `json:"caller"`
	From      string        `json:"from"` // mission or moment; "" is the default mission now
	Name      string        `json:"name,omitempty"`
	Count     int           `json:"count"` // 0 is one, named without a number
	Workspace string        `json:"workspace,omitempty"`
	Prompt    string        `json:"prompt,omitempty"`
	Again     bool          `json:"again,omitempty"`
	Command   []string      `json:"command,omitempty"`
	EnvNames  []string      `json:"env_names,omitempty"`
	Ignored   string        `json:"ignored,omitempty"` // copy (default) or skip
	Config    string        `json:"config,omitempty"`  // of the agent: source (default), now, or a version's id
	NoWait    bool          `json:"no_wait,omitempty"`
	Timeout   time.Duration `json:"timeout,omitempty"` // of waiting for idle; 0 is 5 minutes
	Launching bool          `json:"launching"`
	Yes       bool          `json:"yes,omitempty"` // copy ignored files above the limit
	Force     bool          `json:"force,omitempty"`
}

// ForkResult is what a fork made.
type ForkResult struct {
	Missions []Mission    `json:"missions"`
	Source   Entry        `json:"source"`              // the snapshot it forked from
	LeftOut  []PathReason `json:"left,omitempty"`      // what could not come along, with reasons
	PointsIn []string     `json:"points_in,omitempty"` // ignored files that point back into the source
	Notes    []string     `json:"notes,omitempty"`
	// Fallback says that the commit of that moment is gone or not known: the fork's branch
	// starts at an ancestor of it.
	Fallback bool `json:"fallback,omitempty"`
}

// MissionsRequest lists missions.
type MissionsRequest struct {
	Caller Caller `json:"caller"`
	All    bool   `json:"all,omitempty"`
	Live   bool   `json:"live,omitempty"`
}

// MissionRequest names one mission; "" is the default one.
type MissionRequest struct {
	Caller Caller `json:"caller"`
	Name   string `json:"name"`
}

// LaunchRequest asks how to start a mission's agent.
type LaunchRequest struct {
	Caller    Caller   `json:"caller"`
	Mission   string   `json:"mission"`
	KeeperPID int      `json:"keeper_pid"` // who will run it: from now on the mission is that process's
	Resume    bool     `json:"resume"`     // false: its first start
	Prompt    string   `json:"prompt,omitempty"`
	Command   []string `json:"command,omitempty"`  // replaces the recorded one
	Config    string   `json:"config,omitempty"`   // of the agent: now, or a version's id; "" as it is
	Recreate  string   `json:"recreate,omitempty"` // another directory to put a lost workspace back into
	EnvNames  []string `json:"env_names,omitempty"`
}

// Launch is what a keeper runs.
type Launch struct {
	ID      string            `json:"id"` // tells this launch from others in a keeper's reports
	Mission Mission           `json:"mission"`
	Argv    []string          `json:"argv"`
	Dir     string            `json:"dir"`
	Env     map[string]string `json:"env"`             // added to the keeper's own environment
	Unset   []string          `json:"unset,omitempty"` // names taken out of that first
	Notes   []string          `json:"notes,omitempty"`
}

// KeepRequest is a keeper's report: its agent started (Ended false), or ended.
type KeepRequest struct {
	Caller    Caller `json:"caller"` // the keeper, as it asks to launch
	Mission   string `json:"mission"`
	Launch    string `json:"launch"` // the id of the launch that it is about
	KeeperPID int    `json:"keeper_pid"`
	AgentPID  int    `json:"agent_pid"`
	Ended     bool   `json:"ended"`
	ExitCode  int    `json:"exit_code"`
	// Failed says that the agent could not be started at all.
	Failed string `json:"failed,omitempty"`
}

// KeepResult tells a keeper what to do when its agent has ended.
type KeepResult struct {
	Do     string  `json:"do"` // exit, relaunch, or wait
	Launch *Launch `json:"launch,omitempty"`
	Banner string  `json:"banner,omitempty"` // lines for the agent's terminal
}

// What a keeper can be told to do.
const (
	DoExit     = "exit"
	DoRelaunch = "relaunch"
	DoWait     = "wait" // for the end of what the agent was ended for: ask again
)

// WaitRequest waits for missions to be in one of some states.
type WaitRequest struct {
	Caller   Caller        `json:"caller"`
	Missions []string      `json:"missions"`
	States   []StateName   `json:"states,omitempty"` // default idle, waiting, closed, error
	Any      bool          `json:"any,omitempty"`
	Timeout  time.Duration `json:"timeout,omitempty"` // 0: forever
}

// StopRequest stops the agents of missions.
type StopRequest struct {
	Caller   Caller   `json:"caller"`
	Missions []string `json:"missions"`
	Force    bool     `json:"force,omitempty"` // also where the agent's process is not known: it has ended
}

// RenameRequest renames a mission.
type RenameRequest struct {
	Caller  Caller `json:"caller"`
	Mission string `json:"mission"`
	Name    string `json:"name"`
}

// RemoveRequest removes missions. With Preview nothing is done; with Force an
// agent that is live is stopped first.
type RemoveRequest struct {
	Caller    Caller   `json:"caller"`
	Missions  []string `json:"missions"`
	Workspace bool     `json:"workspace,omitempty"`
	Preview   bool     `json:"preview,omitempty"`
	Force     bool     `json:"force,omitempty"`
}

// RemoveResult lists what was, or would be, removed, and what only exists there.
type RemoveResult struct {
	Missions        []Mission `json:"missions"`
	IgnoredFiles    []string  `json:"ignored_files,omitempty"`
	UnmergedCommits []string  `json:"unmerged_commits,omitempty"`
	Uncaptured      []string  `json:"uncaptured,omitempty"`
	OtherMissions   []string  `json:"other_missions,omitempty"` // that worked in a workspace which goes
	Trash           []string  `json:"trash,omitempty"`          // where things went
	Kept            []string  `json:"kept,omitempty"`           // and what stays, with the reason
}

// Add puts another removal's result behind this one's.
func (r *RemoveResult) Add(o RemoveResult) {
	r.Missions = append(r.Missions, o.Missions...)
	r.IgnoredFiles, r.UnmergedCommits, r.Uncaptured = append(r.IgnoredFiles, o.IgnoredFiles...), append(r.UnmergedCommits, o.UnmergedCommits...), append(r.Uncaptured, o.Uncaptured...)
	r.OtherMissions, r.Trash, r.Kept = append(r.OtherMissions, o.OtherMissions...), append(r.Trash, o.Trash...), append(r.Kept, o.Kept...)
}

// ProjectsRequest lists projects.
type ProjectsRequest struct {
	Caller Caller `json:"caller"`
}

// Project is the missions that share a shadow repository.
type Project struct {
	ID         string   `json:"id"`
	Name       string   `json:"name"`
	Path       string   `json:"path"`
	CommonDir  string   `json:"git_common_dir,omitempty"`
	ShadowRepo string   `json:"shadow_repo"`
	Missions   int      `json:"missions"`
	Live       int      `json:"live"`
	Problems   []string `json:"problems,omitempty"`
}

// MoveProjectRequest rebinds a project whose directory was moved.
type MoveProjectRequest struct {
	Caller Caller `json:"caller"`
	Old    string `json:"old"` // the directory, or the name of the project's own: what project ls calls it and its number
	New    string `json:"new"`
	Force  bool   `json:"force,omitempty"` // also where little of what was in Old is found
}

// SnapshotRequest takes a snapshot by hand.
type SnapshotRequest struct {
	Caller  Caller `json:"caller"`
	Mission string `json:"mission,omitempty"`
	Message string `json:"message,omitempty"`
	Pin     string `json:"pin,omitempty"`
	// ID tells the request when it is made again, because its answer was cut
	// off; it is kept with the snapshot. "" is one that is not made again.
	ID       string `json:"id,omitempty"`
	Repeated bool   `json:"repeated,omitempty"`
}

// MarkRepeated says that the request is made again.
func (r *SnapshotRequest) MarkRepeated() { r.Repeated = true }

// PinRequest names a moment and a pin.
type PinRequest struct {
	Caller Caller `json:"caller"`
	Moment string `json:"moment,omitempty"`
	Name   string `json:"name"`
}

// PinsRequest lists a project's pins.
type PinsRequest struct {
	Caller Caller `json:"caller"`
}

// Pin is a snapshot with a name.
type Pin struct {
	Name     string    `json:"name"`
	Snapshot string    `json:"snapshot"`
	Mission  string    `json:"mission"`
	Address  string    `json:"address"`
	At       time.Time `json:"at"`
	Message  string    `json:"message"`
}

// Notice is one line of progress, or a figure of it.
type Notice struct {
	Text  string `json:"text"`            // what is being done or waited for
	Done  int64  `json:"done,omitempty"`  // of Total, in Unit
	Total int64  `json:"total,omitempty"` // 0: unknown
	Unit  string `json:"unit,omitempty"`  // files, bytes
	// Bytes of TotalBytes is how much of the files' content that is, where it is
	// known.
	Bytes      int64 `json:"bytes,omitempty"`
	TotalBytes int64 `json:"total_bytes,omitempty"`
}

type notifyKey struct{}

// WithNotify returns a context whose calls report progress to fn.
func WithNotify(ctx context.Context, fn func(Notice)) context.Context {
	return context.WithValue(ctx, notifyKey{}, fn)
}

// Notify reports progress to the context's function, if it has one.
func Notify(ctx context.Context, n Notice) {
	if fn, ok := ctx.Value(notifyKey{}).(func(Notice)); ok {
		fn(n)
	}
}
