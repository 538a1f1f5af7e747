package searches

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// conversationSearch looks through one session.
type conversationSearch struct {
	*scope
	project *projects.Project
	page    *page
	runs    []*run // oldest first
	known   map[sessionID][]*run
	newest  time.Time
	seen    map[said]bool // what several runs may hold
}

// said tells something that was said from everything else in a session.
type said struct {
	in   missions.SearchPlace
	at   int64
	text string
}

// utterance is a text of a conversation.
type utterance struct {
	in    missions.SearchPlace
	text  string
	at    time.Time
	place int64 // where its line ends in the file
	n     int   // its number in the turn
	tool  *sessions.Tool
}

func (t *conversationSearch) search(ctx context.Context) error {
	for _, r := range t.runs {
		if err := t.searchRun(ctx, r); err != nil {
			if ctx.Err() != nil {
				return err
			}
			notifyUnread(ctx, r.mission, err)
		}
	}
	return nil
}

// searchRun looks through a run. What the agent has itself copied of another session was
// said there: it comes first.
func (t *conversationSearch) searchRun(ctx context.Context, r *run) error {
	own := *t.page
	own.hits, own.more = nil, false
	err := t.conversations.ReadRecordedTurns(ctx, t.project, r.turnsOf(t.known), func(turn conversations.PlacedTurn) error {
		if turn.From != "" && turn.From != r.meta.SessionID && t.known[sessionID{r.meta.Agent, turn.From}] != nil {
			own.hits, own.more = nil, false
			return nil
		}
		t.searchTurn(&own, r, turn)
		return nil
	})
	if t.isMeant(r.mission) {
		for _, hit := range own.hits {
			t.page.add(hit)
		}
		t.page.more = t.page.more || own.more
	}
	return err
}

func (t *conversationSearch) searchTurn(page *page, r *run, turn conversations.PlacedTurn) {
	for u := range utterances(turn) {
		if !t.wants(u.in) || !page.query.matches(u.text) {
			continue
		}
		if len(t.runs) > 1 {
			one := said{u.in, u.at.UnixNano(), u.text}
			if t.seen[one] {
				continue
			}
			t.seen[one] = true
		}
		t.take(page, r, u)
	}
}

// wants reports whether a place is searched: commands are tool calls.
func (t *conversationSearch) wants(in missions.SearchPlace) bool {
	return t.places[in] || in == missions.SearchCommands && t.places[missions.SearchTools]
}

// take makes a hit of a text, whose secrets it leaves out.
func (t *conversationSearch) take(page *page, r *run, u utterance) {
	when := u.at
	if when.IsZero() || when.After(t.newest) {
		when = t.newest
	}
	hit := missions.SearchHit{At: when.UTC(), Order: fmt.Sprintf("%s %s %016x %d", r.snapshots[0].ID, u.in, u.place, u.n)}
	if !page.wants(hit) {
		return
	}
	clean, prompt := redact(u), ""
	if u.in == missions.SearchPrompts {
		prompt = clean
	}
	order := hit.Order
	hit = t.hitAt(r.mission, r.momentOf(u.place, prompt, u.n == 0), when, u.in)
	hit.Order, hit.Agent = order, r.meta.Agent
	hit.Text, _ = page.query.line(clean)
	if u.tool != nil {
		hit.Exit = u.tool.Exit
		if line := strings.TrimPrefix(hit.Text, u.tool.Name); line != "" && line == hit.Text {
			hit.Text = u.tool.Name + ": " + line
		}
	}
	page.add(hit)
}

// redact is a text without secrets.
func redact(u utterance) string {
	if u.tool == nil {
		return projects.RedactText(u.text)
	}
	return projects.RedactTarget(u.text)
}

// utterances are the texts of a turn.
func utterances(turn conversations.PlacedTurn) func(func(utterance) bool) {
	return func(yield func(utterance) bool) {
		n := 0
		give := func(u utterance) bool {
			if u.at.IsZero() {
				u.at = turn.At
			}
			u.n = n
			n++
			return yield(u)
		}
		if !give(utterance{in: missions.SearchPrompts, text: turn.Prompt, at: turn.At, place: turn.Place + 1}) {
			return
		}
		for _, text := range turn.Texts {
			in := missions.SearchAnswers
			if text.Role == "user" {
				in = missions.SearchPrompts
			}
			if !give(utterance{in: in, text: text.Text, at: text.At, place: turn.Place + text.Stop}) {
				return
			}
		}
		for i := range turn.Tools {
			tool := &turn.Tools[i]
			in := missions.SearchTools
			if isCommand(tool.Name) {
				in = missions.SearchCommands
			}
			if !give(utterance{in: in, text: toolText(tool), at: tool.At, place: turn.Place + tool.Stop, tool: tool}) {
				return
			}
		}
	}
}

// toolText is what can be found of a tool call: its name, what it was given, and how it
// ended.
func toolText(t *sessions.Tool) string {
	text := t.Name + ": " + t.Whole
	switch {
	case t.Exit != "":
		text += "\nexit " + t.Exit
	case t.Failed:
		text += "\nfailed"
	}
	return text
}

// isCommand reports whether a tool runs a command line, by the names that agents give to
// such tools.
func isCommand(tool string) bool {
	tool = strings.ToLower(tool)
	for _, word := range []string{"bash", "shell", "exec", "command", "terminal"} {
		if strings.Contains(tool, word) {
			return true
		}
	}
	return false
}
