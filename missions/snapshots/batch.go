package snapshots

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// RunRequests applies a batch of requests to a mission under its lock. First the events
// are applied, one after the other. Then the snapshots that they ask for are taken;
// some are taken as one.
func (tk *Taker) RunRequests(ctx context.Context, p *projects.Project, mission string, batch []*Request) {
	fail := func(err error) {
		for _, r := range batch {
			if r.Err == nil {
				r.Err = err
			}
		}
	}
	m, err := batch[0].RecentMission, error(nil)
	if m == nil {
		m, err = tk.LoadMission(p, mission)
	}
	if err != nil {
		fail(err)
		return
	}
	if m.CheckMachine() == nil && m.IsWorkspaceGone() && !slices.ContainsFunc(batch, func(r *Request) bool { return !isEndEvent(r.Event) }) {
		if err := tk.endWithoutSnapshot(ctx, m, batch); err != nil {
			fail(err)
		}
		return
	}
	hold := tk.WithWorkspaceLock
	if slices.ContainsFunc(batch, func(r *Request) bool { return r.Event == nil }) {
		hold = tk.WithRecoveredWorkspace // by hand: no agent waits for it
	}
	err = hold(ctx, m, func(m *projects.Mission) error {
		before, record, problem := conversationFactsOf(m), m.Record, m.Live.Problem
		list, after := tk.applyEvents(m, batch)
		owed, taken := tk.takeWantedSnapshots(ctx, m, list)
		if taken && tk.clearOwedSnapshot(m) && m.Live.Problem == problem {
			m.Live.Problem = "" // that it was not taken
		}
		noteStarted(m, after.started)
		if conversationFactsOf(m) != before && m.Record == record && m.Live.ProvisionalSnapshot == "" {
			if err := tk.WriteMetaRecord(ctx, m, "session"); err != nil {
				tk.SaveLiveStateOwing(m, owed) // what was heard is known all the same
				return err
			}
		}
		tk.SaveLiveStateOwing(m, owed)
		if err := tk.nameByPrompt(ctx, m); err != nil {
			tk.Logger.Warn("name a mission", "mission", m.ID, "error", err)
		}
		if hasIdlePoint(list) {
			tk.atIdlePoint(ctx, m)
		}
		if after.performQueued {
			tk.Effects.Perform(ctx, m)
		}
		after.startAutomations(tk.Effects, m)
		for _, r := range batch {
			r.Answer.Mission = m
		}
		return nil
	})
	if err != nil {
		fail(err)
	}
}

// takeWantedSnapshots takes snapshots one after the other, and answers who waits for them.
// Of the last it says whether it was taken, or is owed.
func (tk *Taker) takeWantedSnapshots(ctx context.Context, m *projects.Mission, list []*WantedSnapshot) (owed *projects.OwedSnapshot, taken bool) {
	for _, w := range list {
		t, err := tk.TakeSnapshot(ctx, m, w)
		taken = err == nil
		if owed = nil; isNoRoomError(err) {
			owed = tk.NewOwedSnapshot(m, w.TakeSnapshot)
		}
		for _, r := range w.waiters {
			if err != nil {
				r.Err = cmp.Or(r.Err, err) // the first is the cause of those behind it
				continue
			}
			r.Answer.taken = append(r.Answer.taken, t)
		}
		if err == nil {
			m.Live.UnsavedReason = ""
		}
	}
	return owed, taken
}

// atIdlePoint does what waits for a moment in which no agent works.
func (tk *Taker) atIdlePoint(ctx context.Context, m *projects.Mission) {
	if err := tk.Effects.Settle(ctx, m); err != nil {
		tk.Logger.Warn("settle quarantine", "mission", m.ID, "error", err)
	}
	tk.Effects.Housekeep(m.Project)
}

// isEndEvent reports whether an event ends something. Such events are heard also where
// nothing is left to be captured.
func isEndEvent(e missions.Event) bool {
	switch e.(type) {
	case missions.TurnEnded, missions.TurnFailed, missions.TurnStopped, missions.SessionEnded, missions.AgentExited, missions.AgentStopped, missions.AgentVanished, missions.TerminalPassed:
		return true
	}
	return false
}

// endWithoutSnapshot is RunRequests for events that only end something, in a workspace
// that is gone. Otherwise such a mission could never be closed. It takes no snapshot,
// and says so.
func (tk *Taker) endWithoutSnapshot(ctx context.Context, m *projects.Mission, batch []*Request) error {
	return tk.WithMissionLock(ctx, m, tk.WithWorkspaceLock, func(m *projects.Mission) error {
		after, err := tk.noteEndWithoutSnapshot(ctx, m, batch)
		if err != nil {
			return err
		}
		if after.performQueued {
			tk.Effects.Perform(ctx, m)
		}
		after.startAutomations(tk.Effects, m)
		for _, r := range batch {
			r.Answer.Mission = m
		}
		return nil
	})
}

func (tk *Taker) noteEndWithoutSnapshot(ctx context.Context, m *projects.Mission, batch []*Request) (followUp, error) {
	_, after := tk.applyEvents(m, batch)
	m.Live.Problem = missions.AsError(projects.WorkspaceMovedError(m, "no snapshot was taken at the end")).Message
	if m.Live.ProvisionalSnapshot == "" {
		if err := tk.WriteMetaRecord(ctx, m, "ended; its workspace is gone"); err != nil {
			return after, err
		}
	}
	tk.SaveLiveState(m)
	return after, nil
}

// PassTerminal closes a mission whose terminal another has from now on, with a last snapshot.
// The caller holds the mission. A side fork must be left also where its workspace is gone,
// and then there is no snapshot, or where there is no room for one, and then it is owed.
func (tk *Taker) PassTerminal(ctx context.Context, m *projects.Mission, e missions.TerminalPassed) error {
	batch := []*Request{{Event: e}}
	if m.IsWorkspaceGone() {
		after, err := tk.noteEndWithoutSnapshot(ctx, m, batch)
		after.startAutomations(tk.Effects, m)
		return err
	}
	list, after := tk.applyEvents(m, batch)
	var owed *projects.OwedSnapshot
	var err error
	if len(list) == 0 { // closed before, and another reason is known now
		err = tk.WriteMetaRecord(ctx, m, string(e.Reason))
	} else {
		owed, _ = tk.takeWantedSnapshots(ctx, m, list)
		err = batch[0].Err
	}
	if isNoRoomError(err) && e.Reason != missions.CloseReasonParked {
		err = nil
		tk.SaveLiveStateOwing(m, owed)
	}
	if err == nil {
		after.startAutomations(tk.Effects, m)
	}
	return err
}

func (f followUp) startAutomations(e Effects, m *projects.Mission) {
	for _, on := range f.automations {
		e.Automate(m, on)
	}
}

// Effects are what a snapshot causes beyond itself. Higher rooms own them and hand them
// in. Each is called with the mission's workspace held.
type Effects struct {
	Settle    func(ctx context.Context, m *projects.Mission) error // looks again at what restores have taken out
	Perform   func(ctx context.Context, m *projects.Mission)       // does what was queued for the end of the turn
	Automate  func(m *projects.Mission, on string)                 // starts the user's command for a change of state
	Housekeep func(p *projects.Project)                            // starts what an idle point is a moment for
}

// followUp is what is done after the snapshots were taken and the state was noted.
type followUp struct {
	performQueued bool               // what was queued for the end of the turn
	automations   []string           // the changes of state that automations are for
	started       []missions.ToolUse // the tool calls that write, and that begin once this is done
}

// conversationFacts are what events say of a mission's conversation. They must outlive
// the process, also where no snapshot was asked for.
type conversationFacts struct {
	session, sessionPath, notes string
	agent, tool, resume         string
	firstPrompt                 string
	formerSessions              int
	diverged                    bool
}

func conversationFactsOf(m *projects.Mission) conversationFacts {
	return conversationFacts{
		session: m.Stored.Session, sessionPath: m.Binding.SessionPath, notes: fmt.Sprint(m.Notes),
		agent: m.Agent, tool: m.ToolName, resume: fmt.Sprintf("%q", m.ResumeCommand), firstPrompt: m.FirstPrompt,
		formerSessions: len(m.FormerSessions), diverged: m.Diverged,
	}
}

// applyEvents runs the events through Transition and gathers what they ask for.
func (tk *Taker) applyEvents(m *projects.Mission, batch []*Request) (list []*WantedSnapshot, after followUp) {
	now := tk.Now()
	add := func(r *Request, t missions.TakeSnapshot) {
		for _, w := range list[max(0, len(list)-1):] {
			if canShareSnapshot(w.TakeSnapshot, t) {
				w.addRequest(r, t)
				return
			}
		}
		list = append(list, &WantedSnapshot{TakeSnapshot: t, Triggers: missions.Triggers{t.Trigger}, waiters: []*Request{r}})
	}
	for _, r := range batch {
		if r.Prepare != nil {
			ok, err := r.Prepare(m)
			if err != nil || !ok {
				r.Err = err
				continue
			}
		}
		if r.Take != nil {
			if r.Err = tk.LentError(m); r.Err != nil {
				continue
			}
			if s, err := findAnswer(m, r); err != nil || s != nil {
				r.Err, r.Answer.taken = err, []takenSnapshot{{Snapshot: s}}
				continue
			}
			t := *r.Take
			t.Lifecycle = m.Lifecycle
			add(r, t)
			continue
		}
		switch e := r.Event.(type) {
		case missions.ToolStarting:
			if e.Writes {
				after.started = append(after.started, e.Tool)
			}
		case missions.ToolFinished:
			noteFinished(m, e.Tool)
		}
		before := missions.StateOf(m.Lifecycle)
		next, effects := missions.Transition(m.Lifecycle, r.Event)
		m.EnterLifecycle(next, now)
		if missions.StateOf(next) == missions.StateClosed && before != missions.StateClosed && !tk.IsHandoverOwned(m.Live.Handover) {
			m.Live.Handover = nil // no agent is left to be launched again
		}
		for _, e := range effects {
			switch e := e.(type) {
			case missions.TakeSnapshot:
				add(r, e)
			case missions.PerformQueued:
				after.performQueued = true
			case missions.StartAutomations:
				after.automations = append(after.automations, e.On)
			}
		}
	}
	return list, after
}

// maxAnswersBack is how many snapshots may have come since a request was answered for
// the first time, if its answer was cut off and it is made again.
const maxAnswersBack = 32

// findAnswer is the snapshot that answered a repeated request when it came first; nil
// if there is none. Only the newest snapshots are looked at, since the first request
// came just before.
func findAnswer(m *projects.Mission, r *Request) (*gitstore.Snapshot, error) {
	if !r.isRepeat || len(r.Ids) == 0 {
		return nil, nil
	}
	seen := 0
	for s, err := range m.Project.Store.Snapshots(m.Tip.ID, shadow.HistoryOptions{}) {
		if seen++; err != nil || seen > maxAnswersBack || s.Mission != m.ID {
			return nil, err
		}
		info, err := m.Project.ReadSnapshotInfo(s)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(r.Ids, func(id string) bool { return slices.Contains(info.RequestIDs, id) }) {
			return s, nil
		}
	}
	return nil, nil
}

// hasIdlePoint reports whether a batch was an idle point: then the quarantines of
// restores may be looked at again.
func hasIdlePoint(list []*WantedSnapshot) bool {
	for _, w := range list {
		if !missions.InTurn(w.Lifecycle) {
			return true
		}
	}
	return false
}
