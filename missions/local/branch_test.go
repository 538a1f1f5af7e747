package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// forkSays forks a moment and looks for what was said in the fork's conversation.
func (c *talker) forkSays(from, name string, want ...string) {
	c.Helper()
	made, err := c.local.Fork(context.Background(), missions.ForkRequest{Caller: c.caller(), From: from, Name: name})
	if err != nil {
		c.Fatal(err)
	}
	var got []string
	if session := made.Missions[0].SessionPath; session != "" {
		text, err := os.ReadFile(session)
		if err != nil {
			c.Fatal(err)
		}
		for _, word := range []string{"first", "second", "third", "fourth"} {
			if strings.Contains(string(text), `"`+word+`"`) {
				got = append(got, word)
			}
		}
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		c.Errorf("%s, a fork of %s, holds %q, want %q", name, from, got, want)
	}
}

// TestBeforeAPromptAfterGoingBack: a user who goes back in a conversation, as with
// Claude Code's /rewind, and then says something has left what was said between. The
// moment before that prompt does not have it, though the agent's file does.
func TestBeforeAPromptAfterGoingBack(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "apple\n")
	back := c.parent
	c.takeTurn("second", "b.txt", "banana\n")
	c.parent = back
	c.takeTurn("third", "c.txt", "cherry\n")
	c.takeTurn("fourth", "d.txt", "date\n")
	source := c.only()
	says := c.forkSays
	says(source.Name+"@3.0", "before-third", "first")
	says(source.Name+"@2.0", "before-second", "first")
	says(source.Name+"@2", "after-second", "first", "second")
	says(source.Name+"@3", "after-third", "first", "second", "third") // as in the agent's own file
	says(source.Name+"@4.0", "before-fourth", "first", "second", "third")
	r, err := c.local.Restore(context.Background(), missions.RestoreRequest{Caller: c.caller(), Moment: source.Name + "@3.0"})
	if err != nil {
		t.Fatal(err)
	}
	now, err := c.local.MissionByID(source.ID)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(now.Binding.SessionPath); err != nil || strings.Contains(string(text), `"second"`) || r.Conversation.EventsKept != 4 {
		t.Errorf("restored with %+v (%v), the conversation holds what was left", r.Conversation, err)
	}
	says("before-third@3.0", "again", "first")
	says(source.Name+"@3.0", "after-restore", "first")
	c.healthy()
}

// TestPromptThatGoesOnFromNothing: a prompt that names nothing before it, as no client
// that is known writes one, takes nothing away from the moment before it.
func TestPromptThatGoesOnFromNothing(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "apple\n")
	c.parent = ""
	c.hook("UserPromptSubmit", map[string]any{"prompt": "other"})
	c.say(strings.Replace(c.line("user", "00000002-0000-4000-8000-000000000001", "", `"other"`), `"parentUuid":""`, `"parentUuid":null`, 1))
	name := c.only().Name
	c.forkSays(name+"@2.0", "while-it-runs", "first")
	c.hook("Stop", map[string]any{"prompt_id": "x"})
	c.forkSays(name+"@2.0", "afterwards", "first")
	c.healthy()
}

// TestBackToTheLinesAboveTheFirstPrompt: what the client wrote before anything was said
// is no conversation.
func TestBackToTheLinesAboveTheFirstPrompt(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "clear"})
	c.say(strings.Replace(c.line("user", "l1", "", `"<command-name>/clear</command-name>"`), `"parentUuid":""`, `"parentUuid":null`, 1),
		c.line("user", "l2", "l1", `"<local-command-stdout></local-command-stdout>"`))
	c.parent = "l2"
	c.takeTurn("first", "a.txt", "apple\n")
	c.parent = "l2"
	c.takeTurn("second", "b.txt", "banana\n")
	c.forkSays(c.only().Name+"@2.0", "f")
}

// TestBeforeAPromptBehindAnotherSnapshot: whatever was captured between a prompt's hook
// and its line, the user had gone back before it.
func TestBeforeAPromptBehindAnotherSnapshot(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "apple\n")
	back := c.parent
	c.takeTurn("second", "b.txt", "banana\n")
	name := c.only().Name
	c.turn++
	c.hook("UserPromptSubmit", map[string]any{"prompt": "third", "prompt_id": "00000003-0000-4000-8000-000000000009"})
	c.write("u.txt", "meanwhile\n")
	c.snapshot("by hand")
	c.say(c.line("user", "00000003-0000-4000-8000-000000000001", back, `"third"`))
	c.forkSays(name+"@3.0", "f", "first")
}

// TestBeforeABlockedPrompt: a prompt that another tool's hook has blocked is nowhere in
// the conversation. That the user went back before a later one is none of its moment's.
func TestBeforeABlockedPrompt(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "apple\n")
	back := c.parent
	c.takeTurn("second", "b.txt", "banana\n")
	name := c.only().Name
	c.turn++
	c.hook("UserPromptSubmit", map[string]any{"prompt": "third", "prompt_id": "00000003-0000-4000-8000-000000000009"})
	c.forkSays(name+"@3.0", "blocked", "first", "second")
	c.parent = back
	c.takeTurn("fourth", "d.txt", "date\n")
	c.forkSays(name+"@3.0", "still", "first", "second")
	c.forkSays(name+"@4.0", "after", "first")
}

// TestGoingBackInALongConversation: the end of a conversation tells that nobody went
// back, or where to; so does all of it.
func TestGoingBackInALongConversation(t *testing.T) {
	t.Parallel()
	c := startLong(t)
	c.takeTurn("first", "a.txt", "one\n")
	back := c.parent
	filler := strings.Repeat("words ", 4000)
	c.takeTurn("second", "b.txt", "two\n")
	for n := range 60 { // the turn goes on for longer than what is looked at first
		c.say(c.line("assistant", fmt.Sprintf("n%d", n), c.parent, `[{"type":"text","text":"`+filler+`"}]`))
		c.parent = fmt.Sprintf("n%d", n)
	}
	c.takeTurn("third", "c.txt", "three\n")
	c.parent = back
	c.takeTurn("fourth", "d.txt", "four\n")
	name := c.only().Name
	c.forkSays(name+"@3.0", "before-third", "first", "second")
	c.forkSays(name+"@4.0", "before-fourth", "first")
	if err := os.Remove(c.transcript); err != nil {
		t.Fatal(err)
	}
	c.forkSays(name+"@4.0", "without-the-file", "first")
}

// TestDamagedAfterAMoment: what followed a moment is damaged. The moment is not.
func TestDamagedAfterAMoment(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "apple\n")
	c.takeTurn("second", "b.txt", "banana\n")
	m, err := c.local.MissionByID(c.only().ID)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := m.Project.TurnSnapshots(m.Tip.ID, 2)
	if err != nil {
		t.Fatal(err)
	}
	chunks := func(s projects.NumberedSnapshot) map[string]bool {
		ids := map[string]bool{}
		for line := range strings.Lines(c.git("--git-dir", m.Project.ShadowRepo(), "ls-tree", "-r", s.Record.String(), "session")) {
			if fields := strings.Fields(line); !strings.Contains(fields[3], "meta") {
				ids[fields[2]] = true
			}
		}
		return ids
	}
	before, damaged := chunks(steps[0]), 0
	for id := range chunks(steps[len(steps)-1]) {
		if before[id] {
			continue
		}
		damaged++
		object := filepath.Join(m.Project.ShadowRepo(), "objects", id[:2], id[2:])
		if err := errors.Join(os.Chmod(object, 0o600), os.WriteFile(object, []byte("damaged"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(c.transcript); err != nil || damaged == 0 {
		t.Fatalf("%d chunks of the later moment are damaged (%v)", damaged, err)
	}
	c.forkSays(m.Name+"@2.0", "f", "first")
}
