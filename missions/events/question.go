package events

import (
	"context"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/sessions"
)

// toolAskedAbout is the tool call of a question that does not name its call, as of Claude
// Code: the call of the question that is open already, or else the newest open call.
func toolAskedAbout(m *projects.Mission, tool sessions.Tool) sessions.Tool {
	about := missions.ToolUse{}
	if last := m.Live.LastTool; last != nil {
		about = *last
	}
	if n := len(m.Live.OpenTools); n > 0 {
		about = m.Live.OpenTools[n-1]
	}
	if r, ok := m.Lifecycle.(missions.Running); ok && len(r.Pending) > 0 {
		p := r.Pending[0]
		about = missions.ToolUse{ID: p.ID, Name: p.Tool, Target: p.Target}
	}
	tool.ID, tool.Name, tool.Target = about.ID, about.Name, about.Target
	return tool
}

// reportedQuestion is what an agent says itself of its questions: that it asks, about the tool
// that is about to run, before a hook of its own says so; and that it was answered and
// works, which no hook says until the tool has ended. It is nil if the agent says neither.
func (l *Listener) reportedQuestion(m *projects.Mission, now sessions.Attention) missions.Event {
	r, _ := m.Lifecycle.(missions.Running)
	n := len(r.Pending)
	switch {
	case n > 0 && now.Busy.After(r.Pending[n-1].At) && l.IsTimeSince(l.LastHookInstant(m), now.Busy):
		return missions.PermissionAnswered{}
	case n > 0, m.LastPrompt == nil, now.Asked.IsZero(), !l.IsSincePrompt(m, now.Asked):
		return nil
	}
	about := toolAskedAbout(m, sessions.Tool{})
	return missions.PermissionAsked{Permission: missions.Permission{ID: about.ID, Tool: about.Name, Target: about.Target, At: now.Asked}}
}

const (
	// minAnswerRunTime is how long a command must have run until it counts as the one that
	// its agent had asked about.
	minAnswerRunTime = 5 * time.Second
	// otherHooksGrace is the time for other hooks of the same question, which start with
	// Umbra's.
	otherHooksGrace = 300 * time.Millisecond
)

// noteAnsweredQuestion takes an agent's question for answered if the agent runs a command that
// started since, in a process group of its own, as Claude Code and Codex start them. A
// process that an earlier command starts in the background has no group of its own. These
// agents report an answer only when the command has ended.
func (l *Listener) noteAnsweredQuestion(ctx context.Context, m *projects.Mission) error {
	if _, ok := l.answeredQuestion(m); !ok {
		return nil
	}
	r := &snapshots.Request{Event: missions.PermissionAnswered{}}
	r.Prepare = func(m *projects.Mission) (bool, error) {
		p, ok := l.answeredQuestion(m)
		r.Event = missions.PermissionAnswered{ID: p.ID}
		return ok, nil
	}
	_, err := l.snapshots.SubmitRequest(ctx, m.Project, m.ID, r)
	return err
}

// answeredQuestion is the first open question of a mission's agent, if the agent runs the
// command of that question, and does not report answers itself.
func (l *Listener) answeredQuestion(m *projects.Mission) (missions.Permission, bool) {
	r, _ := m.Lifecycle.(missions.Running)
	if len(r.Pending) == 0 {
		return missions.Permission{}, false
	}
	_, tells := l.Adapter(m.Agent).(sessions.Answering)
	process, alive := m.Live.LivingProcess()
	up := l.Uptime()
	if tells || !alive || up == 0 || l.presence.AgentAttention(m).File != "" {
		return missions.Permission{}, false
	}
	p, heard := r.Pending[0], l.LastHookInstant(m)
	asked := l.ElapsedSince(heard) + projects.WallTime(heard.At).Sub(projects.WallTime(p.At)) // whatever the clock was set to since
	return p, lock.Began(process.PID, up-asked+otherHooksGrace, up-minAnswerRunTime)
}
