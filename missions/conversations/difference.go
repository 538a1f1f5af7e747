package conversations

import (
	"errors"
	"io/fs"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// ConversationDiff is what was said after from and up to to; nil is now.
func (l *Library) ConversationDiff(from addresses.ResolvedMoment, to *addresses.ResolvedMoment, texts bool) (missions.ConversationDiff, error) {
	d := missions.ConversationDiff{}
	earlier, err := l.ReadConversation(from.Mission, from.Snapshot.Snapshot)
	if err != nil {
		return d, err
	}
	var later sessions.Conversation
	if to != nil {
		later, err = l.ReadConversation(to.Mission, to.Snapshot.Snapshot)
	} else {
		later, err = l.ReadPresentConversation(from.Mission)
	}
	if err != nil {
		return d, err
	}
	d.EventsAdded = max(0, later.Events-earlier.Events)
	if !texts {
		return d, nil
	}
	first := countCommonTurns(earlier.Turns, later.Turns)
	if first > 0 && !earlier.Turns[first-1].Done {
		first--
	}
	d.Lines = ConversationLines(later.Turns[first:])
	return d, nil
}

// countCommonTurns counts the turns by which two conversations begin together: of one in which
// its user went back, those before that.
func countCommonTurns(a, b []sessions.Turn) int {
	n := 0
	for n < min(len(a), len(b)) && a[n].At.Equal(b[n].At) {
		n++
	}
	return n
}

func ConversationLines(turns []sessions.Turn) []missions.ConversationLine {
	var said []missions.ConversationLine
	for _, t := range turns {
		said = append(said, missions.ConversationLine{Role: "user", Text: projects.RedactText(t.Prompt), At: t.At})
		said = append(said, turnLines(t)...)
	}
	return said
}

// turnLines merges a turn's texts and tool calls by time; texts first where the
// file says nothing.
func turnLines(t sessions.Turn) []missions.ConversationLine {
	var out []missions.ConversationLine
	tools := t.Tools
	for _, text := range t.Texts {
		for len(tools) > 0 && tools[0].At.Before(text.At) {
			out = append(out, toolLine(tools[0]))
			tools = tools[1:]
		}
		out = append(out, missions.ConversationLine{Role: text.Role, Text: projects.RedactText(text.Text), At: text.At})
	}
	for _, tool := range tools {
		out = append(out, toolLine(tool))
	}
	return out
}

func toolLine(t sessions.Tool) missions.ConversationLine {
	return missions.ConversationLine{Role: "tool", Text: missions.OneLine(t.Name, projects.RedactTarget(t.Target)), At: t.At}
}

// ReadConversation reads the whole conversation of a snapshot; an empty one if
// there is none.
func (l *Library) ReadConversation(m *projects.Mission, s *gitstore.Snapshot) (sessions.Conversation, error) {
	r, meta, err := l.OpenRecordedConversation(m.Project, s.Record)
	if errors.Is(err, sessions.ErrNoSession) {
		return sessions.Conversation{}, nil
	}
	if err != nil {
		return sessions.Conversation{}, err
	}
	defer r.Close()
	a := l.Adapter(meta.Agent)
	if a == nil {
		return sessions.Conversation{}, nil
	}
	return sessions.ReadConversation(a, r)
}

// ReadPresentConversation reads the conversation as the agent's own files hold it now.
func (l *Library) ReadPresentConversation(m *projects.Mission) (sessions.Conversation, error) {
	a := l.Adapter(m.Agent)
	if a == nil || m.Binding.SessionPath == "" {
		return sessions.Conversation{}, nil
	}
	talk, _, err := l.openPresentConversation(m, a)
	if errors.Is(err, fs.ErrNotExist) {
		return sessions.Conversation{}, nil
	}
	if err != nil {
		return sessions.Conversation{}, err
	}
	defer talk.Close()
	return sessions.ReadConversation(a, talk)
}
