package events

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/worktrees"
	"github.com/umbra-vcs/umbra/sessions"
)

// Hook takes one event of an agent. An error of Umbra's never reaches the agent: it is the
// result's Problem, which status shows. Only a request that makes no sense is an error.
func (l *Listener) Hook(ctx context.Context, r missions.HookRequest) (missions.HookResult, error) {
	adapter := l.Adapter(r.Agent)
	hooked, ok := adapter.(sessions.Hooked)
	switch {
	case GivesHints(r.Agent):
		return l.handleHint(ctx, r)
	case !ok:
		return missions.HookResult{}, missions.Errorf(missions.KindUsage, "umbra hook generic is for any other tool", "no hooks for agent %q", r.Agent)
	}
	if asked, ok := worktrees.InEvent(r.Agent, r.Payload); ok {
		return worktreeCall{l, adapter, r, asked}.handle(ctx), nil
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
	event.Prompt, event.Tool.Target = projects.RedactText(event.Prompt), projects.RedactTarget(event.Tool.Target)
	event.Tool.Description = projects.RedactText(event.Tool.Description)
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

// noteHookProblem keeps what went wrong for status, until an event goes well. It returns what
// the agent's user is to see: that a prompt was not kept, once for each cause.
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
func (l *Listener) handleHook(
	ctx context.Context, a sessions.Adapter, r missions.HookRequest, e sessions.Event, result *missions.HookResult,
) (sessions.Answer, error) {
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
	if m, err = l.moves.Follow(ctx, m, cmp.Or(e.Cwd, r.Caller.Cwd)); err != nil {
		l.Logger.Warn("follow a workspace that was moved", "mission", m.ID, "error", err)
	}
	one := &report{Listener: l, adapter: a, request: r, event: e}
	one.keepWorktree(ctx, m)
	return one.handle(ctx, m, result)
}
