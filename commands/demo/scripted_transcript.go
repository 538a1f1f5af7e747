package demo

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
	"unicode/utf16"

	"github.com/umbra-vcs/umbra/missions"
)

// scriptedVersion is the version of Claude Code whose lines the transcript has.
const scriptedVersion = "2.1.197"

// scriptedMode is the agent's permission mode: it asks nobody.
const scriptedMode = "acceptEdits"

// transcript is a session in Claude Code's format: a line of JSON for each
// prompt, each block of an answer and each tool's result, each naming the line
// before it (docs/agents/claude.md).
type transcript struct {
	path, id, cwd string
	now           func() time.Time
	last          string   // uuid of the last line
	calledBy      string   // uuid of the line of the last tool call
	prompts       []string // the user's, oldest first
}

// openTranscript begins a session, or reads one to go on with it. Like Claude
// Code it refuses to begin one that there is, and to resume one that there is
// not.
func openTranscript(path, id, cwd string, now func() time.Time, resume bool) (*transcript, error) {
	t := &transcript{path: path, id: id, cwd: cwd, now: now}
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && resume:
		return nil, missions.Errorf(missions.KindNotFound, "", "No conversation found with session ID: %s", id)
	case errors.Is(err, fs.ErrNotExist):
		return t, nil
	case err != nil:
		return nil, fmt.Errorf("open the session: %w", err)
	}
	defer f.Close()
	if !resume {
		return nil, missions.Errorf(missions.KindUsage, "", "Session ID %s is already in use.", id)
	}
	return t, t.read(f)
}

func (t *transcript) read(r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		p, err := lines.ReadBytes('\n')
		var line struct {
			Type, UUID string
			Message    struct{ Content json.RawMessage }
		}
		if json.Unmarshal(p, &line) == nil && line.UUID != "" {
			t.last = line.UUID
			var prompt string
			if line.Type == "user" && json.Unmarshal(line.Message.Content, &prompt) == nil {
				t.prompts = append(t.prompts, prompt)
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read the session: %w", err)
		}
	}
}

func (t *transcript) prompt(text, promptID string) error {
	t.prompts = append(t.prompts, text)
	return t.write("user", map[string]any{
		"promptId": promptID, "permissionMode": scriptedMode, "message": map[string]any{"role": "user", "content": text},
	})
}

// told is what the prompt's hooks have added to it.
func (t *transcript) told(context string) error {
	return t.write("attachment", map[string]any{"attachment": map[string]any{
		"type": "hook_additional_context", "content": []any{context}, "hookName": "UserPromptSubmit", "hookEvent": "UserPromptSubmit",
	}})
}

func (t *transcript) toolUse(id, name string, input map[string]any) error {
	err := t.assistant("tool_use", map[string]any{"type": "tool_use", "id": id, "name": name, "input": input})
	t.calledBy = t.last
	return err
}

func (t *transcript) answer(text string) error {
	return t.assistant("end_turn", map[string]any{"type": "text", "text": text})
}

func (t *transcript) assistant(stop string, block map[string]any) error {
	id, err := newScriptedID()
	if err != nil {
		return err
	}
	return t.write("assistant", map[string]any{"message": map[string]any{
		"id": "msg_" + id, "type": "message", "role": "assistant", "model": "scripted", "content": []any{block},
		"stop_reason": stop, "stop_sequence": nil, "usage": map[string]any{"input_tokens": 0, "output_tokens": 0},
	}})
}

func (t *transcript) toolResult(id, result string, failed bool, promptID string) error {
	block := map[string]any{"type": "tool_result", "tool_use_id": id, "content": result, "is_error": failed}
	return t.write("user", map[string]any{
		"promptId": promptID, "sourceToolAssistantUUID": t.calledBy, "toolUseResult": result,
		"message": map[string]any{"role": "user", "content": []any{block}},
	})
}

// write appends one line.
func (t *transcript) write(kind string, fields map[string]any) error {
	id, err := newScriptedID()
	if err != nil {
		return err
	}
	line := map[string]any{
		"type": kind, "uuid": id, "parentUuid": nil, "isSidechain": false, "userType": "external", "entrypoint": "cli",
		"timestamp": t.now().UTC().Format("2006-01-02T15:04:05.000Z"),
		"cwd":       t.cwd, "sessionId": t.id, "version": scriptedVersion, "gitBranch": "",
	}
	if t.last != "" {
		line["parentUuid"] = t.last
	}
	for name, value := range fields {
		line[name] = value
	}
	var p bytes.Buffer
	e := json.NewEncoder(&p)
	e.SetEscapeHTML(false)
	if err := e.Encode(line); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(t.path), 0o700); err != nil {
		return fmt.Errorf("write the session: %w", err)
	}
	f, err := os.OpenFile(t.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write the session: %w", err)
	}
	_, err = f.Write(p.Bytes())
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write the session: %w", err)
	}
	t.last = id
	return nil
}

// projectDirOf names the directory of cwd's sessions as Claude Code does: all
// but ASCII letters and digits are dashes; over 200 of them are cut, and the
// Java hash of the path is added in base 36.
func projectDirOf(cwd string) string {
	var name []byte
	var hash int32
	for _, u := range utf16.Encode([]rune(cwd)) {
		hash = hash*31 + int32(u)
		if u < '0' || u > 'z' || u > '9' && u < 'A' || u > 'Z' && u < 'a' {
			u = '-'
		}
		name = append(name, byte(u))
	}
	if len(name) <= 200 {
		return string(name)
	}
	return string(name[:200]) + "-" + strconv.FormatInt(max(int64(hash), -int64(hash)), 36)
}

// newScriptedID is a random UUID (RFC 9562, version 4).
func newScriptedID() (string, error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("make an id: %w", err)
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), nil
}
