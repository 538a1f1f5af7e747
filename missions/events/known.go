package events

import (
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// Known is what is known of a mission when an event of an agent is heard: all that
// Interpret may look at beside the event.
type Known struct {
	Process KnownProcess
	Turn    KnownTurn
	Session KnownSession
	Waiting KnownWaiting
}

// KnownProcess is about the processes of the mission, and the one that the event is from.
type KnownProcess struct {
	Speaker          Speaker
	SpeakerLiveness  lock.Liveness // of the event's process, if the event names one
	SpeakerEnded     bool          // the keeper has reported the end of the process with the speaker's pid
	LaunchedFor      bool          // the event's environment names the mission
	HasKeeper        bool          // a keeper lives
	HadKeeper        bool          // a keeper is noted, be it gone
	Lives            bool          // the agent lives, or its keeper
	AgentNamed       bool          // a hook named the agent's process; else it is the keeper's child
	HeardSinceLaunch bool          // the agent was heard in a turn since its launch
}

// Speaker is the process that an event is from.
type Speaker int

// The speakers.
const (
	SpeakerUnnamed Speaker = iota // the event names no process
	SpeakerAgent                  // the mission's agent, which lives
	SpeakerOther                  // another process than the mission's agent, which lives
	SpeakerNew                    // a process, while no agent of the mission is known to live
)

// KnownTurn is about the mission's lifecycle and its last prompt.
type KnownTurn struct {
	Lifecycle missions.Lifecycle
	Session   string     // the session of the last prompt
	PromptID  string     // the id of the last prompt
	Shown     turnEnding // how the turn ended, as its session's file shows
}

// KnownSession is about the mission's conversation, and how its agent reports.
type KnownSession struct {
	ID        string
	Former    []string // the sessions that the mission has left
	HasHooks  bool     // the agent reports by hooks
	IsRepeat  bool     // the event was heard before
	Unknown   bool     // the event is from a tool that Umbra does not know
	Segmented bool     // the agent goes on in another file when its user goes back in the conversation
}

// KnownWaiting is about what is to be done in the mission.
type KnownWaiting struct {
	HasHandover bool
	EndingBlock string // why nothing may begin: Umbra is ending the agent
	Queued      string // what was queued for the end of the turn
}

// knowMission gathers what the mission's documents and the system's processes tell.
func knowMission(m *projects.Mission, e sessions.Event) Known {
	live := &m.Live
	k := Known{
		Process: KnownProcess{
			Speaker:   speakerOf(live, e.PID),
			HasKeeper: live.HasKeeper(), HadKeeper: live.Keeper != nil, Lives: live.Liveness() == lock.Alive,
			AgentNamed: live.AgentNamed, HeardSinceLaunch: live.HeardSinceLaunch,
		},
		Turn: KnownTurn{Lifecycle: m.Lifecycle, Session: live.TurnSession, PromptID: live.PromptID, Shown: turnEnding{state: sessions.StateEmpty}},
		Session: KnownSession{
			ID: m.Stored.Session, Former: m.FormerSessions, HasHooks: live.HasHooks,
			IsRepeat: slices.Contains(live.SeenEvents, eventID(e)),
		},
		Waiting: KnownWaiting{HasHandover: live.Handover != nil},
	}
	if e.PID > 0 {
		k.Process.SpeakerLiveness = lock.Process(e.PID, "").Liveness()
		ended := live.EndedAgent
		k.Process.SpeakerEnded = ended != nil && ended.PID == e.PID && ended.Liveness() == lock.Gone
	}
	if live.QueuedRestore != nil {
		k.Waiting.Queued = live.QueuedRestore.String()
	}
	return k
}

func speakerOf(live *projects.Live, pid int) Speaker {
	switch {
	case pid <= 0:
		return SpeakerUnnamed
	case live.Agent == nil || live.Agent.Liveness() != lock.Alive:
		return SpeakerNew
	case live.Agent.PID == pid:
		return SpeakerAgent
	}
	return SpeakerOther
}

// know is knowMission with what the request, the adapter and the handovers tell.
func (r *report) know(m *projects.Mission, shown turnEnding) Known {
	k := knowMission(m, r.event)
	k.Process.LaunchedFor = r.request.Caller.Mission == m.ID
	k.Turn.Shown = shown
	k.Session.Unknown = projects.IsForeignAdapter(r.adapter)
	_, k.Session.Segmented = r.adapter.(sessions.Segmented)
	k.Waiting.EndingBlock = r.handovers.EndingBlockReason(m, r.event)
	return k
}
