package snapshots

import (
	"slices"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// maxMakers bounds how many tool calls are remembered, and recorded of one snapshot.
const maxMakers = 128

// noteStarted remembers tool calls that may change files from now on.
func noteStarted(m *projects.Mission, calls []missions.ToolUse) {
	if len(calls) == 0 {
		return
	}
	makers := slices.Clone(m.Live.Makers)
	for _, call := range calls {
		makers = append(makers, projects.Maker{ToolUse: call})
	}
	m.Live.Makers = makers[max(0, len(makers)-maxMakers):]
}

// noteFinished remembers that a tool call has ended. Where nobody knows which, all have.
func noteFinished(m *projects.Mission, tool missions.ToolUse) {
	m.Live.Makers = slices.Clone(m.Live.Makers)
	for i := range m.Live.Makers {
		maker := &m.Live.Makers[i]
		unknown := tool.ID == "" && tool.Name == ""
		maker.Ended = maker.Ended || unknown || maker.ID == tool.ID && (tool.ID != "" || maker.Name == tool.Name)
	}
}

// dropMakers forgets the tool calls that the newest snapshot has named. Calls that still
// run may change more, until the turn ends.
func dropMakers(m *projects.Mission, turnEnded bool) {
	m.Live.Makers = slices.DeleteFunc(slices.Clone(m.Live.Makers), func(maker projects.Maker) bool { return turnEnded || maker.Ended })
}

// makersOf are the tool calls that may have changed what a snapshot shows, those that have
// ended first. What Umbra has changed itself, no tool has made.
func makersOf(m *projects.Mission, w *WantedSnapshot) (made []missions.ToolUse) {
	if w.Operation != nil {
		return nil
	}
	for _, ended := range []bool{true, false} {
		for _, maker := range m.Live.Makers {
			if maker.Ended == ended {
				made = append(made, maker.ToolUse)
			}
		}
	}
	return made
}

// promptOf is what began the turn of a snapshot that is about to be taken, "" if that is
// not known. An agent that continues its turn does not say it again.
func promptOf(m *projects.Mission, w *WantedSnapshot) string {
	if r, ok := w.Lifecycle.(missions.Running); ok && r.Prompt != "" {
		return missions.PromptLine(r.Prompt)
	}
	turn := w.Lifecycle.LastTurn()
	switch {
	case m.Tip != nil && m.Tip.Turn == turn && m.Tip.Prompt != "":
		return m.Tip.Prompt
	case turn > 0 && m.LastPrompt != nil && conversations.RunsWithoutHooks(m):
		return missions.PromptLine(m.LastPrompt.Text) // of the turn that the conversation counts last
	}
	return ""
}
