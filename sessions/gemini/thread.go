package gemini

import (
	"slices"

	"github.com/umbra-vcs/umbra/sessions"
)

// thread is the conversation as the client has it after a line: lines add
// messages, replace them, take them back, and say anew which there are.
type thread struct {
	entries []entry
	index   map[string]int // by id
}

// entry is what is kept of a message.
type entry struct {
	id     string
	class  class
	text   bool            // an answer with words
	calls  []sessions.Tool // of an answer
	cancel bool            // one of the calls was cancelled by the user
	done   []string        // ids of the calls that these results answer
}

func newEntry(m message) entry {
	e := entry{id: string(m.id), class: m.classify()}
	switch e.class {
	case classAnswer:
		e.text = words(m.content) != ""
		m.toolCalls(func(c call) {
			if !slices.ContainsFunc(e.calls, func(t sessions.Tool) bool { return t.ID == c.tool.ID }) {
				e.calls = append(e.calls, c.tool)
			}
			e.cancel = e.cancel || c.cancelled
		})
	case classResults:
		m.responses(func(id string, _ bool, _ string, _ []byte) { e.done = append(e.done, id) })
	}
	return e
}

// put adds a message, or replaces the one of its id, and reports whether there
// was none.
func (t *thread) put(m message) (fresh bool) {
	e := newEntry(m)
	if i, ok := t.index[e.id]; ok {
		t.entries[i] = e
		return false
	}
	if t.index == nil {
		t.index = map[string]int{}
	}
	t.index[e.id] = len(t.entries)
	t.entries = append(t.entries, e)
	return true
}

// clear forgets all messages.
func (t *thread) clear() {
	t.entries = t.entries[:0]
	clear(t.index)
}

// rewind takes a message back and all after it; all there are if it is unknown,
// as the client does.
func (t *thread) rewind(id string) {
	i := t.index[id]
	for _, e := range t.entries[i:] {
		delete(t.index, e.id)
	}
	t.entries = t.entries[:i]
}

func (t *thread) has(id string) bool {
	_, ok := t.index[id]
	return ok
}

// tail is what the conversation has come to: its last message that means
// something, and the calls of its last answer that have no result. Results tell
// of the user's cancelling as the answer does that they belong to.
func (t *thread) tail() (last entry, open []sessions.Tool) {
	var done []string
	for i := len(t.entries) - 1; i >= 0; i-- {
		e := t.entries[i]
		if e.class == classOther {
			continue
		}
		if last.class == classOther {
			last = e
		}
		if e.class == classResults {
			done = append(done, e.done...)
			continue
		}
		last.cancel = last.cancel || e.cancel
		for _, c := range e.calls {
			if !c.Done && !slices.Contains(done, c.ID) {
				open = append(open, c)
			}
		}
		break
	}
	return last, open
}

// settled reports whether the agent can go on from here: no prompt lacks its
// answer and no call its result.
func (t *thread) settled() bool {
	last, open := t.tail()
	return (last.class == classAnswer || last.class == classResults) && len(open) == 0
}

// state is what the last message says of the agent.
func (t *thread) state() sessions.State {
	switch last, open := t.tail(); {
	case last.class == classOther:
		return sessions.StateEmpty
	case last.cancel && len(open) == 0:
		return sessions.StateInterrupted
	case last.class == classAnswer && len(last.calls) == 0:
		return sessions.StateIdle
	}
	return sessions.StateRunning
}
