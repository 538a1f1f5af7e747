package claude

import (
	"bytes"
	"strconv"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsonlines"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// Follow returns a parser to feed as the file grows. A feed costs what is fed.
func (Adapter) Follow() sessions.Follower { return newParser() }

// parser builds a conversation line by line, in file order: the parent chain is
// a tree with parallel tool calls, and following it loses lines.
type parser struct {
	jsonlines.Reading
	open    map[string]int // tool id → index into the last turn's tools
	openOf  string         // message id of the last tool calls
	ended   bool           // the line says that the turn has its end
	command *sessions.Turn // a slash command that may be local
	usage   usage
	queue   queue
	stop    int64 // where the line ends that is read
}

// usage is counted once for each API message, whose lines all repeat it.
type usage struct {
	message   string
	turn, now sessions.Tokens
}

func newParser() *parser {
	p := &parser{open: map[string]int{}}
	p.Begin(p.line)
	return p
}

// Conversation is what has been read so far; later feeds do not change it.
func (p *parser) Conversation() sessions.Conversation {
	c := p.Reading.Conversation()
	c.Queued = p.queue.prompts()
	return c
}

func (p *parser) line(b []byte, start, stop int64) bool {
	l, ok := parseLine(b)
	if !ok {
		return false
	}
	if len(l.session) > 0 {
		p.Conv.ID = string(l.session)
	}
	if p.Conv.Cwd == "" {
		p.Conv.Cwd = jsontext.Text(l.cwd)
	}
	switch l.kind {
	case "queue-operation":
		p.queue.operation(b, l.at())
	case "cost-state":
		if cost, err := strconv.ParseFloat(string(jsontext.Lookup(b, "totalCostUSD")), 64); err == nil && cost > 0 {
			p.Conv.Cost = cost
		}
	}
	p.stop = stop
	c, m := l.classify()
	p.ended = c == classAnswer && m.ended() || c == classAPIError || c == classInterrupt
	p.take(l, c, m, start)
	if t := p.Last(); t != nil && p.command == nil {
		t.Stop = stop
		if at := l.at(); c != classOther && c != classTail && at.After(t.End) {
			t.End = at
		}
		t.Done = p.Conv.State != sessions.StateRunning && len(p.open) == 0
		t.Over = t.Done && (t.Over && (c == classTail || c == classOther) || p.ended)
	}
	return true
}

// take moves the conversation on by one classified line.
func (p *parser) take(l line, c class, m message, start int64) {
	if c.makesPrompt() {
		p.commit()
	}
	switch c {
	case classPrompt:
		p.command = nil
		p.begin(sessions.Turn{Prompt: words(m), ID: string(l.promptID), At: l.at(), End: l.at(), Start: start})
	case classCommand:
		p.command = &sessions.Turn{Prompt: commandWords(words(m)), ID: string(l.promptID), At: l.at(), End: l.at(), Start: start}
	case classLocal:
		p.command = nil
	case classQueued:
		p.say("user", jsontext.Text(jsontext.Lookup(l.attachment, "prompt")), l.at())
		p.Conv.State = sessions.StateRunning
	case classAnswer, classThinking:
		p.answer(l, m)
	case classAPIError:
		p.refused(words(m), l.at())
	case classResult:
		p.results(m)
	case classInterrupt:
		p.say("user", words(m), l.at())
		clear(p.open)
		p.Conv.State = sessions.StateInterrupted
	case classBoundary:
		p.command = nil
		if t := p.Last(); t != nil {
			t.Compactions++
		}
	case classSummary:
		if p.Conv.State == sessions.StateEmpty {
			p.Conv.State = sessions.StateIdle
		}
	}
}

// begin opens a turn. Calls left open before it never get their result: the
// client heals them when it goes on.
func (p *parser) begin(t sessions.Turn) {
	clear(p.open)
	p.queue.begun(t.Prompt)
	t.Tokens = sessions.Tokens{Input: -1, Output: -1}
	p.usage = usage{}
	p.Conv.Turns = append(p.Conv.Turns, t)
	p.Conv.State = sessions.StateRunning
}

// commit makes a turn of a slash command that has become a prompt.
func (p *parser) commit() {
	if p.command != nil {
		t := *p.command
		p.command = nil
		p.begin(t)
	}
}

func (p *parser) say(role, s string, at time.Time) {
	if t := p.Last(); t != nil && s != "" {
		t.Texts = append(t.Texts, sessions.Text{Role: role, Text: s, At: at, Stop: p.stop - t.Start})
	}
}

// refused takes what the client says of a refusal of its API.
func (p *parser) refused(words string, at time.Time) {
	p.say("assistant", words, at)
	if t := p.Last(); t != nil {
		t.Refusal = words
	}
	p.Conv.State = sessions.StateError
}

func (p *parser) answer(l line, m message) {
	t := p.Last()
	if t == nil {
		return
	}
	if id := string(m.id); id != "" && id != p.openOf {
		clear(p.open)
		p.openOf = id
	}
	if len(l.origin) > 0 && !bytes.Equal(l.origin, l.session) {
		t.From = string(l.origin)
	}
	p.count(t, m)
	state := sessions.StateRunning
	blocks(m.content, func(b block) {
		switch b.kind {
		case "text":
			p.say("assistant", jsontext.Text(b.text), l.at())
			if m.stop != "tool_use" {
				state = sessions.StateIdle
			}
		case "tool_use":
			state = sessions.StateRunning
			p.open[b.id] = len(t.Tools)
			tool := toolOf(l, b)
			tool.Stop = p.stop - t.Start
			t.Tools = append(t.Tools, tool)
		}
	})
	if len(p.open) > 0 {
		state = sessions.StateRunning
	}
	p.Conv.State = state
}

func (p *parser) results(m message) {
	t := p.Last()
	blocks(m.content, func(b block) {
		if b.kind != "tool_result" {
			return
		}
		if i, ok := p.open[b.id]; ok && t != nil {
			tool := &t.Tools[i]
			tool.Done, tool.Failed, tool.Exit = true, b.fail, b.exitCode()
			if p.Keeps {
				tool.Keep(jsontext.OutputText(b.result), p.stop-t.Start)
			}
			delete(p.open, b.id)
		}
	})
	p.Conv.State = sessions.StateRunning
}

func (p *parser) count(t *sessions.Turn, m message) {
	now, ok := tokens(m.usage)
	if !ok {
		return
	}
	if id := string(m.id); id != p.usage.message || id == "" {
		p.usage.message = id
		p.usage.turn.Input += p.usage.now.Input
		p.usage.turn.Output += p.usage.now.Output
	}
	p.usage.now = now
	t.Tokens = sessions.Tokens{Input: p.usage.turn.Input + now.Input, Output: p.usage.turn.Output + now.Output}
}

func tokens(usage []byte) (sessions.Tokens, bool) {
	var t sessions.Tokens
	found := false
	c := jsontext.Walk(usage)
	for key, value := range c.Members() {
		n, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil {
			continue
		}
		switch string(key) {
		case "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens":
			t.Input += n
			found = true
		case "output_tokens":
			t.Output += n
			found = true
		}
	}
	return t, found
}
