package missions

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/lock"
)

// live is what is known of a mission since its newest record: which processes
// it has, what its agent does now. It is written without fsync; losing it
// loses no snapshot, only the knowledge that a turn was running.
type live struct {
	// Base is the record that Lifecycle continues. If another record was
	// written since, the record's own lifecycle is newer.
	Base      string          `json:"base,omitempty"`
	Lifecycle json.RawMessage `json:"lifecycle,omitempty"`
	Since     time.Time       `json:"since"`
	LastTool  *ToolUse        `json:"last_tool,omitempty"`

	Keeper    *lock.Owner   `json:"keeper,omitempty"`
	Agent     *lock.Owner   `json:"agent,omitempty"`
	Named     bool          `json:"agent_named,omitempty"` // Agent is the process that its hooks have named, not just the keeper's child
	Hooked    bool          `json:"hooked,omitempty"`      // its agent reports by hooks
	Numbering *numbering    `json:"numbering,omitempty"`
	Unheard   *unheard      `json:"unheard,omitempty"` // it was launched without
	Heard     time.Time     `json:"heard,omitzero"`    // the last time it did, and in which boot of the system
	Boot      string        `json:"boot,omitempty"`
	HeardUp   time.Duration `json:"heard_up,omitempty"` // the same time, as the system counts it that was not set
	Bound     string        `json:"bound,omitempty"`    // the session that $UMBRA_MISSION is valid for
	Root      string        `json:"agent_root,omitempty"`
	In        *heardIn      `json:"in,omitempty"` // where its agent was heard last

	// Provisional is the first snapshot of a headless session's mission, which is
	// published when a later one differs: most such sessions change nothing.
	Provisional string `json:"provisional,omitempty"`
	// Asked is such a session's last prompt.
	Asked *Prompt `json:"asked,omitempty"`
	// Name is what an adopted mission's first prompt names it, until it does.
	Name string `json:"name,omitempty"`

	// Told counts a conversation that only hooks tell of, until a record does.
	Told *tallied `json:"told,omitempty"`
	// Config is the version of the agent's configuration, until a record says it.
	Config string `json:"config_commit,omitempty"`

	Open []ToolUse `json:"open,omitempty"` // calls of the turn whose end was not heard, oldest first

	Seen    []string `json:"seen,omitempty"`    // ids of events already handled, newest last
	Problem string   `json:"problem,omitempty"` // the last hook that went wrong
	Away    string   `json:"away,omitempty"`    // where its agent was heard last, outside of its workspace
	Owed    *debt    `json:"owed,omitempty"`    // the last snapshot that there was no room for
	Unsaved string   `json:"unsaved,omitempty"` // why prompts are not kept, as their user was told, until a snapshot is taken
	Refused *refused `json:"refused,omitempty"` // the last call that could not be read
	Client  string   `json:"client,omitempty"`  // the agent's version

	TurnOf   string  `json:"turn_of,omitempty"`   // the session of the last prompt, the user's or the agent's own
	PromptID string  `json:"prompt_id,omitempty"` // and its id
	Begun    instant `json:"begun,omitzero"`      // when it was heard, or the turn went on
	Prompted instant `json:"prompted,omitzero"`   // when the last of the user's was

	Child    *lock.Owner `json:"child,omitempty"`    // the keeper's own child: the agent, or what it was started by
	Launch   string      `json:"launch,omitempty"`   // the newest that the keeper was given
	Over     string      `json:"over,omitempty"`     // the launch whose agent's end its keeper has told
	Launched instant     `json:"launched,omitzero"`  // when that was
	Spoke    bool        `json:"spoke,omitempty"`    // its agent was heard in a turn since
	Ended    *lock.Owner `json:"ended,omitempty"`    // the agent whose end its keeper has told
	Pending  *asked      `json:"queued,omitempty"`   // for the end of the turn
	Handover *handover   `json:"handover,omitempty"` // from before the agent is ended until there is one again
	Notice   string      `json:"notice,omitempty"`   // for the user, where the agent can show it when it is there again
	// NotRestored is why a queued restore was not done.
	NotRestored string `json:"not_restored,omitempty"`
}

// heardIn is the session that a process was heard in. It stays in it until it is heard in
// another one, whichever the mission goes on in meanwhile.
type heardIn struct {
	PID     int    `json:"pid"`
	Session string `json:"session"`
}

// isIn reports whether the mission's agent lives and is in that session now.
func (l *live) isIn(session string) bool {
	return l.In != nil && l.In.Session == session && l.speaksFrom(l.In.PID)
}

// mostSeen bounds the event ids remembered: more than one answer's tools.
const mostSeen = 128

// firstTime reports whether the event with this id is new, and remembers it.
// Events without an id are always new.
func (l *live) firstTime(id string) bool {
	if id == "" {
		return true
	}
	if slices.Contains(l.Seen, id) {
		return false
	}
	l.Seen = append(l.Seen, id)
	if extra := len(l.Seen) - mostSeen; extra > 0 {
		l.Seen = slices.Delete(l.Seen, 0, extra)
	}
	return true
}

// asked notes a prompt of a mission that has no record of it yet, or no name.
func (m *loaded) asked() {
	if m.live.Provisional != "" {
		m.live.Asked = m.LastPrompt
	}
	if m.Unnamed && m.live.Name == "" {
		m.live.Name = nameFromPrompt(m.LastPrompt.Text)
	}
}

// process returns the mission's process that lives, its agent's first.
func (l *live) process() (lock.Owner, bool) {
	if alive := l.processes(); len(alive) > 0 {
		return alive[0], true
	}
	return lock.Owner{}, false
}

// processes are those of the mission's processes that live, its agent's first.
func (l *live) processes() (alive []Process) {
	for _, p := range []*lock.Owner{l.Agent, l.Keeper} {
		if p != nil && p.Liveness() == lock.Alive {
			alive = append(alive, *p)
		}
	}
	return alive
}

// liveness is Alive if one of the mission's processes is, Gone if none is and
// one is known to be gone, and Unknown if nothing is known of any.
func (l *live) liveness() lock.Liveness {
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

// boot is the boot of the system in which the mission was last heard of.
func (l *live) boot() string {
	for _, p := range []*lock.Owner{l.Agent, l.Keeper} {
		if p != nil && p.Boot != "" {
			return p.Boot
		}
	}
	return l.Boot
}

// kept reports whether a keeper owns the agent's terminal now.
func (l *live) kept() bool { return l.Keeper != nil && l.Keeper.Liveness() == lock.Alive }

// orphaned reports whether the agent lives that a keeper has started and which is gone:
// nobody sees its terminal.
func (l *live) orphaned() bool {
	gone := l.Keeper != nil && l.Keeper.Liveness() == lock.Gone
	return gone && l.Child != nil && l.Child.Liveness() == lock.Alive
}
