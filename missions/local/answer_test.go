package local

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/claude"
)

// lateWriter writes something once, when the session is looked at for the first
// time: that look does not see it, a later one does.
type lateWriter struct {
	claude.Adapter
	once  sync.Once
	write func()
}

func (w *lateWriter) Follow() sessions.Follower {
	w.once.Do(w.write)
	return w.Adapter.Follow()
}

// TestStopAwaitsAnswer reports the end of a turn before its answer is in the
// session's file, as Claude Code does: the snapshot must hold the answer.
func TestStopAwaitsAnswer(t *testing.T) {
	t.Parallel()
	for name, padding := range map[string]int{"short turn": 1, "turn beyond the tail": conversations.TurnTailBytes} {
		t.Run(name, func(t *testing.T) {
			c := newTalker(newBench(t))
			c.local.Adapters = projects.Agents()
			c.hook("SessionStart", map[string]any{"source": "startup"})
			c.hook("UserPromptSubmit", map[string]any{"prompt": "go", "prompt_id": "p1"})
			c.say(
				c.line("user", "u1", "", `"go"`),
				c.line("assistant", "u2", "u1", `[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"x"}}]`),
				c.line("user", "u3", "u2", fmt.Sprintf(`[{"type":"tool_result","tool_use_id":"t1","content":%q}]`, strings.Repeat("x", padding))),
			)
			c.local.Workers.Wait()
			c.local.Adapters = []sessions.Adapter{&lateWriter{write: func() {
				c.say(c.line("assistant", "u4", "u3", `[{"type":"text","text":"done"}]`))
			}}}
			c.hook("Stop", map[string]any{"prompt_id": "p1", "last_assistant_message": "done"})
			list, err := c.local.Log(context.Background(), missions.LogRequest{Caller: c.caller(), Limit: 1})
			if err != nil || len(list) != 1 || list[0].Events != 4 || !strings.HasSuffix(list[0].Address, "@1") {
				t.Errorf("the turn's end: %+v %v", list, err)
			}
		})
	}
}

// TestStopWithoutAnswer does not wait where the file shows no turn: Stop can
// name a session that was begun since.
func TestStopWithoutAnswer(t *testing.T) {
	t.Parallel()
	c := newTalker(newBench(t))
	c.local.Adapters = projects.Agents()
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.hook("UserPromptSubmit", map[string]any{"prompt": "go", "prompt_id": "p1"})
	c.say(`{"type":"mode","sessionId":"` + c.session + `"}`)
	var log bytes.Buffer
	c.local.Workers.Wait()
	c.local.Logger = slog.New(slog.NewTextHandler(&log, nil))
	c.hook("Stop", map[string]any{"last_assistant_message": "done"})
	if strings.Contains(log.String(), "answer") {
		t.Errorf("an answer was waited for: %s", &log)
	}
}

// transcriptFollower is a Watching that knows of one file's changes alone.
type transcriptFollower struct {
	missions.Watching
	file    string
	follow  func(changed func())
	stopped int
}

func (w *transcriptFollower) Rules(string, func(string) bool) {}

func (w *transcriptFollower) Take(context.Context, string) missions.Dirty {
	return missions.Dirty{Full: true}
}

func (w *transcriptFollower) Return(string, missions.Dirty) {}

func (w *transcriptFollower) Changed(string) {}

func (w *transcriptFollower) Follow(file string, changed func()) func() {
	w.file = file
	w.follow(changed)
	return func() { w.stopped++ }
}

// TestStopIsToldOfTheAnswer waits for news of the session's file, not longer than
// they come, and asks for none where the answer is there already.
func TestStopIsToldOfTheAnswer(t *testing.T) {
	t.Parallel()
	c := newTalker(newBench(t))
	c.local.Adapters = projects.Agents()
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.hook("UserPromptSubmit", map[string]any{"prompt": "go", "prompt_id": "p1"})
	c.say(c.line("user", "u1", "", `"go"`))
	w := &transcriptFollower{follow: func(changed func()) {
		changed() // of something else
		c.say(c.line("assistant", "u2", "u1", `[{"type":"text","text":"done"}]`))
		changed()
		changed()
	}}
	c.local.Workers.Wait()
	c.local.Watching = w
	c.hook("Stop", map[string]any{"prompt_id": "p1", "last_assistant_message": "done"})
	if w.file != c.transcript || w.stopped != 1 {
		t.Errorf("followed %q, stopped %d times", w.file, w.stopped)
	}
	list, err := c.local.Log(context.Background(), missions.LogRequest{Caller: c.caller(), Limit: 1})
	if err != nil || len(list) != 1 || list[0].Events != 2 {
		t.Errorf("the turn's end: %+v %v", list, err)
	}
	w.file = ""
	c.hook("UserPromptSubmit", map[string]any{"prompt": "go", "prompt_id": "p2"})
	c.hook("Stop", map[string]any{"prompt_id": "p2", "last_assistant_message": "done"})
	if w.file != "" {
		t.Error("followed a file that holds the answer")
	}
}

// tardy is an adapter whose agent is known to write late.
type tardy struct{ claude.Adapter }

func (tardy) AnswerPatience() time.Duration { return time.Minute }

// TestStopAwaitsALateAnswer waits longer where the agent is known to write late.
func TestStopAwaitsALateAnswer(t *testing.T) {
	t.Parallel()
	c := newTalker(newBench(t))
	c.local.Adapters = []sessions.Adapter{tardy{}}
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.hook("UserPromptSubmit", map[string]any{"prompt": "go", "prompt_id": "p1"})
	c.say(c.line("user", "u1", "", `"go"`))
	c.local.Workers.Wait()
	written := make(chan struct{})
	c.local.Watching = &transcriptFollower{follow: func(changed func()) {
		time.AfterFunc(1200*time.Millisecond, func() { // longer than others are waited for
			c.say(c.line("assistant", "u2", "u1", `[{"type":"text","text":"done"}]`))
			changed()
			close(written)
		})
	}}
	c.hook("Stop", map[string]any{"prompt_id": "p1", "last_assistant_message": "done"})
	<-written
	list, err := c.local.Log(context.Background(), missions.LogRequest{Caller: c.caller(), Limit: 1})
	if err != nil || len(list) != 1 || list[0].Events != 2 {
		t.Errorf("the turn's end: %+v %v", list, err)
	}
}

// said is line with the id of its prompt and a year.
func (c *talker) said(year, prompt, kind, uuid, parent, content string) string {
	line := strings.Replace(c.line(kind, uuid, parent, content), `"timestamp":"2026`, `"timestamp":"`+year, 1)
	return strings.Replace(line, `{`, fmt.Sprintf(`{"promptId":%q,`, prompt), 1)
}

// TestStopAwaitsItsTurn reports the end of a turn of which nothing is in the
// session's file yet, as Claude Code does for a short one: what the file ends with
// is not taken for it. The turn is written when it is waited for.
func TestStopAwaitsItsTurn(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]struct{ said, id string }{
		"after another": {"one", "p1"}, "after one of the same words": {"two", "p1"}, "after one of the same id": {"one", "p2"}, "first turn": {},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTalker(newBench(t))
			c.local.Adapters = projects.Agents()
			c.hook("SessionStart", map[string]any{"source": "startup"})
			c.say(`{"type":"mode","sessionId":"` + c.session + `"}`)
			want := 3
			if first.said != "" {
				c.hook("UserPromptSubmit", map[string]any{"prompt": "go", "prompt_id": first.id})
				c.say(c.said("2001", first.id, "user", "u1", "", `"go"`), c.said("2001", first.id, "assistant", "u2", "u1", fmt.Sprintf(`[{"type":"text","text":%q}]`, first.said)))
				c.hook("Stop", map[string]any{"prompt_id": first.id}) // without its words it is not waited for
				want += 2
			}
			c.hook("UserPromptSubmit", map[string]any{"prompt": "go on", "prompt_id": "p2"})
			c.local.Workers.Wait()
			c.local.Watching = &transcriptFollower{follow: func(changed func()) {
				c.say(c.said("2999", "p2", "user", "u3", "u2", `"go on"`))
				changed()
				c.say(c.said("2999", "p2", "assistant", "u4", "u3", `[{"type":"text","text":"two"}]`))
				changed()
			}}
			c.hook("Stop", map[string]any{"prompt_id": "p2", "last_assistant_message": "two"})
			list, err := c.local.Log(context.Background(), missions.LogRequest{Caller: c.caller(), Limit: 1})
			if err != nil || len(list) != 1 || list[0].Events != want {
				t.Errorf("the turn's end, of %d events: %+v %v", want, list, err)
			}
		})
	}
}

// TestStopOfAPromptTypedAhead does not wait for a turn whose id is not that of the
// event, but whose last words are.
func TestStopOfAPromptTypedAhead(t *testing.T) {
	t.Parallel()
	c := newTalker(newBench(t))
	c.local.Adapters = projects.Agents()
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.hook("UserPromptSubmit", map[string]any{"prompt": "go on", "prompt_id": "p2"})
	c.say(c.said("2999", "p1", "user", "u1", "", `"go"`), c.said("2999", "p1", "assistant", "u2", "u1", `[{"type":"text","text":"done"}]`))
	w := &transcriptFollower{follow: func(func()) {}}
	c.local.Workers.Wait()
	c.local.Watching = w
	c.hook("Stop", map[string]any{"prompt_id": "p2", "last_assistant_message": "first\ndone\n"})
	if w.file != "" {
		t.Error("an answer was waited for that is there")
	}
}

// TestStopWithoutWords: the end of a turn that an agent reports without its last words,
// before it has written that its API refused, is that of a refused turn.
func TestStopWithoutWords(t *testing.T) {
	t.Parallel()
	c := newTalker(newBench(t))
	c.local.Adapters = projects.Agents()
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.hook("UserPromptSubmit", map[string]any{"prompt": "go on"})
	c.say(c.said("2999", "p1", "user", "u1", "", `"go on"`))
	c.local.Workers.Wait()
	c.local.Watching = &transcriptFollower{follow: func(changed func()) {
		refused := c.said("2999", "p1", "assistant", "u2", "u1", `[{"type":"text","text":"API Error: 529"}]`)
		c.say(strings.Replace(refused, `"isSidechain":false`, `"isSidechain":false,"isApiErrorMessage":true`, 1))
		changed()
	}}
	c.hook("Stop", nil)
	if m := c.only(); m.State != missions.StateError || m.LastError != "API Error: 529" {
		t.Errorf("the mission is %s, %q", m.State, m.LastError)
	}
}
