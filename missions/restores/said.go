package restores

import (
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// refreshLastPrompt has a mission whose conversation has become another one say that one's
// last prompt and tool: what a restore took back was not said any more. Nothing
// fails for it.
func (rs *Restorer) refreshLastPrompt(m *projects.Mission, doc JournalDoc) {
	talk := doc.Conversation
	m.LastPrompt, m.LastTool, m.Live.LastTool, m.Live.ProvisionalPrompt = nil, nil, nil, nil
	if talk.Recipe == nil && talk.Record.IsZero() && doc.Operation.Kind == "restore" {
		return // it begins anew
	}
	if turns, ok := rs.conversations.ReadTurns(m); ok {
		conversations.TakeLastPrompt(m, turns)
		return
	}
	target, err := addresses.SnapshotByID(m.Project, doc.Operation.Target)
	if err != nil {
		return
	}
	if then, err := conversations.ReadStoredBeforePrompt(m.Project, target); err == nil {
		m.LastPrompt, m.LastTool = then.LastPrompt, then.LastTool
	}
}
