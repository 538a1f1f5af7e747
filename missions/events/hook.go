package events

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/sessions"
)

// Hook takes one event of an agent. An error of Umbra's never reaches the
// agent: it is the result's Problem, and shown by status. Only a request that
// makes no sense at all is an error.
func (l *Listener) Hook(ctx context.Context, r missions.HookRequest) (missions.HookResult, error) {
	adapter := l.Adapter(r.Agent)
	hooked, ok := adapter.(sessions.Hooked)
	switch {
	case GivesHints(r.Agent):
		return l.handleHint(ctx, r)
	case !ok:
		return missions.HookResult{}, missions.Errorf(missions.KindUsage, "umbra hook generic is for any other tool", "no hooks for agent %q", r.Agent)
	}
	event, err := hooked.Event(projects.CallerEnv(r.Caller), r.Event, r.Payload)
	if err != nil {
		err = missions.Errorf(missions.KindUsage, "", "hook %s: %w", r.Agent, err)
		l.noteRefusedCall(ctx, adapter, r, err)
		return missions.HookResult{}, err
	}
	if event.PID == 0 {
		event.PID = r.AgentPID
	}
	result := missions.HookResult{}
	switch event.Kind {
	case sessions.KindCommand:
		return l.handleCommand(ctx, adapter, r, event), nil
	case sessions.KindStatusLine:
		return missions.HookResult{StatusLine: l.statusLine(adapter, r, event)}, nil
	}
	answer, err := l.handleHook(ctx, adapter, r, event, &result)
	if err != nil {
		l.Logger.Warn("hook", "agent", r.Agent, "event", event.Name, "mission", result.Mission, "error", err)
		result.Problem = missions.AsError(err).Message
		if ctx.Err() == nil && l.Home.CheckWritable() == nil { // else the work goes on without the hook
			answer.Notice = cmp.Or(l.noteHookProblem(ctx, result, event, err), answer.Notice)
		}
	}
	result.Output = hooked.Reply(event, answer)
	return result, nil
}

// problemPatience bounds what a hook spends on noting that it went wrong.
const problemPatience = 200 * time.Millisecond

// noteHookProblem keeps what went wrong for status, until an event goes well. It returns
// what the agent's user is to see of it: that a prompt was not kept, once for each cause.
func (l *Listener) noteHookProblem(ctx context.Context, r missions.HookResult, e sessions.Event, failed error) (notice string) {
	if r.Mission == "" {
		return ""
	}
	m, err := l.MissionByID(r.Mission)
	if err != nil {
		return ""
	}
	cause := r.Problem
	if why := home.ShortReasonOf(failed); why != "" {
		cause = why // the words have figures
	}
	ctx, cancel := context.WithTimeout(ctx, problemPatience)
	defer cancel()
	err = l.WithMissionLock(ctx, m, l.WithWorkspaceLock, func(m *projects.Mission) error {
		m.Live.Problem = "the last hook failed: " + r.Problem
		if e.Kind == sessions.KindPrompt && m.Live.UnsavedReason != cause {
			m.Live.UnsavedReason = cause
			notice = "Umbra: no snapshot was taken before this prompt: " + r.Problem + "; umbra status tells more"
		}
		l.SaveLiveState(m)
		return nil
	})
	if err != nil {
		l.Logger.Warn("note a hook's problem", "mission", r.Mission, "error", err)
	}
	return notice
}

// handleHook finds the event's mission, or adopts its session, and carries the
// event out. It returns what the agent is to be told.
func (l *Listener) handleHook(ctx context.Context, a sessions.Adapter, r missions.HookRequest, e sessions.Event, result *missions.HookResult) (sessions.Answer, error) {
	nothing := sessions.Answer{}
	if r.Caller.Mission == "" && e.PID == 0 && e.Kind == sessions.KindSessionEnd {
		// Nothing would tell which session the agent goes on with: it will be another mission.
		e.Reason = ""
	}
	if _, known := lifecycleEvent(e); !known && e.Kind != sessions.KindSessionStart { // a compaction's may be the first that is heard
		return nothing, nil
	}
	m, err := l.missionOfEvent(ctx, a, r, e)
	if errors.Is(err, errAdopting) {
		l.Logger.Info("a hook went on before the first snapshot was there", "agent", r.Agent, "event", e.Name, "session", e.SessionID)
		return nothing, nil
	}
	if err != nil || m == nil {
		return nothing, err
	}
	if reason := l.guardBlockReason(m, r, e); reason != "" {
		result.Mission = m.ID
		return sessions.Answer{Block: reason}, nil
	}
	if err := l.Home.CheckWritable(); err != nil {
		return nothing, err // not even what was heard can be noted
	}
	return l.handleEvent(ctx, m, a, r, e, result)
}

// handleEvent carries out an event of an agent that is about a mission.
func (l *Listener) handleEvent(ctx context.Context, m *projects.Mission, a sessions.Adapter, r missions.HookRequest, e sessions.Event, result *missions.HookResult) (sessions.Answer, error) {
	e = l.completeEvent(m, r, e)
	result.Mission = m.ID
	shown := turnEnding{state: sessions.StateEmpty}
	event, notes := Interpret(l.know(m, a, r, e, shown), e)
	if !notes.SecondAgent {
		shown = l.awaitAnswer(ctx, m, a, e)
		if err := l.submitFirst(ctx, m, a, r, e, notes.First); err != nil {
			return sessions.Answer{}, err
		}
	}
	if event == nil {
		event, _ = lifecycleEvent(e) // it is known under the lock whether it means anything
	}
	client := agentVersion(a, e)
	var handed delivery
	req := &snapshots.Request{Event: correctTurnEnd(event, shown)}
	req.Prepare = func(m *projects.Mission) (bool, error) {
		event, notes = Interpret(l.know(m, a, r, e, shown), e)
		if event != nil {
			req.Event = event
		}
		l.applyNotes(m, a, r, e, notes)
		if notes.Block != "" {
			handed.put(sessions.Answer{Block: notes.Block})
		}
		if notes.Hearing != HearNothing && !notes.SecondAgent {
			m.Live.ClientVersion = cmp.Or(client, m.Live.ClientVersion)
			handOutNotes(m, e, notes, &handed)
		}
		return event != nil, nil
	}
	if e.Kind != sessions.KindStop { // whose answer may have been waited for
		req.RecentMission = m
	}
	answer, err := l.snapshots.SubmitRequest(ctx, m.Project, m.ID, req)
	told := handed.take()
	if err == nil {
		err = l.closeLeftMissions(ctx, m, e)
	}
	if err != nil {
		return told, err
	}
	if t, ok := answer.LastSnapshot(); ok {
		result.Snapshot = t.Snapshot.ID.String()
	}
	if answer.Mission.Live.ProvisionalSnapshot != "" && e.Kind == sessions.KindSessionEnd && !notes.SecondAgent {
		err = l.Journal.DeleteLive(m.ID) // it changed nothing: as if it had not been
	}
	return told, err
}

// completeEvent adds to an event what its hook does not say, and leaves out what the user
// has switched off.
func (l *Listener) completeEvent(m *projects.Mission, r missions.HookRequest, e sessions.Event) sessions.Event {
	e.Tool.Target, e.Tool.At = m.RelativePath(e.Tool.Target), l.Now()
	if e.Kind == sessions.KindPermission && e.Tool.Name == "" && e.Tool.ID == "" {
		e.Tool = toolAskedAbout(m, e.Tool)
	}
	if e.Kind == sessions.KindToolBefore && e.Writes && !l.HookConfig(r.Caller).Hooks.Tools {
		e.Writes = false // what it writes is in the next snapshot
	}
	return e
}

// submitFirst carries out what an event means before anything else, if it still does.
func (l *Listener) submitFirst(ctx context.Context, m *projects.Mission, a sessions.Adapter, r missions.HookRequest, e sessions.Event, first missions.Event) error {
	if first == nil {
		return nil
	}
	still := func(m *projects.Mission) (bool, error) {
		_, notes := Interpret(l.know(m, a, r, e, turnEnding{state: sessions.StateEmpty}), e)
		if notes.First != first {
			return false, nil
		}
		if _, continued := first.(missions.TurnContinued); continued {
			m.Live.TurnBegan = l.InstantNow()
		}
		return true, nil
	}
	_, err := l.snapshots.SubmitRequest(ctx, m.Project, m.ID, &snapshots.Request{Event: first, Prepare: still})
	return err
}

// handOutNotes gives the agent, and its user, what waited for the mission's agent to be
// heard.
func handOutNotes(m *projects.Mission, e sessions.Event, notes Notes, handed *delivery) {
	if e.Kind == sessions.KindSessionStart && m.Live.Notice != "" && handed.put(sessions.Answer{Notice: m.Live.Notice}) {
		m.Live.Notice = ""
	}
	if len(m.Notes) > 0 && (e.Kind == sessions.KindPrompt || e.Kind == sessions.KindStop || e.Kind == sessions.KindSessionEnd) {
		snapshots.DropToldNotes(m)
	}
	if e.Kind == sessions.KindPrompt && notes.Hearing == HearAll && len(m.Notes) > 0 && handed.put(sessions.Answer{Context: snapshots.NotesText(m)}) {
		snapshots.MarkNotesGiven(m)
	}
}

// delivery hands an answer from the queue to the hook that waits for it. A hook
// whose time is over waits no more: a note stays for the next one.
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

func (d *delivery) take() sessions.Answer {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.taken = true
	return d.answer
}

// applyNotes remembers what an event tells, as far as its notes say.
func (l *Listener) applyNotes(m *projects.Mission, a sessions.Adapter, r missions.HookRequest, e sessions.Event, notes Notes) {
	if notes.WithdrawHandover {
		l.handovers.WithdrawHandover(m)
	}
	if notes.Ended {
		l.Logger.Info("an event of an agent that has ended is too late", "mission", m.ID, "event", e.Name)
	}
	switch {
	case notes.Hearing == HearNothing:
	case notes.SecondAgent:
		m.Live.MarkEventSeen(eventID(e))
		m.Diverged = (m.Diverged || notes.Speaks) && e.Kind != sessions.KindSessionEnd
	default:
		l.followSession(m, a, e, notes.Step)
		if notes.Hearing >= HearSign {
			m.Live.HasHooks, m.Live.Problem, m.Live.OutsideDir = m.Live.HasHooks || !e.Lone, "", presence.OutsideDir(m, e)
			l.NoteAgentHeard(m)
		}
		if notes.Hearing >= HearAll {
			l.noteEvent(m, a, e)
		}
	}
}

// noteEvent takes from an event what is worth knowing.
func (l *Listener) noteEvent(m *projects.Mission, a sessions.Adapter, e sessions.Event) {
	now := l.Now()
	m.Live.MarkEventSeen(eventID(e))
	m.Live.HeardSinceLaunch = m.Live.HeardSinceLaunch || continuesConversation(e.Kind)
	m.CountToolEvent(a, e)
	if m.IsToolSessionEnd(a, e) {
		m.Live.BoundSession, m.Live.ProcessSession = "", nil // the next one is this mission's too
	}
	if e.Kind == sessions.KindPrompt || e.Kind == sessions.KindGoesOn {
		l.presence.NoteTurnBegan(m, e)
	}
	switch e.Kind {
	case sessions.KindPrompt:
		m.Live.RefusedCall = nil
		m.LastPrompt, m.LastError = &missions.Prompt{Text: missions.TruncateText(e.Prompt, missions.MaxPromptBytes), At: now}, ""
		m.NoteUnrecordedPrompt()
	case sessions.KindToolBefore:
		m.Live.LastTool = &missions.ToolUse{ID: e.Tool.ID, Name: e.Tool.Name, Target: e.Tool.Target, At: now}
		m.LastTool = m.Live.LastTool
	}
	m.Live.TrackOpenCalls(e)
}

// continuesConversation reports whether an event is one of a conversation that goes on; any
// session that is left has an end.
func continuesConversation(k sessions.Kind) bool {
	switch k {
	case sessions.KindPrompt, sessions.KindGoesOn, sessions.KindToolBefore, sessions.KindToolAfter, sessions.KindToolBatch, sessions.KindPermission, sessions.KindAnswered:
		return true
	}
	return false
}

// missionOfEvent finds the mission whose agent speaks: the one named by the
// environment if the session is its own, else the one that has the session,
// else a new one. Nil without an error is a session that is not to be adopted, which is
// remembered: its hooks tell of each of its tools.
func (l *Listener) missionOfEvent(ctx context.Context, a sessions.Adapter, r missions.HookRequest, e sessions.Event) (*projects.Mission, error) {
	if e.SessionID == "" {
		return nil, fmt.Errorf("%w: no session id", sessions.ErrBadPayload)
	}
	key := SessionKey(a.Name(), e.SessionID)
	if m, joined, err := l.joinAdoption(ctx, r.Caller, key, l.lateEventHandler(a, r, e)); joined {
		if agents.IsRefusal(err) {
			err = refusalIfCommand(e, err)
		}
		return m, err
	}
	var parent *projects.Mission
	if r.Caller.Mission != "" {
		m, err := l.MissionByID(r.Caller.Mission)
		if err == nil && l.isOwnSession(m, a, e) {
			return m, nil
		}
		if err == nil {
			parent = m
		}
	}
	if m := l.RememberedSessionMission(a.Name(), e.SessionID); m != nil {
		return m, nil
	}
	if l.agents.Unadopted.HasSession(key, e, l.Now()) {
		return nil, nil
	}
	m, err := l.findOrAdoptMission(ctx, a, r, e, parent)
	l.agents.Unadopted.NoteSession(key, e, m == nil && err == nil, l.Now())
	return m, err
}

// findOrAdoptMission finds the mission of a session among all, or adopts the session.
func (l *Listener) findOrAdoptMission(ctx context.Context, a sessions.Adapter, r missions.HookRequest, e sessions.Event, parent *projects.Mission) (*projects.Mission, error) {
	if m := l.missionOfSession(a.Name(), e.SessionID); m != nil {
		l.MissionCache.RememberSession(m, e.SessionID)
		return m, nil
	}
	if m := l.missionOfProcess(a, e); m != nil {
		return m, nil
	}
	if e.Kind == sessions.KindSessionEnd {
		return nil, nil // nothing was seen of it, and nothing more will be
	}
	return l.adoptSession(ctx, a, r, e, parent)
}

// isOwnSession reports whether the session of an event is that of the mission
// named by the environment: its own, its first, one it was before, or one the
// same agent process moved on to. Any other is an agent inside the agent.
func (l *Listener) isOwnSession(m *projects.Mission, a sessions.Adapter, e sessions.Event) bool {
	switch {
	case l.CanToolJoin(m, a):
		return true
	case m.Agent != a.Name():
		return m.Stored.Session == "" && len(m.Command) > 0 && a.Runs(m.Command)
	case e.SessionID == m.Stored.Session, slices.Contains(m.FormerSessions, e.SessionID):
		return true
	case m.Stored.Session == "" || m.Live.BoundSession == "":
		return true
	case e.Kind == sessions.KindSessionStart && e.Source != "startup":
		return knowMission(m, e).Process.Speaker != SpeakerOther
	}
	return BeginsNewSession(m, e)
}

// missionOfProcess finds the mission whose agent, started by hand, goes on in
// another session: after /clear and the like.
func (l *Listener) missionOfProcess(a sessions.Adapter, e sessions.Event) *projects.Mission {
	if e.Kind != sessions.KindSessionStart || e.Source == "startup" || e.PID <= 0 {
		return nil
	}
	all, _ := l.AllProjects()
	for _, p := range all {
		list, _ := l.ProjectMissions(p)
		for _, m := range list {
			if m.Agent == a.Name() && missions.HasAgent(m.Lifecycle) && m.Live.IsAgentProcess(e.PID) {
				return m
			}
		}
	}
	return nil
}

// closeLeftMissions closes the missions that an agent has left for a session of
// another mission, with /resume.
func (l *Listener) closeLeftMissions(ctx context.Context, now *projects.Mission, e sessions.Event) error {
	if e.Kind != sessions.KindSessionStart || e.Source == "startup" || e.PID <= 0 {
		return nil
	}
	list, _ := l.ProjectMissions(now.Project)
	for _, m := range list {
		if m.ID == now.ID || !missions.HasAgent(m.Lifecycle) || !m.Live.IsAgentProcess(e.PID) {
			continue
		}
		left := &snapshots.Request{Event: missions.SessionEnded{}, Prepare: func(m *projects.Mission) (bool, error) {
			m.Live.Agent = nil
			return true, nil
		}}
		if _, err := l.snapshots.SubmitRequest(ctx, m.Project, m.ID, left); err != nil {
			return err
		}
	}
	return nil
}

// missionOfSession finds the mission that has, or had, a session.
func (l *Listener) missionOfSession(agent, session string) *projects.Mission {
	all, _ := l.AllProjects()
	id := l.AdoptedID(all, agent, session, "")
	for _, p := range all {
		if m, err := l.LoadMission(p, id); err == nil {
			return m
		}
	}
	var former *projects.Mission
	for _, p := range all {
		list, _ := l.ProjectMissions(p)
		for _, m := range list {
			if m.Agent != agent {
				continue
			}
			if m.Stored.Session == session {
				return m
			}
			if slices.Contains(m.FormerSessions, session) {
				former = m
			}
		}
	}
	return former
}

// adoptSession makes a mission of a session that was started by hand. Two hooks at
// once make one mission, since its id follows from the session's.
func (l *Listener) adoptSession(ctx context.Context, a sessions.Adapter, r missions.HookRequest, e sessions.Event, parent *projects.Mission) (*projects.Mission, error) {
	cwd := e.Cwd
	if cwd == "" {
		cwd = r.Caller.Cwd
	}
	g, err := projects.InspectDirectory(cwd)
	if err != nil {
		return nil, err
	}
	if !l.Config.Adopt.Adopts(g.Dir) {
		return nil, nil
	}
	if err := l.agents.Unadopted.BudgetRefusal(g.Top, l.Now()); err != nil && e.Kind != sessions.KindSessionStart {
		return nil, refusalIfCommand(e, err)
	}
	subdir, err := filepath.Rel(g.Top, g.Dir)
	if err != nil {
		return nil, err
	}
	all, _ := l.AllProjects()
	n := projects.MissionPlan{
		ID: l.AdoptedID(all, a.Name(), e.SessionID, ""), Agent: a.Name(), Command: []string{a.Name()},
		Directory: g, Workspace: g.Top, Subdir: subdir, Session: e.SessionID, Transcript: e.Transcript,
		ToolName: e.Program, ResumeCommand: e.Resume, Adopted: true, Env: projects.CallerEnv(r.Caller), Adapter: a, Lifecycle: missions.Idle{}, Name: missions.NameFromPrompt(e.Prompt),
		Provisional: e.Headless,
	}
	if parent != nil {
		n.StartedBy = parent.ID
	}
	m, err := l.startOrJoinAdoption(ctx, r.Caller, n, l.lateEventHandler(a, r, e))
	if agents.IsRefusal(err) {
		return nil, refusalIfCommand(e, err)
	}
	return m, err
}

// refusalIfCommand is why a workspace was refused, for who has typed a command of Umbra's there.
// Any other hook is silent where Umbra must not work.
func refusalIfCommand(e sessions.Event, refused error) error {
	if e.Kind == sessions.KindCommand {
		return refused
	}
	return nil
}
