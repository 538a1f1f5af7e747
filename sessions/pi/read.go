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
	split   jsonlines.Splitter
	tree    jsonlines.Tree[step]
	conv    sessions.Conversation
	open    sessions.Calls // of the last turn
	results bool           // the last line is a call's result
	keeps   bool           // what tools gave back
}

func newParser() *parser {
	p := &parser{}
	p.conv.State = sessions.StateEmpty
	p.split.Line = p.line
	return p
}

// KeepOutput implements sessions.OutputKeeping.
func (p *parser) KeepOutput() { p.keeps = true }

// Feed takes the next bytes of the file.
func (p *parser) Feed(b []byte) { _ = p.split.Feed(b) } // line never fails

// Conversation is what has been read so far; later feeds do not change it.
func (p *parser) Conversation() sessions.Conversation {
	c := p.conv.Clone()
	c.Length, c.Torn = p.split.Offset, p.split.Torn()
	return c
}

func (p *parser) line(b []byte, start int64) error {
	if len(b) == 0 {
		return nil
	}
	l, ok := parseLine(b)
	if !ok {
		p.conv.Bad++
		return nil
	}
	p.conv.Events++
	if l.kind == typeSession {
		p.conv.ID, p.conv.Cwd = l.id, l.cwd
		return nil
	}
	s := step{kind: l.kind, id: l.id, at: l.at, start: start, stop: start + int64(len(b)) + 1}
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
	return nil
}

// goBack makes the conversation what leads to a line.
func (p *parser) goBack(to *jsonlines.Node[step]) {
	p.conv.Turns, p.conv.State, p.conv.Cost = nil, sessions.StateEmpty, 0
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
		if t := p.last(); t != nil {
			t.Compactions++
		}
	}
	if s.kind != "system" {
		p.results = s.kind == "toolResult"
	}
	if t := p.last(); t != nil {
		t.Stop, t.Done = s.stop, p.conv.State != sessions.StateRunning && p.open.Len() == 0
	}
}

func (p *parser) last() *sessions.Turn {
	if len(p.conv.Turns) == 0 {
		return nil
	}
	return &p.conv.Turns[len(p.conv.Turns)-1]
}

// prompt begins a turn. One that its user types while a turn runs is taken into that, after
// the results of calls.
func (p *parser) prompt(s step) {
	ahead := p.conv.State == sessions.StateRunning && p.open.Len() == 0 && p.results
	p.conv.State = sessions.StateRunning
	if t := p.last(); ahead && t != nil {
		t.Texts = append(t.Texts, sessions.Text{Role: "user", Text: s.message.text, At: s.at, Stop: s.stop - t.Start})
		t.End = s.at
		return
	}
	p.open.GiveUp()
	p.conv.Turns = append(p.conv.Turns, sessions.Turn{
		Prompt: s.message.text, ID: s.id, At: s.at, End: s.at, Start: s.start, Tokens: sessions.Tokens{Input: -1, Output: -1},
	})
}

func (p *parser) answer(s step) {
	m := s.message
	p.conv.Cost += m.cost
	t := p.last()
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
		p.conv.State = sessions.StateInterrupted
		p.open.GiveUp()
	case m.stop == stopError:
		p.conv.State, t.Refusal = sessions.StateError, m.refused
		p.open.GiveUp()
		if m.refused != "" {
			t.Texts = append(t.Texts, sessions.Text{Role: "assistant", Text: m.refused, At: s.at, Stop: s.stop - t.Start})
		}
	case m.stop == stopTools || p.open.Len() > 0:
		p.conv.State = sessions.StateRunning
	default:
		p.conv.State = sessions.StateIdle
	}
}

func (p *parser) result(s step) {
	p.open.End(s.message.call)
	t := p.last()
	if t == nil {
		return
	}
	t.End = s.at
	for i := range t.Tools {
		if call := &t.Tools[i]; call.ID == s.message.call {
			call.Done, call.Failed = true, s.message.failed
			call.Exit = sessions.ExitCode([]byte(s.message.text), "Command exited with code ")
			if p.keeps {
				call.Keep(s.message.text, s.stop-t.Start)
			}
		}
	}
}
