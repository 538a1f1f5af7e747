package searches

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	runs    []*run // oldest first
	known   map[sessionID][]*run
	newest  time.Time
	seen    map[said]bool // what several runs may hold
	heard   map[said]*subagentFile
	left    *runSearch // of a session of one run; nil: not begun
}

// said tells something that was said from everything else in a session.
type said struct {
	in       missions.SearchPlace
	at       int64
	text     string
	subagent string
}

// utterance is a text of a conversation.
type utterance struct {
	in    missions.SearchPlace
	text  string
	at    time.Time
	place int64 // where its line ends in the file
	n     int   // its number in the turn
	tool  *sessions.Tool
	// subagent is the one that it was said by, or to; "" for the agent itself. In a file of
	// its own, moment is the snapshot that shows it.
	subagent string
	moment   func() projects.NumberedSnapshot
}

// search looks through the next piece of a session.
func (t *conversationSearch) search(ctx context.Context, page *page) (time.Time, error) {
	if len(t.runs) == 1 {
		return t.searchBack(ctx, page)
	}
	t.seen = map[said]bool{}
	for _, r := range t.runs {
		if err := t.searchForward(ctx, page, r); err != nil {
			if ctx.Err() != nil {
				return time.Time{}, err
			}
			notifyUnread(ctx, r.mission, err)
		}
	}
	return time.Time{}, nil
}

// runSearch is how far a run was looked through, from its newest stretch to its oldest.
type runSearch struct {
	*run
	what      conversations.TurnRange
	stretches []stretch   // that are left
	newest    []time.Time // nothing in a stretch or one before it is newer
	together  int         // how many stretches are read at once
	unread    bool        // something could not be read, and it was said
}

// beginBack finds the stretches of the session's only run.
func (t *conversationSearch) beginBack() error {
	r := t.runs[0]
	what, err := t.turnsOf(r, t.known)
	if err != nil {
		return err
	}
	what.Kept = &conversations.Kept{Chunks: &t.chunks}
	left := &runSearch{run: r, what: what, stretches: t.stretchesOf(t.index(t.project), r, what, r.isGrown(what.File)), together: 1}
	var newest time.Time
	for _, s := range left.stretches {
		at, isKnown := t.newest, false
		if s.indexed != nil {
			if _, at, isKnown = s.times(); !isKnown || at.After(t.newest) {
				at = t.newest
			}
		}
		if at.After(newest) {
			newest = at
		}
		left.newest = append(left.newest, newest)
	}
	t.left = left
	return nil
}

// searchBack looks through the next stretch that may have something for the page, the newest
// first: what is older may not be wanted. What the agent has itself copied of another session
// was said there: it comes first, and nothing before it counts.
func (t *conversationSearch) searchBack(ctx context.Context, page *page) (time.Time, error) {
	if t.left == nil {
		if err := t.beginBack(); err != nil {
			notifyUnread(ctx, t.runs[0].mission, err)
			return time.Time{}, ctx.Err()
		}
	}
	r := t.left
	for len(r.stretches) > 0 {
		s := r.pop()
		own := page.part()
		skipped, copied := t.skip(own, r.run, s)
		if !skipped {
			for n := 1; n < r.together && len(r.stretches) > 0 && s.indexed != nil && t.isReadToo(page, r.run, r.stretches[len(r.stretches)-1]); n++ {
				s.from = r.pop().from
			}
			r.together = min(2*r.together, mostTogether)
			var err error
			if copied, err = t.readStretch(ctx, own, r.run, r.what, s); ctx.Err() != nil {
				return time.Time{}, err
			} else if err != nil && !r.unread {
				r.unread = true
				notifyUnread(ctx, r.mission, err)
			}
		}
		page.take(own)
		if copied {
			break
		}
		if n := len(r.stretches); !skipped && n > 0 {
			return r.newest[n-1], nil
		}
	}
	return time.Time{}, nil
}

// pop is the last of the stretches that are left.
func (r *runSearch) pop() stretch {
	n := len(r.stretches) - 1
	last := r.stretches[n]
	r.stretches = r.stretches[:n]
	return last
}

// searchForward looks through a run of which there are several of one session: what two of
// them hold is found where it was said first.
func (t *conversationSearch) searchForward(ctx context.Context, page *page, r *run) error {
	what, failed := t.turnsOf(r, t.known)
	if failed != nil {
		return failed
	}
	own := page.part()
	for _, s := range t.stretchesOf(t.index(t.project), r, what, r.isGrown(what.File)) {
		if skipped, _ := t.skip(own, r, s); !skipped {
			_, err := t.readStretch(ctx, own, r, what, s)
			failed = errors.Join(failed, err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	if t.isMeant(r.mission) {
		page.take(own)
	}
	return failed
}

// mostTogether is how many stretches of what is indexed are read at once, where many may
// match one after the other: to open a conversation costs as much as to read such a stretch.
const mostTogether = 8

// isReadToo reports whether a stretch of what is indexed has to be read.
func (t *conversationSearch) isReadToo(page *page, r *run, s stretch) bool {
	skipped, _ := t.skip(page.part(), r, s)
	return s.indexed != nil && !skipped
}

// skip reports whether nothing for the page can be in a stretch, and whether something in it
// is known to be copied of another session: then the page has nothing of what comes before.
func (t *conversationSearch) skip(page *page, r *run, s stretch) (skipped, copied bool) {
	if s.indexed == nil {
		return false, false
	}
	for _, from := range s.indexed.From {
		copied = copied || t.isCopied(r, from)
	}
	oldest, newest, known := s.times()
	known = known && len(t.runs) == 1
	past := known && page.whole.isPast(newest)
	told := known && page.isTold(earliest(oldest, t.newest))
	if !past && !told && t.index(t.project).May(*s.indexed) {
		return false, copied
	}
	if copied {
		page.hits, page.more = nil, false
	}
	page.more = page.more || past && !newest.Before(page.since)
	return true, copied
}

// readStretch looks through a stretch, and reports whether something in it was copied. What
// is indexed is short: the newest of it is looked at first, so that no text is cleaned of
// secrets for a hit that a newer one drives off the page.
func (t *conversationSearch) readStretch(ctx context.Context, page *page, r *run, what conversations.TurnRange, s stretch) (copied bool, err error) {
	what.From, what.To, what.Output = s.from, s.to, t.places[missions.SearchOutput]
	var held []conversations.PlacedTurn
	err = t.conversations.ReadRecordedTurns(ctx, t.project, what, func(turn conversations.PlacedTurn) error {
		switch {
		case t.isCopied(r, turn.From):
			page.hits, page.more, copied, held = nil, false, true, nil
		case s.indexed != nil && len(t.runs) == 1:
			held = append(held, turn)
		default:
			t.searchTurn(page, r, turn)
		}
		return nil
	})
	for _, turn := range slices.Backward(held) {
		t.searchTurn(page, r, turn)
	}
	return copied, err
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// isCopied reports whether a turn of a run was said in another session that is known.
func (t *conversationSearch) isCopied(r *run, from string) bool {
	return from != "" && from != r.meta.SessionID && t.known[sessionID{r.meta.Agent, from}] != nil
}

func (t *conversationSearch) searchTurn(page *page, r *run, turn conversations.PlacedTurn) {
	for u := range utterances(turn) {
		if !t.wants(u.in) || !page.query.matches(u.text) {
			continue
		}
		if len(t.runs) > 1 {
			one := said{u.in, u.at.UnixNano(), u.text, u.subagent}
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
	if u.subagent != "" {
		hit.Order += " " + u.subagent
	}
	if !page.wants(hit) {
		return
	}
	clean, prompt := redact(u), ""
	if u.in == missions.SearchPrompts && u.subagent == "" {
		prompt = clean
	}
	order := hit.Order
	if u.moment == nil {
		u.moment = func() projects.NumberedSnapshot { return r.momentOf(u.place, prompt, u.n == 0) }
	}
	hit = t.hitAt(r.mission, u.moment(), when, u.in)
	hit.Order, hit.Agent, hit.Subagent = order, r.meta.Agent, u.subagent
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
	if u.tool == nil || u.in == missions.SearchOutput {
		return projects.RedactText(u.text)
	}
	return projects.RedactTarget(u.text)
}

// utterances are the texts of a turn, and what subagents said within it.
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
		if !give(utterance{in: missions.SearchPrompts, text: turn.Prompt, at: turn.At, place: turn.Place + 1}) ||
			!giveSpoken(turn.Place, sessions.Subagent{Texts: turn.Texts, Tools: turn.Tools}, give) {
			return
		}
		for _, of := range turn.Subagents {
			if !giveSpoken(turn.Place, of, give) {
				return
			}
		}
	}
}

// giveSpoken gives what was said and done from a place on.
func giveSpoken(place int64, of sessions.Subagent, give func(utterance) bool) bool {
	for _, text := range of.Texts {
		in := missions.SearchAnswers
		if text.Role == "user" {
			in = missions.SearchPrompts
		}
		if !give(utterance{in: in, text: text.Text, at: text.At, place: place + text.Stop, subagent: of.ID}) {
			return false
		}
	}
	for i := range of.Tools {
		tool := &of.Tools[i]
		in := missions.SearchTools
		if isCommand(tool.Name) {
			in = missions.SearchCommands
		}
		if !give(utterance{in: in, text: toolText(tool), at: tool.At, place: place + tool.Stop, tool: tool, subagent: of.ID}) {
			return false
		}
		out := utterance{in: missions.SearchOutput, text: tool.Output, at: tool.At, place: place + tool.OutputStop, tool: tool, subagent: of.ID}
		if tool.Output != "" && !give(out) {
			return false
		}
	}
	return true
}

// toolText is what can be found of a tool call: its name, what it was given, what the model
// said that it does, and how it ended.
func toolText(t *sessions.Tool) string {
	text := t.Name + ": " + t.Whole
	if t.Description != "" {
		text += "\n" + t.Description
	}
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
