package projects

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/sessions"
)

// Live is what is known of a mission since its newest record, in four documents. It is
// written without fsync; losing it loses no snapshot, only the knowledge that a turn was
// running.
type Live struct {
	ProcessState `json:"process,omitzero"`
	TurnState    `json:"turn,omitzero"`
	SessionState `json:"session,omitzero"`
	WaitingState `json:"waiting,omitzero"`
}

// ProcessState is what is known of the processes of a mission, and of its launches.
type ProcessState struct {
	Keeper      *lock.Owner `json:"keeper,omitempty"`
	KeeperChild *lock.Owner `json:"child,omitempty"` // the agent, or a script that starts the agent
	KeeperPath  string      `json:"path,omitempty"`  // the PATH in which the keeper looks for programs
	Agent       *lock.Owner `json:"agent,omitempty"`
	AgentNamed  bool        `json:"agent_named,omitempty"` // a hook named Agent; else it is the keeper's child
	EndedAgent  *lock.Owner `json:"ended,omitempty"`       // the agent whose end its keeper has reported
	AgentRoot   string      `json:"agent_root,omitempty"`

	LaunchID         string  `json:"launch,omitempty"`   // of the newest launch that the keeper was given
	Headless         bool    `json:"headless,omitempty"` // the newest launch was without a terminal
	EndedLaunch      string  `json:"over,omitempty"`     // the launch whose agent's end its keeper has reported
	LaunchedAt       instant `json:"launched,omitzero"`  // when the newest launch was
	HeardSinceLaunch bool    `json:"spoke,omitempty"`    // the agent was heard in a turn since the newest launch
	Boot             string  `json:"boot,omitempty"`     // the boot of the system that the instants are of
	ClientVersion    string  `json:"client,omitempty"`   // the agent's version

	Places WorkPlaces `json:"places,omitzero"`
}

// WorkPlaces are the directories that an agent and its subagents have worked in since the
// agent was started.
type WorkPlaces struct {
	Agent    WorkPlace   `json:"agent,omitzero"`    // where the agent was heard last
	Subagent WorkPlace   `json:"subagent,omitzero"` // the last where no snapshot holds what a subagent writes
	InTurn   []WorkPlace `json:"in_turn,omitempty"` // those that were looked at in this turn

	SaidDirs     []string `json:"said,omitempty"`          // the agent's, as its user was told
	SaidSubagent bool     `json:"said_subagent,omitempty"` // its user was told of a subagent's
}

// WorkPlace is a directory that an agent works in.
type WorkPlace struct {
	Dir    string       `json:"dir,omitempty"`     // "" for the root of the workspace
	Unkept UnkeptReason `json:"unkept,omitempty"`  // why no snapshot holds what is written there; "" if snapshots do
	KeptBy string       `json:"kept_by,omitempty"` // the id of the mission whose snapshots do, where it is another one
}

// UnkeptReason is why no snapshot holds what is written in a directory.
type UnkeptReason string

// The reasons.
const (
	UnkeptOutside  UnkeptReason = "outside"  // it is outside of the mission's workspace
	UnkeptWorktree UnkeptReason = "worktree" // it is in another worktree of the workspace's repository
	UnkeptIgnored  UnkeptReason = "ignored"  // it is ignored
)

// TurnState is the lifecycle since the newest record, and what is known of the turn.
type TurnState struct {
	// BaseRecord is the record that LifecycleJSON continues. If another record was
	// written since, the record's own lifecycle is newer.
	BaseRecord    string          `json:"base,omitempty"`
	LifecycleJSON json.RawMessage `json:"lifecycle,omitempty"`
	StateSince    time.Time       `json:"since,omitzero"`

	TurnSession string             `json:"session,omitempty"`   // the session of the last prompt, the user's or the agent's own
	PromptID    string             `json:"prompt_id,omitempty"` // the id of that prompt
	TurnBegan   instant            `json:"begun,omitzero"`      // when that prompt was heard, or the turn went on
	PromptedAt  instant            `json:"prompted,omitzero"`   // when the user's last prompt was heard
	LastTool    *missions.ToolUse  `json:"last_tool,omitempty"`
	OpenTools   []missions.ToolUse `json:"open,omitempty"` // calls of the turn whose end was not heard, oldest first
	// Makers are the tool calls that may have changed files since the newest snapshot.
	Makers []Maker `json:"makers,omitempty"`
	// CommandAt is when a command of Umbra's was heard last that the user typed in the agent:
	// its client is busy until that is answered.
	CommandAt time.Time `json:"commanded,omitzero"`
}

// Maker is a tool call that may change files.
type Maker struct {
	missions.ToolUse
	Ended bool `json:"ended,omitempty"`
}

// SessionState is what is known of the mission's session, and how its agent reports.
type SessionState struct {
	HasHooks       bool            `json:"hooks,omitempty"`         // the agent reports by hooks
	MissingHooks   *MissingHooks   `json:"missing_hooks,omitempty"` // the agent was launched without hooks
	LastHookAt     time.Time       `json:"heard,omitzero"`
	LastHookUptime time.Duration   `json:"heard_up,omitempty"` // how long the system had been up then
	SeenEvents     []string        `json:"seen,omitempty"`     // ids of events already handled, newest last
	BoundSession   string          `json:"bound,omitempty"`    // the session that $UMBRA_MISSION is valid for
	ProcessSession *ProcessSession `json:"in,omitempty"`       // where the agent was heard last
	Numbering      *TurnNumbering  `json:"numbering,omitempty"`

	// ProvisionalSnapshot is the first snapshot of a headless session's mission, which is
	// published when a later one differs: most such sessions change nothing.
	ProvisionalSnapshot string           `json:"provisional,omitempty"`
	ProvisionalPrompt   *missions.Prompt `json:"asked,omitempty"` // the last prompt of such a session
	// PendingName is the name that the first prompt gives an adopted mission, until a
	// record has that name.
	PendingName string `json:"name,omitempty"`
	// HookTally counts a conversation that only hooks report, until a record has the count.
	HookTally *TallyProgress `json:"tally,omitempty"`
	// ConfigCommit is the version of the agent's configuration, until a record has it.
	ConfigCommit string `json:"config_commit,omitempty"`
}

// WaitingState is what waits to be done, or to be shown to the user.
type WaitingState struct {
	QueuedRestore     *Action       `json:"queued,omitempty"`       // for the end of the turn
	Handover          *Handover     `json:"handover,omitempty"`     // from before the agent is ended until it runs again
	SideFork          *SideFork     `json:"side_fork,omitempty"`    // who has its terminal while it is parked
	Beside            bool          `json:"beside,omitempty"`       // it was entered from its parent, which goes on in its own terminal
	OwedSnapshot      *OwedSnapshot `json:"owed,omitempty"`         // the last snapshot that there was no room for
	SentPrompt        string        `json:"sent_prompt,omitempty"`  // what the newest launch sends, until the agent has taken it
	FirstPrompt       string        `json:"first_prompt,omitempty"` // the record's, whole, if there is a secret in it
	OwedAnswer        string        `json:"owed_answer,omitempty"`  // the launch whose answer its parent's agent is to be told
	Notice            string        `json:"notice,omitempty"`       // for the user, when the agent runs again and can show it
	NotRestoredReason string        `json:"not_restored,omitempty"`
	Problem           string        `json:"problem,omitempty"`      // the last hook that went wrong
	UnsavedReason     string        `json:"unsaved,omitempty"`      // why prompts are not kept, as the user was told, until a snapshot is taken
	RefusedCall       *RefusedCall  `json:"refused_call,omitempty"` // the last call of a hook that could not be read
}

// Process is an agent's process, or its keeper's. It is still told apart when its
// pid has been used again.
type Process = lock.Owner

// ProcessSession is the session that a process was heard in. It stays in it until it is heard in
// another one, whichever the mission goes on in meanwhile.
type ProcessSession struct {
	PID     int    `json:"pid"`
	Session string `json:"session"`
}

// OwedSnapshot is a snapshot that was asked for and not taken, for want of room. It is part of
// what is known of a mission beyond its record: whichever process serves pays.
type OwedSnapshot struct {
	Take missions.TakeSnapshot `json:"take"`
	Tip  string                `json:"tip"` // the mission's newest snapshot then
}

// RefusedCall is a call of a hook that told nothing, since it could not be read. What it was
// about is lost: of a prompt, the snapshot before its turn.
type RefusedCall struct {
	At  time.Time `json:"at"`
	Why string    `json:"why"`
}

func (r RefusedCall) String() string {
	return "a call of a hook could not be read at " + r.At.Local().Format(time.DateTime) + ", and what it told is lost: " + r.Why
}

// MissingHooks is why an agent was launched without hooks, and how many prompts the mission's
// conversation had then. The launch says it too, but on the screen that the agent takes.
type MissingHooks struct {
	Reason  string `json:"why"`
	Session string `json:"session,omitempty"`
	Prompts int    `json:"prompts,omitempty"`
}

// TurnNumbering is how the turns of an agent that was launched without hooks are numbered: the
// prompt after the first Prompts of the session begins the turn after Turn. That is the
// same however often it is asked, so that a snapshot which fails numbers none twice. At the
// launch it is empty.
type TurnNumbering struct {
	Session     string `json:"session,omitempty"`
	Turn        int    `json:"turn"`
	Prompts     int    `json:"prompts"`
	SeenPrompts int    `json:"seen"` // prompts of the session, when it was counted last
}

// IsInSession reports whether the mission's agent lives and is in that session now.
func (l *Live) IsInSession(session string) bool {
	return l.ProcessSession != nil && l.ProcessSession.Session == session && l.IsAgentProcess(l.ProcessSession.PID)
}

// IsAgentProcess reports whether the mission's agent is the process with this pid.
func (l *ProcessState) IsAgentProcess(pid int) bool {
	return l.Agent != nil && l.Agent.PID == pid && l.Agent.Liveness() == lock.Alive
}

// maxSeenEvents bounds the event ids remembered: more than one answer's tools.
const maxSeenEvents = 128

// MarkEventSeen reports whether the event with this id is new, and remembers it.
// Events without an id are always new.
func (l *SessionState) MarkEventSeen(id string) bool {
	if id == "" {
		return true
	}
	if slices.Contains(l.SeenEvents, id) {
		return false
	}
	l.SeenEvents = append(l.SeenEvents, id)
	if extra := len(l.SeenEvents) - maxSeenEvents; extra > 0 {
		l.SeenEvents = slices.Delete(l.SeenEvents, 0, extra)
	}
	return true
}

// TrackOpenCalls keeps the calls of the turn whose end was not heard yet. Not each is told: the
// next prompt forgets them.
func (l *TurnState) TrackOpenCalls(e sessions.Event) {
	ended := func(t missions.ToolUse) bool {
		return t.ID == e.Tool.ID && (t.ID != "" || t.Name == e.Tool.Name || e.Tool.Name == "")
	}
	switch e.Kind {
	case sessions.KindPrompt:
		l.OpenTools = nil
	case sessions.KindToolBefore:
		l.OpenTools = append(l.OpenTools, *l.LastTool)
		l.OpenTools = l.OpenTools[max(0, len(l.OpenTools)-maxSeenEvents):]
	case sessions.KindToolAfter:
		l.OpenTools = slices.DeleteFunc(l.OpenTools, ended)
	}
}

// LivingProcess returns the mission's process that lives, its agent's first.
func (l *ProcessState) LivingProcess() (lock.Owner, bool) {
	if alive := l.LivingProcesses(); len(alive) > 0 {
		return alive[0], true
	}
	return lock.Owner{}, false
}

// LivingProcesses are those of the mission's processes that live, its agent's first.
func (l *ProcessState) LivingProcesses() (alive []Process) {
	for _, p := range []*lock.Owner{l.Agent, l.Keeper} {
		if p != nil && p.Liveness() == lock.Alive {
			alive = append(alive, *p)
		}
	}
	return alive
}

// Liveness is Alive if one of the mission's processes is, Gone if none is and
// one is known to be gone, and Unknown if nothing is known of any.
func (l *ProcessState) Liveness() lock.Liveness {
	known := lock.Unknown
	for _, p := range []*lock.Owner{l.Agent, l.Keeper} {
		if p == nil {
			continue
		}
		switch p.Liveness() {
		case lock.Alive:
			return lock.Alive
		case lock.Gone:
			known = lock.Gone
		}
	}
	return known
}

// LastBoot is the boot of the system in which the mission was last heard of.
func (l *ProcessState) LastBoot() string {
	for _, p := range []*lock.Owner{l.Agent, l.Keeper} {
		if p != nil && p.Boot != "" {
			return p.Boot
		}
	}
	return l.Boot
}

// HasKeeper reports whether a keeper owns the agent's terminal now.
func (l *ProcessState) HasKeeper() bool { return l.Keeper != nil && l.Keeper.Liveness() == lock.Alive }

// IsOrphaned reports whether the agent lives that a keeper has started and which is gone:
// nobody sees its terminal.
func (l *ProcessState) IsOrphaned() bool {
	gone := l.Keeper != nil && l.Keeper.Liveness() == lock.Gone
	return gone && l.KeeperChild != nil && l.KeeperChild.Liveness() == lock.Alive
}

// WaitsForHandover reports whether the keeper of this launch, whose agent has ended, waits
// to launch the agent again. An agent without a terminal is ended for good: launched
// again it would have no prompt to answer.
func (l *Live) WaitsForHandover(launch string) bool {
	h := l.Handover
	return h != nil && h.LaunchID == launch && !(h.Done && l.Headless)
}
