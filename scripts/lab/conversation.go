package lab

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// A Conversation writes a session file as Claude Code does: a line of JSON for
// each prompt, each block of an answer and each tool's result, each naming the
// line before it.
type Conversation struct {
	File string
	ID   string // of the session
	Cwd  string
	Text func(turn int) string // what is said in a turn; nil for lines such as files have

	tree  Tree
	turns int
	last  string
}

// conversationBase is when the first line was written.
var conversationBase = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// Converse begins the conversation of a session, empty.
func (s *Session) Converse() (*Conversation, error) {
	if err := os.MkdirAll(filepath.Dir(s.Transcript), 0o700); err != nil {
		return nil, fmt.Errorf("make a place for a conversation: %w", err)
	}
	return &Conversation{File: s.Transcript, ID: s.ID, Cwd: s.Workspace, tree: Tree{Files: 1, Seed: 9}}, nil
}

// Grow appends whole turns until that many bytes were written, and returns how
// many they are.
func (c *Conversation) Grow(size int) (int, error) {
	f, err := os.OpenFile(c.File, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, fmt.Errorf("write a conversation: %w", err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	total := 0
	for total < size && err == nil {
		n := 0
		n, err = c.turn(w)
		total += n
	}
	if err := errors.Join(err, w.Flush(), f.Close()); err != nil {
		return total, fmt.Errorf("write a conversation: %w", err)
	}
	return total, nil
}

// turn writes a prompt, a tool call, its result and the answer: about 10 KiB.
func (c *Conversation) turn(w *bufio.Writer) (int, error) {
	c.turns++
	text := c.text()
	call := fmt.Sprintf("toolu_%020d", c.turns)
	assistant := func(stop string, block map[string]any) map[string]any {
		return map[string]any{
			"id": fmt.Sprintf("msg_%020d", c.turns), "type": "message", "role": "assistant", "model": "scripted",
			"content": []any{block}, "stop_reason": stop, "stop_sequence": nil,
			"usage": map[string]any{"input_tokens": 1000, "output_tokens": 100},
		}
	}
	user := func(content any) map[string]any { return map[string]any{"role": "user", "content": content} }
	file := filepath.Join(c.Cwd, "src", "file.go")
	total := 0
	for i, l := range []struct {
		kind    string
		message map[string]any
		more    map[string]any
	}{
		{"user", user(fmt.Sprintf("now do step %d in %s", c.turns, file)), map[string]any{"permissionMode": "acceptEdits"}},
		{"assistant", assistant("tool_use", map[string]any{"type": "tool_use", "id": call, "name": "Read", "input": map[string]any{"file_path": file}}), nil},
		{"user", user([]any{map[string]any{"type": "tool_result", "tool_use_id": call, "content": text}}), map[string]any{"toolUseResult": "read"}},
		{"assistant", assistant("end_turn", map[string]any{"type": "text", "text": "Done: " + c.answer(text)}), nil},
	} {
		n, err := c.line(w, i, l.kind, l.message, l.more)
		total += n
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// answer is what of a turn's text the agent says itself; the rest is what a tool gave it.
func (c *Conversation) answer(text string) string {
	if c.Text != nil {
		return text
	}
	return text[:len(text)/8]
}

func (c *Conversation) text() string {
	if c.Text != nil {
		return c.Text(c.turns)
	}
	text := string(c.tree.Content(0, c.turns))
	return text[:min(len(text), 8<<10)]
}

func (c *Conversation) line(w *bufio.Writer, i int, kind string, message, more map[string]any) (int, error) {
	id := fmt.Sprintf("%08d-0000-4000-9000-%012d", c.turns, i)
	all := map[string]any{
		"type": kind, "message": message, "uuid": id, "parentUuid": nil, "sessionId": c.ID, "cwd": c.Cwd, "version": "2.1.329",
		"gitBranch": "main", "isSidechain": false, "userType": "external", "promptId": fmt.Sprintf("%08d-1111-4000-9000-%012d", c.turns, 0),
		"timestamp": conversationBase.Add(time.Duration(c.turns*10+i) * time.Second).Format("2006-01-02T15:04:05.000Z"),
	}
	if c.last != "" {
		all["parentUuid"] = c.last
	}
	for name, value := range more {
		all[name] = value
	}
	p, err := json.Marshal(all)
	if err != nil {
		return 0, err
	}
	c.last = id
	return w.Write(append(p, '\n'))
}
