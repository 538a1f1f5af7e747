// Package payload is the event that an agent gives its hook on stdin: how it is read, and
// how long the hook may take for it. It does not know what the event means.
package payload

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/umbra-vcs/umbra/missions"
)

// Most is the most that a hook reads, in bytes.
const Most = 64 << 20

// How long a hook may take: an agent waits for it.
const (
	PromptBudget = 10 * time.Second // a prompt waits for its snapshot
	Budget       = 2 * time.Second
	// WorktreeBudget is for a fork that the agent's user waits for.
	WorktreeBudget = 90 * time.Second
)

// Read reads the event. It ends with the event's JSON: an agent may leave its pipe open.
// The read itself can't be interrupted; it is left behind if the context ends.
func Read(ctx context.Context, r io.Reader) ([]byte, error) {
	return readUpTo(ctx, r, Most)
}

func readUpTo(ctx context.Context, r io.Reader, most int) ([]byte, error) {
	type read struct {
		p   []byte
		err error
	}
	done := make(chan read, 1)
	go func() {
		p, err := readEvent(io.LimitReader(r, int64(most)+1))
		done <- read{p, err}
		if err == nil && len(p) <= most { // an agent that writes on is not to find its pipe broken
			_, _ = io.Copy(io.Discard, r)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, PromptBudget)
	defer cancel()
	var got read
	select {
	case got = <-done:
	case <-ctx.Done():
		return nil, missions.Errorf(missions.KindTimeout, "give the event on stdin", "no event came on stdin")
	}
	switch {
	case got.err != nil:
		return nil, fmt.Errorf("read the event: %w", got.err)
	case len(got.p) == 0:
		return nil, missions.Errorf(missions.KindUsage, "give the event on stdin", "the event is empty")
	case len(got.p) > most:
		return nil, missions.Errorf(missions.KindUsage, "", "the event is over %d MiB", most>>20)
	}
	return got.p, nil
}

// readEvent reads up to the end of a JSON object, or to the end of the stream.
func readEvent(r io.Reader) ([]byte, error) {
	p := make([]byte, 0, 4096)
	var object objectEnd
	for {
		if len(p) == cap(p) {
			p = append(p, 0)[:len(p)]
		}
		n, err := r.Read(p[len(p):cap(p)])
		fresh := p[len(p) : len(p)+n]
		p = p[:len(p)+n]
		if err == io.EOF || object.within(fresh) {
			return p, nil
		}
		if err != nil {
			return p, err
		}
	}
}

// objectEnd finds the end of a JSON object that comes in pieces. It knows no more of JSON
// than where strings end: whoever decodes the object finds its faults.
type objectEnd struct {
	depth           int
	quoted, escaped bool
	other           bool // what came first begins no object
}

// within reports whether the object ends in the piece that comes next.
func (o *objectEnd) within(piece []byte) bool {
	for _, c := range piece {
		switch {
		case o.other:
			return false
		case o.escaped:
			o.escaped = false
		case o.quoted:
			o.escaped, o.quoted = c == '\\', c != '"'
		case c == '{':
			o.depth++
		case o.depth == 0:
			o.other = !bytes.ContainsRune([]byte(" \t\r\n"), rune(c))
		case c == '"':
			o.quoted = true
		case c == '}':
			if o.depth--; o.depth == 0 {
				return true
			}
		}
	}
	return false
}

// Time is how long the event may take. Its name is looked for and no more: the adapter
// reads the event.
func Time(agent, event string, payload []byte) time.Duration {
	if agent == "claude" && isAboutWorktree(payload) {
		return WorktreeBudget
	}
	head := payload[:min(len(payload), 1<<20)]
	names := []string{"UserPromptSubmit", "BeforeAgent"} // the latter is Gemini CLI's
	switch agent {
	case "generic":
		names = []string{"prompt"}
	case "qwen":
		names = append(names, "Stop") // which waits for the answer that it writes late
	}
	for _, name := range names {
		if event == name || event == "" && bytes.Contains(head, []byte(`"`+name+`"`)) {
			return PromptBudget
		}
	}
	return Budget
}

// isAboutWorktree reports whether an event has a worktree made or removed. Only one that has
// the words is decoded.
func isAboutWorktree(payload []byte) bool {
	if len(payload) > 64<<10 || !bytes.Contains(payload, []byte(`"Worktree`)) {
		return false
	}
	var event struct {
		Name string `json:"hook_event_name"`
	}
	return json.Unmarshal(payload, &event) == nil && (event.Name == "WorktreeCreate" || event.Name == "WorktreeRemove")
}
