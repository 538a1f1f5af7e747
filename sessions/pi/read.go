package pi

import (
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsonlines"
)

// Follow returns a parser to feed as the file grows. A feed costs what is fed, but where
// its user has gone back: then what leads there is gone over again.
func (Adapter) Follow() sessions.Follower { return newParser() }

// step is what a line adds to the conversation.
type step struct {
	kind        string // of the line, or the role of a message
	id          string
	at          time.Time
	start, stop int64
	message     message
}

// parser builds a conversation line by line.
type parser struct {
	jsonlines.Reading
	tree    jsonlines.Tree[step]
	open    sessions.Calls // of the last turn
	results bool           // the last line is a call's result
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
	if l.kind == typeSession {
		p.Conv.ID, p.Conv.Cwd = l.id, l.cwd
		return true
	}
	s := step{kind: l.kind, id: l.id, at: l.at, start: start, stop: stop}
	if l.kind == typeMessage {
		s.message = parseMessage(l.message)
		s.kind = s.message.role
	}
	above, last := p.tree.Below(l.parent)
	if !last {
		p.goBack(above)
	}
	p.tree.Add(l.id, above, s)
	p.take(s)
	return true
}

// goBack makes the conversation what leads to a line.
func (p *parser) goBack(to *jsonlines.Node[step]) {
	p.Conv.Turns, p.Conv.State, p.Conv.Cost = nil, sessions.StateEmpty, 0
	p.open, p.results = sessions.Calls{}, false
	for _, s := range slices.Backward(to.Path()) {
		p.take(s)
	}
}

func (p *parser) take(s step) {
	switch s.kind {
	case "user":
		p.prompt(s)
	case "assistant":
		p.answer(s)
	case "toolResult":
		p.result(s)
	case typeCompaction:
		if t := p.Last(); t != nil {
			t.Compactions++
		}
	}
	if s.kind != "system" {
		p.results = s.kind == "toolResult"
	}
	if t := p.Last(); t != nil {
		t.Stop, t.Done = s.stop, p.Conv.State != sessions.StateRunning && p.open.Len() == 0
	}
}

// prompt begins a turn. One that its user types while a turn runs is taken into that, after
// the results of calls.
func (p *parser) prompt(s step) {
	ahead := p.Conv.State == sessions.StateRunning && p.open.Len() == 0 && p.results
	p.Conv.State = sessions.StateRunning
	if t := p.Last(); ahead && t != nil {
		t.Texts = append(t.Texts, sessions.Text{Role: "user", Text: s.message.text, At: s.at, Stop: s.stop - t.Start})
		t.End = s.at
		return
	}
	p.open.GiveUp()
	p.Conv.Turns = append(p.Conv.Turns, sessions.Turn{
		Prompt: s.message.text, ID: s.id, At: s.at, End: s.at, Start: s.start, Tokens: sessions.Tokens{Input: -1, Output: -1},
	})
}

func (p *parser) answer(s step) {
	m := s.message
	p.Conv.Cost += m.cost
	t := p.Last()
	if t == nil {
		return
	}
	t.End = s.at
	if m.text != "" {
		t.Texts = append(t.Texts, sessions.Text{Role: "assistant", Text: m.text, At: s.at, Stop: s.stop - t.Start})
	}
	if m.tokens != nil {
		t.Tokens.Input, t.Tokens.Output = max(t.Tokens.Input, 0)+m.tokens.Input, max(t.Tokens.Output, 0)+m.tokens.Output
	}
	for _, call := range m.calls {
		call.At, call.Stop = s.at, s.stop-t.Start
		t.Tools = append(t.Tools, call)
		p.open.Begin(call)
	}
	switch {
	case m.stop == stopAborted:
		p.Conv.State = sessions.StateInterrupted
		p.open.GiveUp()
	case m.stop == stopError:
		p.Conv.State, t.Refusal = sessions.StateError, m.refused
		p.open.GiveUp()
		if m.refused != "" {
			t.Texts = append(t.Texts, sessions.Text{Role: "assistant", Text: m.refused, At: s.at, Stop: s.stop - t.Start})
		}
	case m.stop == stopTools || p.open.Len() > 0:
		p.Conv.State = sessions.StateRunning
	default:
		p.Conv.State = sessions.StateIdle
	}
}

func (p *parser) result(s step) {
	p.open.End(s.message.call)
	t := p.Last()
	if t == nil {
		return
	}
	t.End = s.at
	for i := range t.Tools {
		if call := &t.Tools[i]; call.ID == s.message.call {
			call.Done, call.Failed = true, s.message.failed
			call.Exit = sessions.ExitCode([]byte(s.message.text), "Command exited with code ")
			if p.Keeps {
				call.Keep(s.message.text, s.stop-t.Start)
			}
		}
	}
}
