package gemini

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsonlines"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
	"github.com/umbra-vcs/umbra/sessions/parts"
)

// Follow returns a parser to feed as the file grows. A feed costs what is fed;
// but each resumption writes the whole conversation once more.
func (Adapter) Follow() sessions.Follower { return newParser() }

// Replaces implements sessions.Replacing: a message is written again, under its
// id, when its tools have ended, and that may be after the next prompt.
func (Adapter) Replaces() {}

// parser builds a conversation line by line. Its turns are all there ever were,
// in the order of the file: a message that was taken back stays in the turn that
// it belonged to. What state the agent is in follows from the thread.
type parser struct {
	jsonlines.Reading
	thread  thread
	seen    map[string]bool // ids of all messages
	open    map[string]int  // tool id → index into the last turn's tools
	prompt  string          // id of the last turn's prompt
	answer  newestAnswer
	stopped bool           // the client took back what was asked
	refused bool           // the client says that its API refused, and nothing came since
	retold  bool           // the client tells the whole conversation again, until a list of all messages ends it
	before  sessions.State // when that began
	hash    string
	turn    sessions.Tokens // of the answers before the newest
	stop    int64           // where the line ends that is read
}

// newestAnswer is the id of an answer, and whether it has words.
type newestAnswer struct {
	id   string
	said bool
}

func newParser() *parser {
	p := &parser{seen: map[string]bool{}, open: map[string]int{}}
	p.Begin(p.line)
	return p
}

func (p *parser) line(b []byte, start, stop int64) bool {
	l, ok := parseLine(b)
	if !ok {
		return false
	}
	p.stop = stop
	p.identify(l)
	switch {
	case l.rewind != nil:
		p.thread.rewind(string(l.rewind))
		p.stopped, p.refused = false, false
	case l.message.id != nil:
		p.tell(l.message, start)
	case l.replaces():
		p.replace(l.list, start)
	case len(l.hash) > 0:
		p.retold, p.refused = false, false // another run of the client
	}
	p.Conv.State = p.state()
	if t := p.Last(); t != nil {
		t.Stop = p.stop
		t.Done = p.Conv.State != sessions.StateRunning && len(p.open) == 0
	}
	return true
}

// tell takes a message that was added, or says more of one. What is told again
// belongs to no turn.
func (p *parser) tell(m message, start int64) {
	if !p.retold && len(p.Conv.Turns) > 0 && !p.seen[string(m.id)] && m.retells() {
		p.retold, p.before = true, p.Conv.State
	}
	p.thread.put(m)
	if p.retold {
		p.seen[string(m.id)] = true
		return
	}
	if m.aside() {
		p.refuse(m)
	} else {
		p.stopped, p.refused = false, false
	}
	p.take(m, start, true)
}

// refuse takes what the client says of a refusal of its API, which is no part of the
// conversation.
func (p *parser) refuse(m message) {
	if !m.refuses() {
		return
	}
	p.refused = true
	if t := p.Last(); t != nil {
		t.Refusal = jsontext.Text(m.content)
	}
}

func (p *parser) state() sessions.State {
	switch {
	case p.retold:
		return p.before
	case p.refused:
		return sessions.StateError
	case p.stopped:
		return sessions.StateInterrupted
	}
	return p.thread.state()
}

// identify notes whose session it is. The working directory is named nowhere
// but in what the client tells its model at the start; the header has its hash,
// which tells it from the others there.
func (p *parser) identify(l line) {
	if len(l.session) > 0 {
		p.Conv.ID = string(l.session)
	}
	if len(l.hash) > 0 && l.message.id == nil {
		p.hash = string(l.hash)
	}
}

// replace takes a list of all messages. One that has nothing new and not the
// newest prompt is that of a turn which was cancelled, or which the API refused.
func (p *parser) replace(list []byte, start int64) {
	p.thread.clear()
	fresh := false
	first := len(p.Conv.Turns) == 0
	messages(list, func(m message) {
		p.thread.put(m)
		fresh = fresh || !p.seen[string(m.id)]
		p.take(m, start, first)
	})
	p.refused = p.refused && !fresh
	cancelled := p.retold && (p.before == sessions.StateInterrupted || p.before == sessions.StateRunning)
	p.stopped = cancelled || !fresh && !first && !p.thread.has(p.prompt)
	p.retold = false
}

// take adds a message to the turns. Where turns is false, none begins: a prompt
// that the client itself has put into a list of messages is a summary of others.
func (p *parser) take(m message, start int64, turns bool) {
	id := string(m.id)
	again := p.seen[id]
	p.seen[id] = true
	if p.Conv.Cwd == "" && !again {
		p.Conv.Cwd = workspace(m, p.hash)
	}
	switch m.classify() {
	case classPrompt:
		if !again && turns {
			p.begin(m, start)
		}
	case classAnswer, classOther:
		switch {
		case string(m.kind) == "gemini" && (!again || id == p.answer.id):
			p.answered(m, again)
		case m.refuses() && !again && p.Last() != nil:
			t := p.Last()
			t.Texts = append(t.Texts, sessions.Text{Role: "assistant", Text: jsontext.Text(m.content), At: jsontext.Time(m.time), Stop: p.stop - t.Start})
		}
	case classResults:
		if t := p.Last(); t != nil && !again {
			m.responses(p.finish)
		}
	}
	if t := p.Last(); t != nil && !again {
		if when := jsontext.Time(m.time); when.After(t.End) {
			t.End = when
		}
	}
}

// begin opens a turn. Calls left open before it never get their result.
func (p *parser) begin(m message, start int64) {
	clear(p.open)
	p.prompt, p.answer, p.turn = string(m.id), newestAnswer{}, sessions.Tokens{}
	p.Conv.Turns = append(p.Conv.Turns, sessions.Turn{
		Prompt: m.prompt(), ID: string(m.id), At: jsontext.Time(m.time), End: jsontext.Time(m.time), Start: start,
		Tokens: sessions.Tokens{Input: -1, Output: -1},
	})
}

// answered takes an answer, which is written as it begins and again as its calls
// end.
func (p *parser) answered(m message, again bool) {
	t := p.Last()
	if t == nil {
		return
	}
	if !again {
		p.answer = newestAnswer{id: string(m.id)}
		p.turn = sessions.Tokens{Input: max(t.Tokens.Input, 0), Output: max(t.Tokens.Output, 0)}
	}
	if s := words(m.content); s != "" && !p.answer.said {
		p.answer.said = true
		t.Texts = append(t.Texts, sessions.Text{Role: "assistant", Text: s, At: jsontext.Time(m.time), Stop: p.stop - t.Start})
	}
	if used, ok := tokens(m.tokens); ok {
		t.Tokens = sessions.Tokens{Input: p.turn.Input + used.Input, Output: p.turn.Output + used.Output}
	}
	m.toolCalls(func(c call) { p.called(t, c) })
}

func (p *parser) called(t *sessions.Turn, c call) {
	tool := c.tool
	i := slices.IndexFunc(t.Tools, func(known sessions.Tool) bool { return known.ID == tool.ID })
	switch {
	case i < 0:
		tool.Stop = p.stop - t.Start
		if p.Keeps {
			tool.Keep(jsontext.OutputText(c.result), p.stop-t.Start)
		}
		t.Tools = append(t.Tools, tool)
		if !tool.Done {
			p.open[tool.ID] = len(t.Tools) - 1
		}
	case tool.Done:
		p.finish(tool.ID, tool.Failed, tool.Exit, c.result)
	}
}

func (p *parser) finish(id string, failed bool, exit string, result []byte) {
	if i, ok := p.open[id]; ok {
		t := p.Last()
		t.Tools[i].Done, t.Tools[i].Failed, t.Tools[i].Exit = true, failed, exit
		if p.Keeps {
			t.Tools[i].Keep(jsontext.OutputText(result), p.stop-t.Start)
		}
		delete(p.open, id)
	}
}

// tokens is what an answer has used. Thoughts are output.
func tokens(b []byte) (used sessions.Tokens, ok bool) {
	number := func(key string) int64 {
		n, err := strconv.ParseInt(string(jsontext.Lookup(b, key)), 10, 64)
		ok = ok || err == nil
		return n
	}
	used.Input, used.Output = number("input"), number("output")+number("thoughts")
	return used, ok
}

// workspace is the directory that the client names to its model, if it is the
// one with that hash.
func workspace(m message, hash string) string {
	found := ""
	parts.Each(m.content, func(p parts.Part) {
		s := jsontext.Text(p.Text)
		if found != "" || !strings.HasPrefix(s, markSession) {
			return
		}
		for line := range strings.Lines(s) {
			dir, listed := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "  - ")
			if listed && hashOf(dir) == hash {
				found = dir
				return
			}
		}
	})
	return found
}

// hashOf is the projectHash of a working directory.
func hashOf(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(sum[:])
}
