package missions

import (
	"context"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/sessions"
)

// same reports whether two questions are one that is heard twice, in two ways.
func (p Permission) same(other Permission) bool {
	return p.Tool == other.Tool && p.Target == other.Target && (p.ID == other.ID || p.ID == "" || other.ID == "")
}

// about reports whether a question is about a call. Of an agent that does not tell
// which, it is the one of that tool, or on that file or command: not each calls a
// tool the same when it asks.
func (p Permission) about(tool ToolUse) bool {
	if p.ID != "" && tool.ID != "" {
		return p.ID == tool.ID
	}
	return p.Tool == tool.Name || p.Tool == "" || p.Target != "" && p.Target == tool.Target
}

// answered is the turn without what was asked about a call.
func (r Running) answered(tool ToolUse) Running {
	if slices.ContainsFunc(r.Pending, func(p Permission) bool { return p.about(tool) }) {
		r.Pending = slices.DeleteFunc(slices.Clone(r.Pending), func(p Permission) bool { return p.about(tool) })
	}
	return r
}

// follow keeps the calls of the turn whose end was not heard yet. Not each is told: the
// next prompt forgets them.
func (l *live) follow(e sessions.Event) {
	ended := func(t ToolUse) bool {
		return t.ID == e.Tool.ID && (t.ID != "" || t.Name == e.Tool.Name || e.Tool.Name == "")
	}
	switch e.Kind {
	case sessions.KindPrompt:
		l.Open = nil
	case sessions.KindToolBefore:
		l.Open = append(l.Open, *l.LastTool)
		l.Open = l.Open[max(0, len(l.Open)-mostSeen):]
	case sessions.KindToolAfter:
		l.Open = slices.DeleteFunc(l.Open, ended)
	}
}

// askedAbout is the call that an agent asks about without saying which, as Claude Code
// does: what it asks about already, or else the newest that has not ended.
func (m *loaded) askedAbout(tool sessions.Tool) sessions.Tool {
	about := ToolUse{}
	if last := m.live.LastTool; last != nil {
		about = *last
	}
	if n := len(m.live.Open); n > 0 {
		about = m.live.Open[n-1]
	}
	if r, ok := m.life.(Running); ok && len(r.Pending) > 0 {
		p := r.Pending[0]
		about = ToolUse{ID: p.ID, Name: p.Tool, Target: p.Target}
	}
	tool.ID, tool.Name, tool.Target = about.ID, about.Name, about.Target
	return tool
}

// asksElsewhere reports whether an event is a question, or the answer to one, of a
// session that the mission has left: its user is asked in another one. Nor is it the
// mission's if it would be one of its turn, and there is none.
func (m *loaded) asksElsewhere(e sessions.Event) bool {
	switch e.Kind {
	case sessions.KindPermission:
		return e.Within && !InTurn(m.life) || m.leftSession(e)
	case sessions.KindAnswered:
		return m.leftSession(e)
	}
	return false
}

// question is what an agent says itself of its questions: that it asks, about the tool
// that is about to run, before a hook of its own says so; and that it was answered and
// works, which no hook says until the tool has ended.
func (l *Local) question(m *loaded, now sessions.Attention) (Event, bool) {
	r, _ := m.life.(Running)
	if n := len(r.Pending); n > 0 {
		return PermissionAnswered{}, now.Busy.After(r.Pending[n-1].At) && l.notBefore(l.lastHeard(m), now.Busy)
	}
	if m.LastPrompt == nil || now.Asked.IsZero() || !l.sincePrompt(m, now.Asked) {
		return nil, false
	}
	about := m.askedAbout(sessions.Tool{})
	return PermissionAsked{Permission: Permission{ID: about.ID, Tool: about.Name, Target: about.Target, At: now.Asked}}, true
}

const (
	// answeredAfter is how long a command must have run until it is believed that it is
	// what its agent had asked for.
	answeredAfter = 5 * time.Second
	// askedGrace is for other hooks of the same question, which begin with Umbra's.
	askedGrace = 300 * time.Millisecond
)

// answeredNow takes an agent's question for answered where it runs a command that was
// begun since, in a process group of its own as Claude Code and Codex begin one: not what
// an earlier one starts in the background. They tell nothing of an answer until the
// command has ended.
func (l *Local) answeredNow(ctx context.Context, m *loaded) error {
	if _, ok := l.runsAnswer(m); !ok {
		return nil
	}
	r := &request{event: PermissionAnswered{}}
	r.heard = func(m *loaded) (bool, error) {
		p, ok := l.runsAnswer(m)
		r.event = PermissionAnswered{ID: p.ID}
		return ok, nil
	}
	_, err := l.submit(ctx, m.project, m.ID, r)
	return err
}

// runsAnswer is the question that a mission's agent has asked first, if it runs what
// was asked about, and does not tell itself of answers.
func (l *Local) runsAnswer(m *loaded) (Permission, bool) {
	r, _ := m.life.(Running)
	if len(r.Pending) == 0 {
		return Permission{}, false
	}
	_, tells := l.adapter(m.Agent).(sessions.Answering)
	process, alive := m.live.process()
	up := l.uptime()
	if tells || !alive || up == 0 || l.attention(m).File != "" {
		return Permission{}, false
	}
	p, heard := r.Pending[0], l.lastHeard(m)
	asked := l.ago(heard) + wall(heard.At).Sub(wall(p.At)) // whatever the clock was set to since
	return p, lock.Began(process.PID, up-asked+askedGrace, up-answeredAfter)
}
