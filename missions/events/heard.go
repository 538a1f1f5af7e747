package events

import (
	"context"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/sessions"
)

// applyNotes remembers what an event tells, as far as its notes say. It returns what the
// agent's user is to be told.
func (r *report) applyNotes(m *projects.Mission, notes Notes) (notice string) {
	e := r.event
	if notes.WithdrawHandover {
		r.handovers.WithdrawHandover(m)
	}
	if notes.Ended {
		r.Logger.Info("an event of an agent that has ended is too late", "mission", m.ID, "event", e.Name)
	}
	switch {
	case notes.Hearing == HearNothing:
	case notes.SecondAgent:
		m.Live.MarkEventSeen(eventID(e))
		m.Diverged = (m.Diverged || notes.Speaks) && e.Kind != sessions.KindSessionEnd
	default:
		r.followSession(m, notes.Step)
		if notes.Hearing >= HearSign {
			m.Live.HasHooks, m.Live.Problem = m.Live.HasHooks || !e.Lone, ""
			if r.worktree == nil && !r.beginning {
				notice = presence.NoteWorkPlace(m, e)
			} else {
				presence.NoteKeptPlace(m, e, r.worktree)
			}
			r.NoteAgentHeard(m)
		}
		if notes.Hearing >= HearAll {
			r.noteEvent(m)
		}
	}
	return notice
}

// noteEvent takes from an event what is worth knowing.
func (r *report) noteEvent(m *projects.Mission) {
	a, e, now := r.adapter, r.event, r.Now()
	m.Live.MarkEventSeen(eventID(e))
	m.Live.HeardSinceLaunch = m.Live.HeardSinceLaunch || continuesConversation(e.Kind) || e.Lone
	m.CountToolEvent(a, e)
	if m.IsToolSessionEnd(a, e) {
		m.Live.BoundSession, m.Live.ProcessSession = "", nil // the next one is this mission's too
	}
	if e.Kind == sessions.KindPrompt || e.Kind == sessions.KindGoesOn {
		r.presence.NoteTurnBegan(m, e)
	}
	switch e.Kind {
	case sessions.KindPrompt:
		m.Live.RefusedCall = nil
		m.HoldSentPrompt("")
		m.LastPrompt, m.LastError = &missions.Prompt{Text: missions.TruncateText(e.Prompt, missions.MaxPromptBytes), At: now}, ""
		m.NoteUnrecordedPrompt()
	case sessions.KindToolBefore:
		m.Live.LastTool = &missions.ToolUse{ID: e.Tool.ID, Name: e.Tool.Name, Target: e.Tool.Target, Description: e.Tool.Description, At: now}
		m.LastTool = m.Live.LastTool
	}
	m.Live.TrackOpenCalls(e)
}

// followSession binds a mission to the process and the session that its agent speaks in.
func (r *report) followSession(m *projects.Mission, step SessionStep) {
	a, e := r.adapter, r.event
	m.TakeToolName(a, e)
	if e.PID > 0 && !(projects.IsForeignAdapter(a) && m.Live.HasKeeper()) {
		if m.Live.AgentNamed = true; m.Live.Agent == nil || m.Live.Agent.PID != e.PID || m.Live.Agent.Liveness() == lock.Gone {
			owner := r.agents.ProcessByPID(e.PID)
			m.Live.Agent = &owner
		}
	}
	switch step {
	case StepAside:
		return
	case StepStays:
		if e.Transcript != "" {
			m.Binding.SessionPath = e.Transcript
		}
		m.Diverged = m.Diverged && e.Kind != sessions.KindPrompt
	case StepReturns:
		m.Diverged = false
		conversations.ReturnToConversation(m, e.SessionID)
		m.Live.TurnSession = e.SessionID
	case StepBegins:
		conversations.LeaveConversation(&m.Stored)
		m.Live.HookTally, m.Live.TurnSession = nil, e.SessionID
	}
	if step != StepStays {
		conversations.SwitchSession(m, e.SessionID, e.Transcript)
		if m.Binding.SessionPath == "" && !projects.IsForeignAdapter(a) {
			m.Binding.SessionPath = a.Path(m.AdapterEnv(), e.Cwd, e.SessionID)
		}
	}
	m.Live.BoundSession, m.Live.ProcessSession = e.SessionID, &projects.ProcessSession{PID: e.PID, Session: e.SessionID}
}

// closeLeftMissions closes the missions whose agent has moved, by /resume, to a session of
// another mission.
func (r *report) closeLeftMissions(ctx context.Context, now *projects.Mission) error {
	e := r.event
	if e.Kind != sessions.KindSessionStart || e.Source == "startup" || e.PID <= 0 {
		return nil
	}
	list, _ := r.ProjectMissions(now.Project)
	for _, m := range list {
		if m.ID == now.ID || !missions.HasAgent(m.Lifecycle) || !m.Live.IsAgentProcess(e.PID) {
			continue
		}
		left := &snapshots.Request{Event: missions.SessionEnded{}, Prepare: func(m *projects.Mission) (bool, error) {
			m.Live.Agent = nil
			return true, nil
		}}
		if _, err := r.snapshots.SubmitRequest(ctx, m.Project, m.ID, left); err != nil {
			return err
		}
	}
	return nil
}
