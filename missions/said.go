package missions

import (
	"io"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/sessions"
)

// sayAgain has a mission whose conversation has become another one say that one's
// last prompt and tool: what a restore took back was not said any more. Nothing
// fails for it.
func (l *Local) sayAgain(m *loaded, doc restoreDoc) {
	talk := doc.Talk
	m.LastPrompt, m.LastTool, m.live.LastTool, m.live.Asked = nil, nil, nil, nil
	if talk.Recipe == nil && talk.Record.IsZero() && doc.Operation.Kind == "restore" {
		return // it begins anew
	}
	if turns, ok := l.turnsOf(m); ok {
		m.lastSaid(turns)
		return
	}
	target, err := m.project.snapshotNamed(doc.Operation.Target)
	if err != nil {
		return
	}
	if then, err := m.project.saidAt(target); err == nil {
		m.LastPrompt, m.LastTool = then.LastPrompt, then.LastTool
	}
}

// turnsOf reads the mission's conversation, unless that would take long.
func (l *Local) turnsOf(m *loaded) ([]sessions.Turn, bool) {
	a := l.adapter(m.Agent)
	if a == nil {
		return nil, false
	}
	talk, size, err := l.openTalk(m, a)
	if err != nil {
		return nil, false
	}
	defer talk.Close()
	if size+talk.shift > l.mostCounted {
		return nil, false
	}
	follower := a.Follow()
	if _, err := io.Copy(feeder{follower}, io.LimitReader(talk, l.mostCounted)); err != nil {
		return nil, false
	}
	return follower.Conversation().Turns, true
}

// saidAt is a mission as it was at a snapshot, or where a prompt asked for that, at
// the one before: no cut there holds the prompt.
func (p *project) saidAt(s *gitstore.Snapshot) (stored, error) {
	if triggersOf(s).Has(TriggerPrompt) && !s.Parent().IsZero() {
		before, err := p.store.Snapshot(s.Parent())
		if err != nil {
			return stored{}, err
		}
		s = before
	}
	return p.storedAt(s.Record)
}
