package codex

import (
	"bytes"
	"fmt"
	"io"
	"strconv"

	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// Codex writes that a turn is complete only after its hooks have heard of the
// end, and so a moment's conversation ends with the answer. Of such a one Codex
// says that it was interrupted. What is copied therefore ends as Codex would
// have ended it.

// mostClosing is how much of a copy's end is looked at for its last answer.
const mostClosing = 256 << 10

// ending hands on what is written, and keeps the end of it.
type ending struct {
	w    io.Writer
	kept []byte
}

func (e *ending) Write(p []byte) (int, error) {
	n, err := e.w.Write(p)
	e.kept = append(e.kept, p[max(0, n-mostClosing):n]...)
	if over := len(e.kept) - mostClosing; over > mostClosing {
		e.kept = append(e.kept[:0], e.kept[over:]...)
	}
	return n, err
}

// close ends the turn whose last answer is the end of what was written.
func (e *ending) close() error {
	// Just as much whatever the sizes of the writes: a copy is made again, and compared.
	if end := closing(e.kept[max(0, len(e.kept)-mostClosing):]); end != nil {
		if _, err := e.w.Write(end); err != nil {
			return fmt.Errorf("write session: %w", err)
		}
	}
	return nil
}

// closing is the line that ends a turn of which only that line is missing, nil
// for any other conversation.
func closing(b []byte) []byte {
	last, turn := line{}, ""
	for rest := b; len(rest) > 0; {
		rest = rest[:len(rest)-1] // the line's end
		begin := bytes.LastIndexByte(rest, '\n') + 1
		l, ok := parseLine(rest[begin:])
		if !ok {
			return nil
		}
		if last.kind == "" {
			last = l
		}
		if turn == "" {
			turn = l.turn()
		}
		switch l.classify() {
		case classUsage, classItem, classTail:
		case classAnswer:
			if turn == "" || len(last.time) == 0 || l.text("phase") == "commentary" {
				return nil
			}
			return last.complete(turn)
		default:
			return nil
		}
		rest = rest[:begin]
	}
	return nil
}

// turn is the id of the turn that a line is of, "" if it does not tell.
func (l line) turn() string {
	if id := l.text("turn_id"); id != "" {
		return id
	}
	return jsontext.Text(jsontext.Lookup(l.get("internal_chat_message_metadata_passthrough"), "turn_id"))
}

// complete is the line after l that ends a turn.
func (l line) complete(turn string) []byte {
	ordinal := ""
	if l.ordinal >= 0 {
		ordinal = `"ordinal":` + strconv.FormatInt(l.ordinal+1, 10) + ","
	}
	return fmt.Appendf(nil, `{"timestamp":%s,%s"type":"event_msg","payload":{"type":"task_complete","turn_id":%s,"last_agent_message":null}}`+"\n",
		jsontext.Quote(string(l.time)), ordinal, jsontext.Quote(turn))
}
