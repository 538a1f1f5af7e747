package events

import (
	"cmp"
	"context"
	"strings"
	"sync"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/handovers"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/sessions"
)

// report is an event of an agent that is carried out, and the call that told of it.
type report struct {
	*Listener
	adapter sessions.Adapter
	request missions.HookRequest
	event   sessions.Event
	// worktree is the mission in whose workspace the event's agent works; nil: in its own's.
	worktree *projects.Mission
	// beginning says that there is no such mission yet, and one is being begun.
	beginning bool
}

// handle carries out an event of a mission.
func (r *report) handle(ctx context.Context, m *projects.Mission, result *missions.HookResult) (sessions.Answer, error) {
	r.completeEvent(m)
	e := r.event
	result.Mission = m.ID
	shown := turnEnding{state: sessions.StateEmpty}
	event, notes := Interpret(r.know(m, shown), e)
	if !notes.SecondAgent {
		shown = r.awaitAnswer(ctx, m)
		if err := r.submitFirst(ctx, m, notes.First); err != nil {
			return sessions.Answer{}, err
		}
	}
	if event == nil {
		event, _ = lifecycleEvent(e) // it is known under the lock whether it means anything
	}
	client := agentVersion(r.adapter, e)
	var handed delivery
	rested := false // the last turn was over before the event, and had not failed
	req := &snapshots.Request{Event: correctTurnEnd(event, shown)}
	req.Prepare = func(m *projects.Mission) (bool, error) {
		_, rested = m.Lifecycle.(missions.Idle)
		event, notes = Interpret(r.know(m, shown), e)
		if event != nil {
			req.Event = event
		}
		notice := r.applyNotes(m, notes)
		if notes.Block != "" {
			handed.put(sessions.Answer{Block: notes.Block})
		}
		if notes.Hearing != HearNothing && !notes.SecondAgent {
			m.Live.ClientVersion = cmp.Or(client, m.Live.ClientVersion)
			r.handOutNotes(m, notes, &handed)
		}
		if notice != "" && handed.addNotice(notice) {
			presence.MarkUnkeptSaid(m, e)
		}
		if found := r.foundNotice(m); found != "" && notes.Hearing >= HearSign && handed.addNotice(found) {
			presence.MarkKeptSaid(m, r.worktree.Binding.Workspace)
		}
		return event != nil, nil
	}
	if e.Kind != sessions.KindStop { // whose answer may have been waited for
		req.RecentMission = m
	}
	answer, err := r.snapshots.SubmitRequest(ctx, m.Project, m.ID, req)
	told := handed.take()
	if err == nil {
		err = r.closeLeftMissions(ctx, m)
	}
	if err != nil {
		return told, err
	}
	switch {
	case notes.SecondAgent:
	case e.Kind == sessions.KindStop:
		r.updates.ReportForKeeper(answer.Mission)
	case e.Kind == sessions.KindSessionEnd && event != nil && rested:
		r.updates.ReportAnswer(answer.Mission) // a keeper that is killed now tells nobody
	}
	if t, ok := answer.LastSnapshot(); ok {
		result.Snapshot = t.Snapshot.ID.String()
	}
	if answer.Mission.Live.ProvisionalSnapshot != "" && e.Kind == sessions.KindSessionEnd && !notes.SecondAgent {
		err = r.Journal.DeleteLive(m.ID) // it changed nothing: as if it had not been
	}
	return told, err
}

// completeEvent adds to the event what its hook does not say, and leaves out what the user
// has switched off.
func (r *report) completeEvent(m *projects.Mission) {
	e := &r.event
	e.Tool.Target, e.Tool.At = m.RelativePath(e.Tool.Target), r.Now()
	if e.Kind == sessions.KindPermission && e.Tool.Name == "" && e.Tool.ID == "" {
		e.Tool = toolAskedAbout(m, e.Tool)
	}
	if e.Kind == sessions.KindToolBefore && e.Writes && !r.HookConfig(r.request.Caller).Hooks.Tools {
		e.Writes = false // what it writes is in the next snapshot
	}
}

// submitFirst carries out what an event means before anything else, if it still does.
func (r *report) submitFirst(ctx context.Context, m *projects.Mission, first missions.Event) error {
	if first == nil {
		return nil
	}
	still := func(m *projects.Mission) (bool, error) {
		_, notes := Interpret(r.know(m, turnEnding{state: sessions.StateEmpty}), r.event)
		if notes.First != first {
			return false, nil
		}
		if _, continued := first.(missions.TurnContinued); continued {
			m.Live.TurnBegan = r.InstantNow()
		}
		return true, nil
	}
	_, err := r.snapshots.SubmitRequest(ctx, m.Project, m.ID, &snapshots.Request{Event: first, Prepare: still})
	return err
}

// handOutNotes gives the agent, and its user, what waited for the mission's agent to be
// heard.
func (r *report) handOutNotes(m *projects.Mission, notes Notes, handed *delivery) {
	e := r.event
	if e.Kind == sessions.KindSessionStart && m.Live.Notice != "" {
		notice := m.Live.Notice
		if e.Command == sessions.SideCommand {
			notice = handovers.TypedInAgent(notice)
		}
		if handed.put(sessions.Answer{Notice: notice}) {
			m.Live.Notice = ""
		}
	}
	if e.Kind != sessions.KindPrompt && e.Kind != sessions.KindStop && e.Kind != sessions.KindSessionEnd {
		return
	}
	snapshots.DropToldNotes(m)
	r.updates.Settle(m, e.Kind == sessions.KindStop)
	if e.Kind == sessions.KindPrompt && notes.Hearing == HearAll {
		r.handOutContext(m, handed)
	}
}

// handOutContext gives the agent, with its prompt, the mission's notes and the updates for it.
func (r *report) handOutContext(m *projects.Mission, handed *delivery) {
	answer := sessions.Answer{Context: snapshots.NotesText(m)}
	news := r.updates.Prepare(m, r.event.Prompt, answer.Context)
	if news != nil {
		answer.Context, answer.Notice = news.Context, news.Notice
	}
	if answer == (sessions.Answer{}) || !handed.put(answer) {
		return
	}
	snapshots.MarkNotesGiven(m)
	if news != nil {
		r.updates.MarkGiven(m, news)
	}
}

// handleLate carries out an event whose hook has not waited for its mission.
func (r *report) handleLate(ctx context.Context, m *projects.Mission) {
	var result missions.HookResult
	if _, err := r.handle(ctx, m, &result); err != nil {
		r.Logger.Warn("late event", "agent", r.request.Agent, "event", r.event.Name, "mission", m.ID, "error", err)
	}
}

// delivery hands an answer from the queue to the hook that waits for it. If the hook's time is
// over, the answer is not taken, and a note stays for the next hook.
type delivery struct {
	mu     sync.Mutex
	answer sessions.Answer
	taken  bool
}

func (d *delivery) put(a sessions.Answer) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.taken {
		d.answer = a
	}
	return !d.taken
}

// addNotice adds a line for the agent's user to the answer.
func (d *delivery) addNotice(text string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.taken {
		d.answer.Notice = strings.TrimPrefix(d.answer.Notice+"\n"+text, "\n")
	}
	return !d.taken
}

func (d *delivery) take() sessions.Answer {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.taken = true
	return d.answer
}

// agentVersion is the version of the agent whose turn has ended; "" if it is not known.
func agentVersion(a sessions.Adapter, e sessions.Event) string {
	v, ok := a.(sessions.Versioned)
	if !ok || e.Kind != sessions.KindStop || e.Transcript == "" {
		return ""
	}
	if p, ok := a.(sessions.Packaged); ok && e.PID > 0 {
		if argv, err := lock.CommandLine(e.PID); err == nil {
			return p.Installed(argv)
		}
	}
	return v.Client(e.Transcript)
}
