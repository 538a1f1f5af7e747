package copilot

import (
	"slices"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsonlines"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// Follow returns a parser to feed as the file grows.
func (Adapter) Follow() sessions.Follower { return newParser() }

// parser builds a conversation line by line.
type parser struct {
	jsonlines.Reading
	open     sessions.Calls // of the last turn
	answered bool           // the last answer asks for no call
}

func newParser() *parser {
	p := &parser{}
	p.Begin(p.line)
	return p
}

func (p *parser) line(b []byte, start, stop int64) bool {
	l, ok := parseLine(b)
	if !ok {
		return false
	}
	switch {
	case l.kind == typeStart:
		p.Conv.ID, p.Conv.Cwd = l.identity()
		return true
	case l.kind == typeUsage:
		p.used(l)
		return true
	case l.agent != "":
		p.delegated(l, stop)
		return true
	case l.kind == typePrompt:
		p.prompt(l, start, stop)
	}
	if t := p.Last(); t != nil && p.take(l, t, stop) {
		t.End, t.Stop = l.at, stop
		t.Done = p.Conv.State != sessions.StateRunning && p.open.Len() == 0
	}
	return true
}

// prompt begins a turn, unless it is one that a turn takes up.
func (p *parser) prompt(l line, start, stop int64) {
	t, how := p.Last(), l.prompting()
	runs := t != nil && p.Conv.State == sessions.StateRunning
	p.Conv.State, p.answered = sessions.StateRunning, false
	switch {
	case how == byItself && t != nil:
	case how == within && runs:
		t.Texts = append(t.Texts, sessions.Text{Role: "user", Text: l.text("content"), At: l.at, Stop: stop - t.Start})
	default:
		p.open.GiveUp()
		p.Conv.Turns = append(p.Conv.Turns, sessions.Turn{
			Prompt: l.text("content"), ID: l.id, At: l.at, Start: start, Tokens: sessions.Tokens{Input: -1, Output: -1},
		})
	}
}

// take takes a line into a turn, and reports whether it is of one.
func (p *parser) take(l line, t *sessions.Turn, stop int64) bool {
	switch l.kind {
	case typePrompt:
	case typeBegins:
		p.Conv.State, p.answered = sessions.StateRunning, false
	case typeAnswer:
		p.answer(l, t, stop)
	case typeResult:
		p.result(l, t, stop)
	case typeEnds:
		if p.answered && p.open.Len() == 0 {
			p.Conv.State = sessions.StateIdle
		}
	case typeAbort:
		p.Conv.State = sessions.StateInterrupted
		p.giveUp(t)
	case typeError:
		p.Conv.State, t.Refusal = sessions.StateError, l.text("message")
		p.giveUp(t)
		if t.Refusal != "" {
			t.Texts = append(t.Texts, sessions.Text{Role: "assistant", Text: t.Refusal, At: l.at, Stop: stop - t.Start})
		}
	case typeCompacted:
		t.Compactions++
	default:
		return false
	}
	return true
}

// giveUp ends the calls that a turn ends with: the model is told that they were interrupted.
func (p *parser) giveUp(t *sessions.Turn) {
	for i := range t.Tools {
		if call := &t.Tools[i]; !call.Done {
			call.Done, call.Failed = true, true
		}
	}
	p.open.GiveUp()
}

// used counts what a call of the model has used, a subagent's too.
func (p *parser) used(l line) {
	if t := p.Last(); t != nil {
		usage := jsontext.Lookup(l.data, "usage")
		t.Tokens.Input = max(t.Tokens.Input, 0) + number(jsontext.Lookup(usage, "inputTokens"))
		t.Tokens.Output = max(t.Tokens.Output, 0) + number(jsontext.Lookup(usage, "outputTokens"))
	}
}

// delegated takes a line of a subagent's into the turn that it stands in.
func (p *parser) delegated(l line, stop int64) {
	t := p.Last()
	if t == nil {
		return
	}
	at := slices.IndexFunc(t.Subagents, func(s sessions.Subagent) bool { return s.ID == l.agent })
	s := sessions.Subagent{ID: l.agent}
	if at >= 0 {
		s = t.Subagents[at]
	}
	switch l.kind {
	case typePrompt, typeAnswer:
		s.Texts = said(s.Texts, l, stop-t.Start)
		s.Tools = append(s.Tools, calledAt(l, stop-t.Start)...)
	case typeResult:
		p.end(l, s.Tools, stop-t.Start)
	default:
		return
	}
	if at >= 0 {
		t.Subagents[at] = s
	} else {
		t.Subagents = append(t.Subagents, s)
	}
}

// said adds the words of a line that ends at a place of its turn.
func said(texts []sessions.Text, l line, stop int64) []sessions.Text {
	role := "assistant"
	if l.kind == typePrompt {
		role = "user"
	}
	if text := l.text("content"); text != "" {
		texts = append(texts, sessions.Text{Role: role, Text: text, At: l.at, Stop: stop})
	}
	return texts
}

// calledAt are the calls of a line that ends at a place of its turn.
func calledAt(l line, stop int64) []sessions.Tool {
	calls := l.calls()
	for i := range calls {
		calls[i].At, calls[i].Stop = l.at, stop
	}
	return calls
}

func (p *parser) answer(l line, t *sessions.Turn, stop int64) {
	p.Conv.State = sessions.StateRunning
	t.Texts = said(t.Texts, l, stop-t.Start)
	calls := calledAt(l, stop-t.Start)
	p.answered = len(calls) == 0
	for _, call := range calls {
		t.Tools = append(t.Tools, call)
		p.open.Begin(call)
	}
}

func (p *parser) result(l line, t *sessions.Turn, stop int64) {
	p.open.End(l.text("toolCallId"))
	p.end(l, t.Tools, stop-t.Start)
}

// end gives a call its result, whose line ends at a place of the turn.
func (p *parser) end(l line, calls []sessions.Tool, stop int64) {
	id := l.text("toolCallId")
	for i := range calls {
		call := &calls[i]
		if call.ID != id {
			continue
		}
		call.Done, call.Failed = true, !jsontext.IsTrue(jsontext.Lookup(l.data, "success"))
		call.Exit = string(jsontext.Lookup(jsontext.Lookup(l.data, "shellExecution"), "exitCode"))
		if p.Keeps {
			call.Keep(l.result(), stop)
		}
	}
}
