package qwen

import (
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsonlines"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// Follow returns a parser to feed as the file grows. A feed costs what is fed, but where
// its user has gone back: then what leads there is gone over again.
func (Adapter) Follow() sessions.Follower { return newParser() }

// step is what a line adds to the conversation.
type step struct {
	class       class
	at          time.Time
	start, stop int64
	text        string          // what is said
	calls       []sessions.Tool // of an answer
	ended       []sessions.Tool // calls, by their results
	cancelled   bool            // one of these, by its user
	tokens      *sessions.Tokens
	prompt      string // the id of the one that the model was asked for
	refusal     string
}

// parser builds a conversation line by line.
type parser struct {
	jsonlines.Reading
	tree      jsonlines.Tree[step]
	open      sessions.Calls // of the last turn
	cancelled bool           // one of the last answer's calls
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
	if l.session != "" {
		p.Conv.ID = l.session
	}
	if p.Conv.Cwd == "" {
		p.Conv.Cwd = l.cwd
	}
	s := p.stepOf(l)
	s.start, s.stop = start, stop
	above, last := p.tree.Below(l.parent)
	if !last {
		p.goBack(above)
	}
	p.tree.Add(l.id, above, s)
	p.take(s)
	return true
}

// stepOf keeps of a line what it adds, and nothing of the line itself.
func (p *parser) stepOf(l line) step {
	s := step{class: l.classify(), at: l.at}
	switch s.class {
	case classPrompt, classTyped:
		s.text = l.typed()
	case classAnswer:
		s.text = l.words()
		l.calls(func(t sessions.Tool) { s.calls = append(s.calls, t) })
		if t, told := l.tokens(); told {
			s.tokens = &t
		}
	case classResult:
		l.results(func(e ended) {
			s.cancelled = s.cancelled || e.status == "cancelled"
			t := sessions.Tool{ID: e.id, Failed: e.status != "success", Exit: sessions.ExitCode(e.response, `\nExit Code: `)}
			if p.Keeps {
				t.Output = jsontext.OutputText(e.response)
			}
			s.ended = append(s.ended, t)
		})
	case classUsed:
		s.prompt, s.refusal = l.used()
	}
	return s
}

// goBack makes the conversation what leads to a line.
func (p *parser) goBack(to *jsonlines.Node[step]) {
	p.Conv.Turns, p.Conv.State = nil, sessions.StateEmpty
	p.open, p.cancelled = sessions.Calls{}, false
	for _, s := range slices.Backward(to.Path()) {
		p.take(s)
	}
}

func (p *parser) take(s step) {
	if s.class == classPrompt {
		p.begin(s)
	}
	t := p.Last()
	if t == nil {
		return
	}
	switch s.class {
	case classTyped:
		t.Texts = append(t.Texts, sessions.Text{Role: "user", Text: s.text, At: s.at, Stop: s.stop - t.Start})
		p.Conv.State = sessions.StateRunning
	case classRoused:
		p.Conv.State = sessions.StateRunning
	case classAnswer:
		p.answer(t, s)
	case classResult:
		p.results(t, s)
	case classSummary:
		t.Compactions++
	case classUsed:
		p.asked(t, s)
	}
	if s.class != classOther && s.class != classUsed && s.at.After(t.End) {
		t.End = s.at
	}
	t.Stop, t.Done = s.stop, p.Conv.State != sessions.StateRunning && p.open.Len() == 0
}

// begin opens a turn. Calls that are open before it never get their results.
func (p *parser) begin(s step) {
	p.open.GiveUp()
	p.Conv.State = sessions.StateRunning
	p.Conv.Turns = append(p.Conv.Turns, sessions.Turn{
		Prompt: s.text, At: s.at, End: s.at, Start: s.start, Tokens: sessions.Tokens{Input: -1, Output: -1},
	})
}

func (p *parser) answer(t *sessions.Turn, s step) {
	if s.text != "" {
		t.Texts = append(t.Texts, sessions.Text{Role: "assistant", Text: s.text, At: s.at, Stop: s.stop - t.Start})
	}
	if s.tokens != nil {
		t.Tokens.Input, t.Tokens.Output = max(t.Tokens.Input, 0)+s.tokens.Input, max(t.Tokens.Output, 0)+s.tokens.Output
	}
	p.open.GiveUp()
	p.cancelled = false
	for _, call := range s.calls {
		call.Stop = s.stop - t.Start
		t.Tools = append(t.Tools, call)
		p.open.Begin(call)
	}
	p.Conv.State = sessions.StateIdle
	if len(s.calls) > 0 {
		p.Conv.State = sessions.StateRunning
	}
}

// results takes those of calls. Where its user has cancelled one, the model is asked nothing
// once all have theirs.
func (p *parser) results(t *sessions.Turn, s step) {
	p.cancelled = p.cancelled || s.cancelled
	for _, e := range s.ended {
		p.open.End(e.ID)
		for i := range t.Tools {
			if call := &t.Tools[i]; call.ID == e.ID {
				call.Done, call.Failed, call.Exit = true, e.Failed, e.Exit
				call.Keep(e.Output, s.stop-t.Start)
			}
		}
	}
	p.Conv.State = sessions.StateRunning
	if p.cancelled && p.open.Len() == 0 {
		p.Conv.State = sessions.StateInterrupted
	}
}

// asked takes a request to the model, which comes before its answer: a refusal may be the
// last that is heard.
func (p *parser) asked(t *sessions.Turn, s step) {
	if s.prompt != "" && t.ID == "" {
		t.ID = s.prompt
	}
	if s.refusal != "" && p.Conv.State == sessions.StateRunning {
		p.Conv.State, t.Refusal = sessions.StateError, s.refusal
		t.Texts = append(t.Texts, sessions.Text{Role: "assistant", Text: s.refusal, At: s.at, Stop: s.stop - t.Start})
	}
}
