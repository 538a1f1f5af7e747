package projects

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
)

// Live is what is known of a mission since its newest record: which processes
// it has, what its agent does now. It is written without fsync; losing it
// loses no snapshot, only the knowledge that a turn was running.
type Live struct {
	// BaseRecord is the record that Lifecycle continues. If another record was
	// written since, the record's own lifecycle is newer.
	BaseRecord    string            `json:"base,omitempty"`
	LifecycleJSON json.RawMessage   `json:"lifecycle,omitempty"`
	StateSince    time.Time         `json:"since"`
	LastTool      *missions.ToolUse `json:"last_tool,omitempty"`

	Keeper         *lock.Owner     `json:"keeper,omitempty"`
	Agent          *lock.Owner     `json:"agent,omitempty"`
	AgentNamed     bool            `json:"agent_named,omitempty"` // Agent is the process that its hooks have named, not just the keeper's child
	HasHooks       bool            `json:"hooked,omitempty"`      // its agent reports by hooks
	Numbering      *TurnNumbering  `json:"numbering,omitempty"`
	MissingHooks   *MissingHooks   `json:"unheard,omitempty"` // it was launched without
	LastHookAt     time.Time       `json:"heard,omitzero"`    // the last time it did, and in which boot of the system
	Boot           string          `json:"boot,omitempty"`
	LastHookUptime time.Duration   `json:"heard_up,omitempty"` // the same time, as the system counts it that was not set
	BoundSession   string          `json:"bound,omitempty"`    // the session that $UMBRA_MISSION is valid for
	AgentRoot      string          `json:"agent_root,omitempty"`
	ProcessSession *ProcessSession `json:"in,omitempty"` // where its agent was heard last

	// ProvisionalSnapshot is the first snapshot of a headless session's mission, which is
	// published when a later one differs: most such sessions change nothing.
	ProvisionalSnapshot string `json:"provisional,omitempty"`
	// ProvisionalPrompt is such a session's last prompt.
	ProvisionalPrompt *missions.Prompt `json:"asked,omitempty"`
	// PendingName is what an adopted mission's first prompt names it, until it does.
	PendingName string `json:"name,omitempty"`

	// HookTally counts a conversation that only hooks tell of, until a record does.
	HookTally *TallyProgress `json:"told,omitempty"`
	// ConfigCommit is the version of the agent's configuration, until a record says it.
	ConfigCommit string `json:"config_commit,omitempty"`

	OpenTools []missions.ToolUse `json:"open,omitempty"` // calls of the turn whose end was not heard, oldest first

	SeenEvents    []string      `json:"seen,omitempty"`    // ids of events already handled, newest last
	Problem       string        `json:"problem,omitempty"` // the last hook that went wrong
	OutsideDir    string        `json:"away,omitempty"`    // where its agent was heard last, outside of its workspace
	OwedSnapshot  *OwedSnapshot `json:"owed,omitempty"`    // the last snapshot that there was no room for
	UnsavedReason string        `json:"unsaved,omitempty"` // why prompts are not kept, as their user was told, until a snapshot is taken
	RefusedCall   *RefusedCall  `json:"refused,omitempty"` // the last call that could not be read
	ClientVersion string        `json:"client,omitempty"`  // the agent's version

	TurnSession string  `json:"turn_of,omitempty"`   // the session of the last prompt, the user's or the agent's own
	PromptID    string  `json:"prompt_id,omitempty"` // and its id
	TurnBegan   instant `json:"begun,omitzero"`      // when it was heard, or the turn went on
	PromptedAt  instant `json:"prompted,omitzero"`   // when the last of the user's was

	KeeperChild      *lock.Owner `json:"child,omitempty"`    // the keeper's own child: the agent, or what it was started by
	LaunchID         string      `json:"launch,omitempty"`   // the newest that the keeper was given
	EndedLaunch      string      `json:"over,omitempty"`     // the launch whose agent's end its keeper has told
	LaunchedAt       instant     `json:"launched,omitzero"`  // when that was
	HeardSinceLaunch bool        `json:"spoke,omitempty"`    // its agent was heard in a turn since
	EndedAgent       *lock.Owner `json:"ended,omitempty"`    // the agent whose end its keeper has told
	QueuedRestore    *Action     `json:"queued,omitempty"`   // for the end of the turn
	Handover         *Handover   `json:"handover,omitempty"` // from before the agent is ended until there is one again
	Notice           string      `json:"notice,omitempty"`   // for the user, where the agent can show it when it is there again
	// NotRestoredReason is why a queued restore was not done.
	NotRestoredReason string `json:"not_restored,omitempty"`
}

// ProcessSession is the session that a process was heard in. It stays in it until it is heard in
// another one, whichever the mission goes on in meanwhile.
type ProcessSession struct {
	PID     int    `json:"pid"`
	Session string `json:"session"`
}

// IsInSession reports whether the mission's agent lives and is in that session now.
func (l *Live) IsInSession(session string) bool {
	return l.ProcessSession != nil && l.ProcessSession.Session == session && l.IsAgentProcess(l.ProcessSession.PID)
}

// maxSeenEvents bounds the event ids remembered: more than one answer's tools.
const maxSeenEvents = 128

// MarkEventSeen reports whether the event with this id is new, and remembers it.
// Events without an id are always new.
func (l *Live) MarkEventSeen(id string) bool {
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

// NoteUnrecordedPrompt notes a prompt of a mission that has no record of it yet, or no name.
func (m *Mission) NoteUnrecordedPrompt() {
	if m.Live.ProvisionalSnapshot != "" {
		m.Live.ProvisionalPrompt = m.LastPrompt
	}
	if m.Unnamed && m.Live.PendingName == "" {
		m.Live.PendingName = missions.NameFromPrompt(m.LastPrompt.Text)
	}
}

// LivingProcess returns the mission's process that lives, its agent's first.
func (l *Live) LivingProcess() (lock.Owner, bool) {
	if alive := l.LivingProcesses(); len(alive) > 0 {
		return alive[0], true
	}
	return lock.Owner{}, false
}

// LivingProcesses are those of the mission's processes that live, its agent's first.
func (l *Live) LivingProcesses() (alive []Process) {
	for _, p := range []*lock.Owner{l.Agent, l.Keeper} {
		if p != nil && p.Liveness() == lock.Alive {
			alive = append(alive, *p)
		}
	}
	return alive
}

// Liveness is Alive if one of the mission's processes is, Gone if none is and
// one is known to be gone, and Unknown if nothing is known of any.
func (l *Live) Liveness() lock.Liveness {
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
func (l *Live) LastBoot() string {
	for _, p := range []*lock.Owner{l.Agent, l.Keeper} {
		if p != nil && p.Boot != "" {
			return p.Boot
		}
	}
	return l.Boot
}

// HasKeeper reports whether a keeper owns the agent's terminal now.
func (l *Live) HasKeeper() bool { return l.Keeper != nil && l.Keeper.Liveness() == lock.Alive }

// IsOrphaned reports whether the agent lives that a keeper has started and which is gone:
// nobody sees its terminal.
func (l *Live) IsOrphaned() bool {
	gone := l.Keeper != nil && l.Keeper.Liveness() == lock.Gone
	return gone && l.KeeperChild != nil && l.KeeperChild.Liveness() == lock.Alive
}
