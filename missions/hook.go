package missions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/sessions"
)

// Hook takes one event of an agent. An error of Umbra's never reaches the
// agent: it is the result's Problem, and shown by status. Only a request that
// makes no sense at all is an error.
func (l *Local) Hook(ctx context.Context, r HookRequest) (HookResult, error) {
	adapter := l.adapter(r.Agent)
	hooked, ok := adapter.(sessions.Hooked)
	switch {
	case GivesHints(r.Agent):
		return l.heardHint(ctx, r)
	case !ok:
		return HookResult{}, Errorf(KindUsage, "umbra hook generic is for any other tool", "no hooks for agent %q", r.Agent)
	}
	event, err := hooked.Event(callerEnv(r.Caller), r.Event, r.Payload)
	if err != nil {
		err = Errorf(KindUsage, "", "hook %s: %w", r.Agent, err)
		l.noteRefused(ctx, adapter, r, err)
		return HookResult{}, err
	}
	if event.PID == 0 {
		event.PID = r.AgentPID
	}
	result := HookResult{}
	switch event.Kind {
	case sessions.KindCommand:
		return l.heardCommand(ctx, adapter, r, event), nil
	case sessions.KindStatusLine:
		return HookResult{Line: l.statusLine(adapter, r, event)}, nil
	}
	answer, err := l.heardHook(ctx, adapter, r, event, &result)
	if err != nil {
		l.log.Warn("hook", "agent", r.Agent, "event", event.Name, "mission", result.Mission, "error", err)
		result.Problem = AsError(err).Message
		if ctx.Err() == nil && l.home.ReadOnly() == nil { // else the work goes on without the hook
			answer.Notice = cmp.Or(l.noteProblem(ctx, result, event, err), answer.Notice)
		}
	}
	result.Output = hooked.Reply(event, answer)
	return result, nil
}

// problemPatience bounds what a hook spends on noting that it went wrong.
const problemPatience = 200 * time.Millisecond

// noteProblem keeps what went wrong for status, until an event goes well. It returns
// what the agent's user is to see of it: that a prompt was not kept, once for each cause.
func (l *Local) noteProblem(ctx context.Context, r HookResult, e sessions.Event, failed error) (notice string) {
	if r.Mission == "" {
		return ""
	}
	m, err := l.missionByID(r.Mission)
	if err != nil {
		return ""
	}
	cause := r.Problem
	if why := shortOf(failed); why != "" {
		cause = why // the words have figures
	}
	ctx, cancel := context.WithTimeout(ctx, problemPatience)
	defer cancel()
	err = l.metaHeld(ctx, m, l.holding, func(m *loaded) error {
		m.live.Problem = "the last hook failed: " + r.Problem
		if e.Kind == sessions.KindPrompt && m.live.Unsaved != cause {
			m.live.Unsaved = cause
			notice = "Umbra: no snapshot was taken before this prompt: " + r.Problem + "; umbra status tells more"
		}
		l.saveLive(m)
		return nil
	})
	if err != nil {
		l.log.Warn("note a hook's problem", "mission", r.Mission, "error", err)
	}
	return notice
}

// heardHook finds the event's mission, or adopts its session, and carries the
// event out. It returns what the agent is to be told.
func (l *Local) heardHook(ctx context.Context, a sessions.Adapter, r HookRequest, e sessions.Event, result *HookResult) (sessions.Answer, error) {
	nothing := sessions.Answer{}
	if r.Caller.Mission == "" && e.PID == 0 && e.Kind == sessions.KindSessionEnd {
		// Nothing would tell which session the agent goes on with: it will be another mission.
		e.Reason = ""
	}
	if _, known := eventOf(e); !known && e.Kind != sessions.KindSessionStart { // a compaction's may be the first that is heard
		return nothing, nil
	}
	m, err := l.missionOfEvent(ctx, a, r, e)
	if errors.Is(err, errAdopting) {
		l.log.Info("a hook went on before the first snapshot was there", "agent", r.Agent, "event", e.Name, "session", e.SessionID)
		return nothing, nil
	}
	if err != nil || m == nil {
		return nothing, err
	}
	if reason := l.guarded(m, r, e); reason != "" {
		result.Mission = m.ID
		return sessions.Answer{Block: reason}, nil
	}
	if err := l.home.ReadOnly(); err != nil {
		return nothing, err // not even what was heard can be noted
	}
	return l.hear(ctx, m, a, r, e, result)
}

// hear carries out an event of a mission's agent.
func (l *Local) hear(ctx context.Context, m *loaded, a sessions.Adapter, r HookRequest, e sessions.Event, result *HookResult) (sessions.Answer, error) {
	e.Tool.Target, e.Tool.At = m.below(e.Tool.Target), l.now()
	if e.Kind == sessions.KindPermission && e.Tool.Name == "" && e.Tool.ID == "" {
		e.Tool = m.askedAbout(e.Tool)
	}
	if e.Kind == sessions.KindToolBefore && e.Writes && !l.configOfAgent(r.Caller).Hooks.Tools {
		e.Writes = false // what it writes is in the next snapshot
	}
	what := m.meaning(a, e)
	result.Mission = m.ID
	if m.beside(r.Caller, e) {
		return l.hearBeside(ctx, m, e, result)
	}
	what = endedAs(what, l.awaitAnswer(ctx, m, a, e))
	if err := errors.Join(l.leaveTurnBehind(ctx, m, e), l.takeUpTurn(ctx, m, e)); err != nil {
		return sessions.Answer{}, err
	}
	client := clientOf(a, e)
	var handed delivery
	req := &request{event: what}
	req.heard = func(m *loaded) (bool, error) {
		if m.endedBefore(a, r, e) {
			l.log.Info("an event of an agent that has ended is too late", "mission", m.ID, "event", e.Name)
			return false, nil
		}
		if block := l.endingBlocks(m, e); block != "" {
			handed.put(sessions.Answer{Block: block})
			return false, nil
		}
		if m.live.Pending != nil && m.endsUnseen(e) {
			handed.put(sessions.Answer{Block: fmt.Sprintf("what was queued for the end of the turn before comes first (%s): type it again then", m.live.Pending)})
			req.event = TurnEnded{}
			return true, nil
		}
		if goesOn(e.Kind) || !m.live.kept() { // one under a keeper may end because of it
			l.withdraw(m)
		}
		if m.endsForAnother(e) || m.endsFormerTurn(e) || m.asksElsewhere(e) || m.tooLate(e) {
			return false, nil
		}
		begins := m.begins(e)
		fresh := l.noteEvent(m, a, r, e) && begins
		if client != "" {
			m.live.Client = client
		}
		if e.Kind == sessions.KindSessionStart && m.live.Notice != "" && handed.put(sessions.Answer{Notice: m.live.Notice}) {
			m.live.Notice = ""
		}
		if len(m.Notes) > 0 && (e.Kind == sessions.KindPrompt || e.Kind == sessions.KindStop || e.Kind == sessions.KindSessionEnd) {
			m.dropTold()
		}
		if e.Kind == sessions.KindPrompt && fresh && len(m.Notes) > 0 && handed.put(sessions.Answer{Context: m.untold()}) {
			m.given()
		}
		return fresh && what != nil, nil
	}
	if e.Kind != sessions.KindStop { // whose answer may have been waited for
		req.seen = m
	}
	answer, err := l.submit(ctx, m.project, m.ID, req)
	told := handed.take()
	if err == nil {
		err = l.leaveBehind(ctx, m, e)
	}
	if err != nil {
		return told, err
	}
	if t, ok := answer.last(); ok {
		result.Snapshot = t.snapshot.ID.String()
	}
	if answer.mission.live.Provisional != "" {
		if e.Kind == sessions.KindSessionEnd {
			err = l.journal.DeleteLive(m.ID) // it changed nothing: as if it had not been
		}
		return told, err
	}
	return told, nil
}

// endedBefore reports whether an event is from an agent whose end is known: hooks
// outlive their agent, and one that is slow to begin revives nobody. Either it names
// the process whose end the keeper has told, or it was launched for the mission and
// had no agent above it any more when it looked for one. Tools that Umbra does not
// know are not looked for.
func (m *loaded) endedBefore(a sessions.Adapter, r HookRequest, e sessions.Event) bool {
	if ended := m.live.Ended; ended != nil && e.PID == ended.PID && ended.Liveness() == lock.Gone {
		return lock.Process(e.PID, "").Liveness() != lock.Alive // else it is another one that has its pid now
	}
	_, closed := m.life.(Closed)
	return closed && e.PID == 0 && r.Caller.Mission == m.ID && m.live.Keeper == nil && !isForeign(a)
}

// endsUnseen reports whether an event is a prompt by which a turn shows to be over
// whose end nobody heard, as after Esc, or was sure of.
func (m *loaded) endsUnseen(e sessions.Event) bool {
	if e.Kind != sessions.KindPrompt {
		return false
	}
	r, ok := m.life.(Running)
	return !ok && HasAgent(m.life) || r.Turn > 0 && (e.PromptID == "" || e.PromptID != r.PromptID)
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

// below names a file of the workspace as its snapshots do; any other target of a
// tool stays as it is.
func (m *loaded) below(target string) string {
	return strings.TrimPrefix(target, m.bind.Workspace+string(filepath.Separator))
}

// noteEvent takes from an event what is worth knowing, and reports whether it
// is heard for the first time.
func (l *Local) noteEvent(m *loaded, a sessions.Adapter, r HookRequest, e sessions.Event) bool {
	now := l.now()
	l.followSession(m, a, r, e)
	if e.Lone && m.live.Hooked {
		return false // hooks that were trusted meanwhile have said it
	}
	m.live.Hooked, m.live.Problem, m.live.Away = m.live.Hooked || !e.Lone, "", m.away(e)
	l.heardNow(m)
	if !m.live.firstTime(eventID(e)) {
		return false
	}
	m.live.Spoke = m.live.Spoke || goesOn(e.Kind)
	m.countTold(a, e)
	if m.leavesSession(a, e) {
		m.live.Bound, m.live.In = "", nil // the next one is this mission's too
	}
	if e.Kind == sessions.KindPrompt || e.Kind == sessions.KindGoesOn {
		l.begun(m, e)
	}
	switch e.Kind {
	case sessions.KindPrompt:
		m.live.Refused = nil
		m.LastPrompt, m.LastError = &Prompt{Text: beginning(e.Prompt, mostPrompt), At: now}, ""
		m.asked()
	case sessions.KindToolBefore:
		m.live.LastTool = &ToolUse{ID: e.Tool.ID, Name: e.Tool.Name, Target: e.Tool.Target, At: now}
		m.LastTool = m.live.LastTool
	}
	m.live.follow(e)
	return true
}

// goesOn reports whether an event is one of a conversation that goes on; any
// session that is left has an end.
func goesOn(k sessions.Kind) bool {
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
func (l *Local) missionOfEvent(ctx context.Context, a sessions.Adapter, r HookRequest, e sessions.Event) (*loaded, error) {
	if e.SessionID == "" {
		return nil, fmt.Errorf("%w: no session id", sessions.ErrBadPayload)
	}
	key := sessionKey(a.Name(), e.SessionID)
	if m, joined, err := l.joinAdoption(ctx, r.Caller, key, l.hearLate(a, r, e)); joined {
		if refuses(err) {
			err = sayRefused(e, err)
		}
		return m, err
	}
	var parent *loaded
	if r.Caller.Mission != "" {
		m, err := l.missionByID(r.Caller.Mission)
		if err == nil && l.speaksFor(m, a, e) {
			return m, nil
		}
		if err == nil {
			parent = m
		}
	}
	if m := l.rememberedSession(a.Name(), e.SessionID); m != nil {
		return m, nil
	}
	if l.nobodys.has(key, e, l.now()) {
		return nil, nil
	}
	m, err := l.seekMission(ctx, a, r, e, parent)
	l.nobodys.note(key, e, m == nil && err == nil, l.now())
	return m, err
}

// seekMission finds the mission of a session among all, or adopts the session.
func (l *Local) seekMission(ctx context.Context, a sessions.Adapter, r HookRequest, e sessions.Event, parent *loaded) (*loaded, error) {
	if m := l.missionOfSession(a.Name(), e.SessionID); m != nil {
		l.known.speaks(m, e.SessionID)
		return m, nil
	}
	if m := l.missionOfProcess(a, e); m != nil {
		return m, nil
	}
	if e.Kind == sessions.KindSessionEnd {
		return nil, nil // nothing was seen of it, and nothing more will be
	}
	return l.adopt(ctx, a, r, e, parent)
}

// speaksFor reports whether the session of an event is that of the mission
// named by the environment: its own, its first, one it was before, or one the
// same agent process moved on to. Any other is an agent inside the agent.
func (l *Local) speaksFor(m *loaded, a sessions.Adapter, e sessions.Event) bool {
	switch {
	case l.joins(m, a):
		return true
	case m.Agent != a.Name():
		return m.stored.Session == "" && len(m.Command) > 0 && a.Runs(m.Command)
	case e.SessionID == m.stored.Session, slices.Contains(m.Sessions, e.SessionID):
		return true
	case m.stored.Session == "" || m.live.Bound == "":
		return true
	case e.Kind == sessions.KindSessionStart && e.Source != "startup":
		return !m.anotherProcess(e)
	}
	return m.beginsAnew(e)
}

// missionOfProcess finds the mission whose agent, started by hand, goes on in
// another session: after /clear and the like.
func (l *Local) missionOfProcess(a sessions.Adapter, e sessions.Event) *loaded {
	if e.Kind != sessions.KindSessionStart || e.Source == "startup" || e.PID <= 0 {
		return nil
	}
	all, _ := l.allProjects()
	for _, p := range all {
		list, _ := l.missionsOf(p)
		for _, m := range list {
			if m.Agent == a.Name() && HasAgent(m.life) && m.live.speaksFrom(e.PID) {
				return m
			}
		}
	}
	return nil
}

// speaksFrom reports whether the mission's agent is the process with this pid.
func (l *live) speaksFrom(pid int) bool {
	return l.Agent != nil && l.Agent.PID == pid && l.Agent.Liveness() == lock.Alive
}

// leaveBehind closes the missions that an agent has left for a session of
// another mission, with /resume.
func (l *Local) leaveBehind(ctx context.Context, now *loaded, e sessions.Event) error {
	if e.Kind != sessions.KindSessionStart || e.Source == "startup" || e.PID <= 0 {
		return nil
	}
	list, _ := l.missionsOf(now.project)
	for _, m := range list {
		if m.ID == now.ID || !HasAgent(m.life) || !m.live.speaksFrom(e.PID) {
			continue
		}
		left := &request{event: SessionEnded{}, heard: func(m *loaded) (bool, error) {
			m.live.Agent = nil
			return true, nil
		}}
		if _, err := l.submit(ctx, m.project, m.ID, left); err != nil {
			return err
		}
	}
	return nil
}

// missionOfSession finds the mission that has, or had, a session.
func (l *Local) missionOfSession(agent, session string) *loaded {
	all, _ := l.allProjects()
	id := l.adoptedID(all, agent, session, "")
	for _, p := range all {
		if m, err := l.load(p, id); err == nil {
			return m
		}
	}
	var former *loaded
	for _, p := range all {
		list, _ := l.missionsOf(p)
		for _, m := range list {
			if m.Agent != agent {
				continue
			}
			if m.stored.Session == session {
				return m
			}
			if slices.Contains(m.Sessions, session) {
				former = m
			}
		}
	}
	return former
}

// adopt makes a mission of a session that was started by hand. Two hooks at
// once make one mission, since its id follows from the session's.
func (l *Local) adopt(ctx context.Context, a sessions.Adapter, r HookRequest, e sessions.Event, parent *loaded) (*loaded, error) {
	cwd := e.Cwd
	if cwd == "" {
		cwd = r.Caller.Cwd
	}
	g, err := survey(cwd)
	if err != nil {
		return nil, err
	}
	if !l.config.Adopt.Adopts(g.Dir) {
		return nil, nil
	}
	if err := l.nobodys.overBudget(g.Top, l.now()); err != nil && e.Kind != sessions.KindSessionStart {
		return nil, sayRefused(e, err)
	}
	subdir, err := filepath.Rel(g.Top, g.Dir)
	if err != nil {
		return nil, err
	}
	all, _ := l.allProjects()
	n := newMission{
		id: l.adoptedID(all, a.Name(), e.SessionID, ""), agent: a.Name(), command: []string{a.Name()},
		ground: g, root: g.Top, subdir: subdir, session: e.SessionID, transcript: e.Transcript,
		tool: e.Program, resume: e.Resume, adopted: true, env: callerEnv(r.Caller), adapter: a, life: Idle{}, name: nameFromPrompt(e.Prompt),
		provisional: e.Headless,
	}
	if parent != nil {
		n.startedIn = parent.ID
	}
	m, err := l.adoptSoon(ctx, r.Caller, n, l.hearLate(a, r, e))
	if refuses(err) {
		return nil, sayRefused(e, err)
	}
	return m, err
}

// sayRefused is why a workspace was refused, for who has typed a command of Umbra's there.
// Any other hook is silent where Umbra must not work.
func sayRefused(e sessions.Event, refused error) error {
	if e.Kind == sessions.KindCommand {
		return refused
	}
	return nil
}
