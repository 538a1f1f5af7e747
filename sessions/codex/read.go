package codex

import (
	"strconv"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsonlines"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// Follow returns a parser to feed as the file grows. A feed costs what is fed.
func (Adapter) Follow() sessions.Follower { return newParser() }

// parser builds a conversation line by line.
type parser struct {
	jsonlines.Reading
	open  map[string]int // call id → index into the last turn's tools
	start int64          // where the turn that has begun does, -1 if none has
	id    string         // of that turn
	led   bool           // it is a subagent's
	exact bool           // the turn's tokens are told, not to be summed up
	stop  int64          // where the line ends that is read
}

func newParser() *parser {
	p := &parser{open: map[string]int{}, start: -1}
	p.Begin(p.line)
	return p
}

func (p *parser) line(b []byte, start, stop int64) bool {
	l, ok := parseLine(b)
	if !ok {
		return false
	}
	c := l.classify()
	p.stop = stop
	p.take(l, c, start)
	if t := p.Last(); t != nil && p.start < 0 {
		t.Stop = p.stop
		if at := l.at(); c != classOther && c != classTail && c != classMessage && at.After(t.End) {
			t.End = at
		}
		t.Done = p.Conv.State != sessions.StateRunning && len(p.open) == 0
	}
	return true
}

// take moves the conversation on by one classified line.
func (p *parser) take(l line, c class, start int64) {
	switch c {
	case classMeta:
		if p.Conv.ID == "" {
			p.led = len(jsontext.Lookup(l.get("source"), "subagent")) > 0
			p.Conv.ID, p.Conv.Cwd = l.text("id"), l.text("cwd")
		}
	case classStart:
		p.start, p.id = start, l.text("turn_id")
		if t := p.Last(); t != nil {
			t.Over = false // it may be a task without a prompt, such as a review
		}
	case classPrompt:
		p.prompt(l, start)
	case classMessage:
		if p.led { // its agent's: a subagent has no user
			p.prompt(l, start)
		}
	case classAnswer:
		p.answer(l)
	case classThinking:
		p.running()
	case classCall:
		p.call(l)
	case classResult:
		p.result(l)
	case classItem:
		p.settle(l.item())
	case classUsage:
		p.count(l)
	case classDone:
		p.end(sessions.StateIdle)
	case classFailed:
		p.refused(jsontext.Text(jsontext.Lookup(l.get("error"), "message")), l)
	case classAborted:
		p.end(sessions.StateInterrupted)
	case classCompact:
		if p.Conv.State == sessions.StateEmpty {
			p.Conv.State = sessions.StateIdle
		}
	}
}

// prompt opens a turn, or belongs to the one that goes on: Codex takes what is
// typed meanwhile into it.
func (p *parser) prompt(l line, start int64) {
	if p.start < 0 && p.Conv.State == sessions.StateRunning && l.ptype != "user_message" {
		p.say("user", l.prompt(), l)
		return
	}
	if p.start >= 0 {
		start = p.start
	}
	clear(p.open)
	p.Conv.Turns = append(p.Conv.Turns, sessions.Turn{
		Prompt: l.prompt(), ID: p.id, At: l.at(), End: l.at(), Start: start, Tokens: sessions.Tokens{Input: -1, Output: -1},
	})
	p.start, p.id, p.exact = -1, "", false
	p.Conv.State = sessions.StateRunning
}

func (p *parser) say(role, s string, l line) {
	if t := p.Last(); t != nil && s != "" {
		t.Texts = append(t.Texts, sessions.Text{Role: role, Text: s, At: l.at(), Stop: p.stop - t.Start})
	}
}

// refused ends a turn with what the API says.
func (p *parser) refused(words string, l line) {
	p.say("assistant", words, l)
	if t := p.Last(); t != nil {
		t.Refusal = words
	}
	p.end(sessions.StateError)
}

// running notes that the agent works. Without a turn there is nothing it could
// work at: the line is of what was before the file's beginning.
func (p *parser) running() {
	if p.Last() != nil {
		p.Conv.State = sessions.StateRunning
	}
}

// answer takes words of the agent. They are the last ones for all that is known:
// the end of the turn is told only after hooks have heard of it.
func (p *parser) answer(l line) {
	if p.Last() == nil {
		return
	}
	p.say("assistant", content(l.get("content")), l)
	p.Conv.State = sessions.StateIdle
	if len(p.open) > 0 || l.text("phase") == "commentary" {
		p.Conv.State = sessions.StateRunning
	}
}

func (p *parser) call(l line) {
	t := p.Last()
	if t == nil {
		return
	}
	tool := l.tool()
	tool.Stop = p.stop - t.Start
	if l.answers() {
		p.open[tool.ID] = len(t.Tools)
	} else {
		tool.Done = true // a search of the API's own
	}
	t.Tools = append(t.Tools, tool)
	p.Conv.State = sessions.StateRunning
}

func (p *parser) result(l line) {
	id := l.text("call_id")
	if i, ok := p.open[id]; ok {
		t := p.Last()
		tool := &t.Tools[i]
		tool.Done, tool.Failed = true, tool.Failed || l.failed()
		if p.Keeps {
			tool.Keep(jsontext.OutputText(l.get("output")), p.stop-t.Start)
		}
		delete(p.open, id)
	}
	p.running()
}

// settle notes how a call of the turn has ended.
func (p *parser) settle(id string, failed bool, exit string) {
	t := p.Last()
	if t == nil {
		return
	}
	for i := range t.Tools {
		if tool := &t.Tools[i]; tool.ID == id {
			tool.Failed, tool.Exit = tool.Failed || failed, exit
		}
	}
}

// end ends the turn. A task without a prompt, such as a compaction, is none.
func (p *parser) end(s sessions.State) {
	p.start, p.id = -1, ""
	if p.Last() == nil {
		return
	}
	clear(p.open) // Codex answers itself what it has given up
	p.Conv.State, p.Last().Over = s, true
}

// count takes the turn's tokens as they are told, or sums up what each answer
// took.
func (p *parser) count(l line) {
	t := p.Last()
	if t == nil || p.start >= 0 {
		return
	}
	if l.kind == "token_usage_record" {
		if now, ok := tokens(l.get("turn_token_usage")); ok {
			t.Tokens, p.exact = now, true
		}
		return
	}
	now, ok := tokens(jsontext.Lookup(l.get("info"), "last_token_usage"))
	if !ok || p.exact {
		return
	}
	t.Tokens.Input = max(0, t.Tokens.Input) + now.Input
	t.Tokens.Output = max(0, t.Tokens.Output) + now.Output
}

func tokens(usage []byte) (sessions.Tokens, bool) {
	in, err1 := strconv.ParseInt(string(jsontext.Lookup(usage, "input_tokens")), 10, 64)
	out, err2 := strconv.ParseInt(string(jsontext.Lookup(usage, "output_tokens")), 10, 64)
	return sessions.Tokens{Input: in, Output: out}, err1 == nil && err2 == nil
}
