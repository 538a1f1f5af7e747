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
	split jsonlines.Splitter
	conv  sessions.Conversation
	open  map[string]int // call id → index into the last turn's tools
	start int64          // where the turn that has begun does, -1 if none has
	id    string         // of that turn
	exact bool           // the turn's tokens are told, not to be summed up
	stop  int64          // where the line ends that is read
	keeps bool           // what tools gave back
}

func newParser() *parser {
	p := &parser{open: map[string]int{}, start: -1}
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
	c := l.classify()
	p.stop = start + int64(len(b)) + 1
	p.take(l, c, start)
	if t := p.turn(); t != nil && p.start < 0 {
		t.Stop = p.stop
		if at := l.at(); c != classOther && c != classTail && at.After(t.End) {
			t.End = at
		}
		t.Done = p.conv.State != sessions.StateRunning && len(p.open) == 0
	}
	return nil
}

// take moves the conversation on by one classified line.
func (p *parser) take(l line, c class, start int64) {
	switch c {
	case classMeta:
		if p.conv.ID == "" {
			p.conv.ID, p.conv.Cwd = l.text("id"), l.text("cwd")
		}
	case classStart:
		p.start, p.id = start, l.text("turn_id")
		if t := p.turn(); t != nil {
			t.Over = false // it may be a task without a prompt, such as a review
		}
	case classPrompt:
		p.prompt(l, start)
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
		if p.conv.State == sessions.StateEmpty {
			p.conv.State = sessions.StateIdle
		}
	}
}

func (p *parser) turn() *sessions.Turn {
	if len(p.conv.Turns) == 0 {
		return nil
	}
	return &p.conv.Turns[len(p.conv.Turns)-1]
}

// prompt opens a turn, or belongs to the one that goes on: Codex takes what is
// typed meanwhile into it.
func (p *parser) prompt(l line, start int64) {
	if p.start < 0 && p.conv.State == sessions.StateRunning && l.ptype != "user_message" {
		p.say("user", l.prompt(), l)
		return
	}
	if p.start >= 0 {
		start = p.start
	}
	clear(p.open)
	p.conv.Turns = append(p.conv.Turns, sessions.Turn{
		Prompt: l.prompt(), ID: p.id, At: l.at(), End: l.at(), Start: start, Tokens: sessions.Tokens{Input: -1, Output: -1},
	})
	p.start, p.id, p.exact = -1, "", false
	p.conv.State = sessions.StateRunning
}

func (p *parser) say(role, s string, l line) {
	if t := p.turn(); t != nil && s != "" {
		t.Texts = append(t.Texts, sessions.Text{Role: role, Text: s, At: l.at(), Stop: p.stop - t.Start})
	}
}

// refused ends a turn with what the API says.
func (p *parser) refused(words string, l line) {
	p.say("assistant", words, l)
	if t := p.turn(); t != nil {
		t.Refusal = words
	}
	p.end(sessions.StateError)
}

// running notes that the agent works. Without a turn there is nothing it could
// work at: the line is of what was before the file's beginning.
func (p *parser) running() {
	if p.turn() != nil {
		p.conv.State = sessions.StateRunning
	}
}

// answer takes words of the agent. They are the last ones for all that is known:
// the end of the turn is told only after hooks have heard of it.
func (p *parser) answer(l line) {
	if p.turn() == nil {
		return
	}
	p.say("assistant", content(l.get("content")), l)
	p.conv.State = sessions.StateIdle
	if len(p.open) > 0 || l.text("phase") == "commentary" {
		p.conv.State = sessions.StateRunning
	}
}

func (p *parser) call(l line) {
	t := p.turn()
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
	p.conv.State = sessions.StateRunning
}

func (p *parser) result(l line) {
	id := l.text("call_id")
	if i, ok := p.open[id]; ok {
		t := p.turn()
		tool := &t.Tools[i]
		tool.Done, tool.Failed = true, tool.Failed || l.failed()
		if p.keeps {
			tool.Keep(jsontext.OutputText(l.get("output")), p.stop-t.Start)
		}
		delete(p.open, id)
	}
	p.running()
}

// settle notes how a call of the turn has ended.
func (p *parser) settle(id string, failed bool, exit string) {
	t := p.turn()
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
	if p.turn() == nil {
		return
	}
	clear(p.open) // Codex answers itself what it has given up
	p.conv.State, p.turn().Over = s, true
}

// count takes the turn's tokens as they are told, or sums up what each answer
// took.
func (p *parser) count(l line) {
	t := p.turn()
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
