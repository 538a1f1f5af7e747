package opencode

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsonlines"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// Follow returns a parser to feed as the file grows. A feed costs what is fed.
func (Adapter) Follow() sessions.Follower { return newParser() }

// parser builds a conversation line by line. What is said again of an earlier
// turn changes nothing.
type parser struct {
	jsonlines.Reading
	asked   asked           // a prompt whose words are still to come
	seen    map[string]bool // the prompts
	answers map[string]bool // messages of the last turn
	texts   map[string]int  // part id → index into the last turn's texts
	tools   map[string]int  // … and tools
	open    map[string]bool // parts
	tokens  map[string]sessions.Tokens
	stop    int64 // where the line ends that is read
}

type asked struct {
	id    string
	at    time.Time
	start int64
	ahead bool // typed while a turn runs: it goes into that
}

func newParser() *parser {
	p := &parser{seen: map[string]bool{}, open: map[string]bool{}}
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
	p.stop = stop
	p.take(l, start)
	if t := p.Last(); t != nil && p.asked.id == "" {
		t.Stop = p.stop
		t.Done = p.Conv.State != sessions.StateRunning && len(p.open) == 0
		t.Over = t.Done && (l.kind == typeIdle || t.Over)
	}
	return true
}

func (p *parser) take(l line, start int64) {
	switch l.kind {
	case typeSession:
		if p.Conv.Cwd == "" {
			p.Conv.Cwd = jsontext.Text(jsontext.Lookup(l.value, "directory"))
		}
	case typeMessage:
		m := parseMessage(l.value)
		switch {
		case m.role == "assistant":
			p.answer(m)
		case !p.seen[m.id]:
			p.seen[m.id] = true
			ahead := p.Conv.State == sessions.StateRunning && len(p.Conv.Turns) > 0
			p.asked = asked{m.id, m.created, start, ahead}
			p.Conv.State = sessions.StateRunning
			if t := p.Last(); t != nil {
				t.Over = false
			}
		}
	case typePart:
		p.part(parsePart(l.value))
	case typeRemoved:
		p.remove(l.id)
	case typeIdle:
		if p.Conv.State == sessions.StateRunning { // such as after a permission that was refused
			p.Conv.State, p.asked = sessions.StateInterrupted, asked{}
			clear(p.open)
		}
	}
}

// begin opens the turn of a prompt.
func (p *parser) begin(prompt string) {
	p.Conv.Turns = append(p.Conv.Turns, sessions.Turn{
		Prompt: prompt, ID: p.asked.id, At: p.asked.at, End: p.asked.at, Start: p.asked.start,
		Tokens: sessions.Tokens{Input: -1, Output: -1},
	})
	p.asked = asked{}
	p.forget()
}

// typed adds a prompt to the turn that runs.
func (p *parser) typed(prompt string) {
	t := p.Last()
	t.Texts = append(t.Texts, sessions.Text{Role: "user", Text: prompt, At: p.asked.at, Stop: p.stop - t.Start})
	if p.asked.at.After(t.End) {
		t.End = p.asked.at
	}
	p.asked = asked{}
}

func (p *parser) forget() {
	clear(p.open)
	p.answers, p.texts, p.tools, p.tokens = map[string]bool{}, map[string]int{}, map[string]int{}, map[string]sessions.Tokens{}
}

func (p *parser) answer(m message) {
	t := p.Last()
	if t == nil {
		return
	}
	// A message of an earlier turn is none of this one's; what follows a
	// compaction has a parent that is no prompt.
	if m.parent != t.ID && p.isTurn(m.parent) {
		return
	}
	p.asked = asked{}
	p.answers[m.id] = true
	if m.completed.After(t.End) {
		t.End = m.completed
	}
	p.count(t, m)
	if !m.ended() {
		p.Conv.State = sessions.StateRunning
		return
	}
	switch {
	case m.failed == aborted:
		p.Conv.State = sessions.StateInterrupted
		clear(p.open)
	case m.failed != "":
		p.Conv.State = sessions.StateError
		clear(p.open)
		p.say(t, m.id, m.said, m.completed)
		t.Refusal = m.said
	case m.finish == "tool-calls" || m.finish == "" || len(p.open) > 0:
		p.Conv.State = sessions.StateRunning
	default:
		p.Conv.State = sessions.StateIdle
	}
}

func (p *parser) isTurn(id string) bool {
	return slices.ContainsFunc(p.Conv.Turns, func(t sessions.Turn) bool { return t.ID == id })
}

// say sets what a part, or a failed message, says.
func (p *parser) say(t *sessions.Turn, id, text string, at time.Time) {
	if text == "" {
		return
	}
	if i, ok := p.texts[id]; ok {
		t.Texts[i].Text = text
		return
	}
	p.texts[id] = len(t.Texts)
	t.Texts = append(t.Texts, sessions.Text{Role: "assistant", Text: text, At: at, Stop: p.stop - t.Start})
}

func (p *parser) part(v part) {
	if v.message == p.asked.id && p.asked.id != "" {
		switch says := (v.kind == "text" || v.kind == "subtask") && !v.synthetic; {
		case says && p.asked.ahead && len(p.Conv.Turns) > 0:
			p.typed(v.text)
		case says:
			p.begin(v.text)
		}
		return
	}
	t := p.Last()
	if t == nil || !p.answers[v.message] {
		return
	}
	switch v.kind {
	case "text":
		if !v.synthetic {
			p.say(t, v.id, v.text, v.at)
		}
	case "tool":
		tool := toolOf(v, t.End)
		if p.Keeps {
			tool.Keep(jsontext.OutputText(v.state), p.stop-t.Start)
		}
		if i, ok := p.tools[v.id]; ok {
			tool.Stop = t.Tools[i].Stop
			t.Tools[i] = tool
		} else {
			p.tools[v.id], tool.Stop = len(t.Tools), p.stop-t.Start
			t.Tools = append(t.Tools, tool)
		}
		delete(p.open, v.id)
		if v.open() {
			p.open[v.id] = true
			p.Conv.State = sessions.StateRunning
		}
	}
}

// remove drops a prompt that its user has taken back, with its turn.
func (p *parser) remove(id string) {
	delete(p.open, id)
	if p.asked.id == id {
		p.asked = asked{}
	}
	at := slices.IndexFunc(p.Conv.Turns, func(t sessions.Turn) bool { return t.ID == id })
	if at < 0 {
		return
	}
	last := at == len(p.Conv.Turns)-1
	p.Conv.Turns = slices.Delete(slices.Clone(p.Conv.Turns), at, at+1)
	if last {
		p.forget()
		p.Conv.State = sessions.StateIdle
	}
	if len(p.Conv.Turns) == 0 {
		p.Conv.State = sessions.StateEmpty
	}
}

// count adds up what the turn's messages used, each as it is said last.
func (p *parser) count(t *sessions.Turn, m message) {
	number := func(object []byte, key string) int64 {
		n, _ := strconv.ParseInt(string(jsontext.Lookup(object, key)), 10, 64)
		return n
	}
	if len(m.tokens) == 0 {
		return
	}
	cache := jsontext.Lookup(m.tokens, "cache")
	p.tokens[m.id] = sessions.Tokens{
		Input:  number(m.tokens, "input") + number(cache, "read") + number(cache, "write"),
		Output: number(m.tokens, "output") + number(m.tokens, "reasoning"),
	}
	t.Tokens = sessions.Tokens{}
	for one := range maps.Values(p.tokens) {
		t.Tokens.Input += one.Input
		t.Tokens.Output += one.Output
	}
}
