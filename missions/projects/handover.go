package projects

import (
	"fmt"
	"os"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
)

// Action is a restore, promotion, undo or redo that somebody has asked for, or the way into
// a side fork or out of it: exactly one member is set. It is kept in a mission's live state
// while it waits for the end of a turn or of the agent.
type Action struct {
	Restore *missions.RestoreRequest   `json:"restore,omitempty"` // its moment is the id of a snapshot
	Undo    *missions.UndoRequest      `json:"undo,omitempty"`
	Redo    *missions.UndoRequest      `json:"redo,omitempty"`
	Enter   *missions.EnterForkRequest `json:"enter,omitempty"` // of the mission that is parked
	Leave   *missions.LeaveForkRequest `json:"leave,omitempty"` // of the side fork
}

// PassesTerminal reports whether the keeper launches no agent of this mission after the
// action: another's, or none.
func (a Action) PassesTerminal() bool { return a.Enter != nil || a.Leave != nil }

// EndsTerminal reports whether the keeper ends after the action: a side fork that has a
// terminal of its own is left.
func (a Action) EndsTerminal() bool { return a.Leave != nil && a.Leave.Beside }

// NextMission is the mission that has the terminal after the action, "" if it is not known
// yet or the same.
func (a Action) NextMission() string {
	switch {
	case a.Enter != nil:
		return a.Enter.Fork
	case a.Leave != nil && !a.Leave.Beside:
		return a.Leave.Parent
	}
	return ""
}

// String is how the user would say it.
func (a Action) String() string {
	switch {
	case a.Kind() == "promote" && a.Restore != nil:
		return "promote " + a.Restore.Promotion.Name
	case a.Kind() == "merge":
		return "merge " + strings.Join(a.Restore.Merge.Names, " ")
	case a.Restore != nil:
		return fmt.Sprintf("restore %.10s", a.Restore.Moment)
	}
	return a.Kind()
}

func (a Action) Kind() string {
	switch {
	case a.Restore != nil && a.Restore.Promotion != nil:
		return "promote"
	case a.Restore != nil && a.Restore.Merge != nil:
		return "merge"
	case a.Restore != nil:
		return "restore"
	case a.Undo != nil:
		return "undo"
	case a.Enter != nil:
		return "fork enter"
	case a.Leave != nil && a.Leave.Promote != nil:
		return "promote"
	case a.Leave != nil:
		return "fork exit"
	}
	return "redo"
}

// Handover is a restore, undo or redo for which an agent under a keeper is ended
// and launched again, on the session that the mission goes on in then. It is in
// the mission's live state from before the agent is told to end until the keeper
// has launched one again, so that whoever dies meanwhile, another process knows
// what is to be done: the keeper asks when its agent has ended.
type Handover struct {
	ID        string     `json:"id"`
	LaunchID  string     `json:"launch"` // of the agent that is ended
	Action    Action     `json:"asked"`
	Queued    bool       `json:"queued,omitempty"` // it had waited for the end of the turn: nobody waits for its result
	Owner     lock.Owner `json:"owner"`            // the process that carries it out
	TipBefore string     `json:"from,omitempty"`   // the newest snapshot when it began
	// ToldToEnd says that the agent was told to end, and may be at it.
	ToldToEnd bool `json:"told,omitempty"`
	// Prepared says that all is done that an action which passes the terminal on does
	// while its agent still lives. Next is the mission whose agent the keeper launches
	// then, "" for the same again.
	Prepared bool   `json:"prepared,omitempty"`
	Next     string `json:"next,omitempty"`
	// Failed is why the agent of a side fork could not be started: it is left then.
	Failed string `json:"failed,omitempty"`
	// Done says that it was carried out, or has failed: the agent is launched
	// again, with Banner for its user.
	Done   bool   `json:"ended,omitempty"`
	Banner string `json:"banner,omitempty"`
	// NotTakenUp are the prompts that waited for the agent that was ended, which are in
	// the snapshot Waited too.
	NotTakenUp      []missions.Prompt `json:"not_taken_up,omitempty"`
	PromptsSnapshot string            `json:"waited,omitempty"`
}

// IsOpen reports whether there is a handover that has not been carried out.
func (h *Handover) IsOpen() bool { return h != nil && !h.Done }

// IsLeft reports whether a side fork has been left, or promoted, but for its agent's end: that
// is not asked for again where no keeper is left to pass the terminal on.
func (h *Handover) IsLeft() bool { return h.Prepared && h.Action.Leave != nil }

// IsHandoverOwned reports whether somebody is at a handover. That its process lives is not
// enough where that is this one, which may have let go of it.
func (d *Desk) IsHandoverOwned(h *Handover) bool {
	if !h.IsOpen() || h.Owner.Liveness() != lock.Alive {
		return false
	}
	_, here := d.Handovers.Load(h.ID)
	return here || h.Owner.PID != os.Getpid()
}

// String names what it is for, also where there is none.
func (h *Handover) String() string {
	if h == nil {
		return "what was asked for"
	}
	return h.Action.String()
}
