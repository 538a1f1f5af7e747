package events

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/worktrees"
	"github.com/umbra-vcs/umbra/sessions"
)

// worktreeCall is a call by which an agent asks about a worktree.
type worktreeCall struct {
	*Listener
	adapter sessions.Adapter
	request missions.HookRequest
	asked   worktrees.Asked
}

// handle makes or removes the worktree. What went wrong is the result's Problem; the hook
// then answers without the Service.
func (c worktreeCall) handle(ctx context.Context) (result missions.HookResult) {
	if c.asked.Remove != "" {
		if err := c.worktrees.Remove(ctx, c.request.Caller, c.asked, c.asker()); err != nil {
			c.Logger.Warn("remove a worktree", "worktree", c.asked.Remove, "error", err)
			result.Problem = missions.AsError(err).Message
		}
		return result
	}
	place, err := c.worktrees.Make(ctx, c.request.Caller, c.adapter.Name(), c.mission(ctx), c.asked)
	if err != nil {
		c.Logger.Warn("fork for a worktree", "worktree", c.asked.Name, "directory", c.asked.Cwd, "error", err)
		result.Problem = missions.AsError(err).Message
		return result
	}
	result.Mission, result.Output = place.Mission, []byte(place.Dir+"\n")
	return result
}

// mission is the mission whose agent asks, nil if that is not known: of a session that is
// about to begin there is none yet, but its launch may be a mission's. The environment of a
// session in the background may be another one's.
func (c worktreeCall) mission(ctx context.Context) *projects.Mission {
	agent := c.adapter.Name()
	if c.asked.Session != "" {
		m := c.awaitAdopted(ctx, SessionKey(agent, c.asked.Session))
		if m == nil {
			m = c.findSessionMission(agent, c.asked.Session)
		}
		if m != nil {
			return m
		}
	}
	if m, err := c.MissionByID(c.request.Caller.Mission); err == nil && m.Agent == agent {
		return m
	}
	return nil
}

// asker is the process of the agent that asks, 0 if that is not known.
func (c worktreeCall) asker() int {
	pid := 0
	if t, ok := c.adapter.(sessions.Telling); ok {
		pid, _ = t.PID(projects.CallerEnv(c.request.Caller))
	}
	return cmp.Or(pid, c.request.AgentPID)
}

// keepWorktree takes a snapshot of the worktree in which an event's agent works, where that
// is not the mission's own workspace: a subagent has one of its own, and an agent may go to
// one in the middle of its conversation, which stays its mission's. A worktree inside the
// workspace that nobody asked for has a mission from then on.
func (r *report) keepWorktree(ctx context.Context, m *projects.Mission) {
	if r.worktree = r.worktrees.At(m, r.event.Cwd); r.worktree == nil {
		begun, pending, err := r.worktrees.Begin(ctx, r.request.Caller, m, r.event.Cwd, r.adoptionPatience(ctx, r.request.Caller), r.event.Kind == sessions.KindPrompt)
		r.worktree, r.beginning = begun, pending
		if err != nil || begun == nil {
			return // what is not kept is said
		}
	}
	what := worktreeSnapshot(r.event)
	if what == "" || isTool(r.event.Kind) && !r.HookConfig(r.request.Caller).Hooks.Tools {
		return
	}
	if err := r.worktrees.Keep(ctx, r.worktree, what); err != nil {
		r.Logger.Warn("keep a worktree", "mission", r.worktree.ID, "event", r.event.Name, "error", err)
	}
}

// foundNotice is what an agent's user sees once of a worktree that nobody asked for, and that
// has a mission; "" if it is no such worktree, or was said.
func (r *report) foundNotice(m *projects.Mission) string {
	if r.worktree == nil || r.worktree.Parent != nil || slices.Contains(m.Live.Places.SaidDirs, r.worktree.Binding.Workspace) {
		return ""
	}
	return fmt.Sprintf("Umbra: what is written in %s, a worktree inside the workspace, is kept from now on, as mission %s",
		r.worktree.Binding.Workspace, r.worktree.Name)
}

func isTool(k sessions.Kind) bool { return k == sessions.KindToolBefore || k == sessions.KindToolAfter }

// worktreeSnapshot is what the snapshot of a worktree is of that an event asks for; "" if it
// asks for none. A subagent's last event there is the end of a tool.
func worktreeSnapshot(e sessions.Event) string {
	switch {
	case e.Kind == sessions.KindPrompt:
		return missions.OneLine("prompt", e.Prompt)
	case e.Kind == sessions.KindToolBefore && e.Writes:
		return missions.OneLine("before "+e.Tool.Name, e.Tool.Target)
	case e.Kind == sessions.KindToolAfter && e.Writes:
		return missions.OneLine("after "+e.Tool.Name, e.Tool.Target)
	case e.Kind == sessions.KindStop, e.Kind == sessions.KindError:
		return "turn ended"
	case e.Kind == sessions.KindSessionEnd:
		return "session ended"
	}
	return ""
}
