package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/claude"
)

// messageID is a line of a turn that takeTurn has made: 1 is the prompt, 2 the call, 3 its
// result, 4 the answer.
func messageID(turn, line int) string {
	return fmt.Sprintf("%08d-0000-4000-8000-00000000000%d", turn, line)
}

// forkMessage forks from a message, and returns the fork's file and what its conversation
// ends with: the last line's id, and how many turns it has.
func (c *talker) forkMessage(session, id string) (file, last string, turns int, r missions.ForkResult) {
	c.Helper()
	r, err := c.local.Fork(context.Background(), missions.ForkRequest{Caller: c.caller(), Session: session, Message: id})
	if err != nil {
		c.Fatalf("fork from %s: %v", id, err)
	}
	fork := r.Missions[0]
	raw, err := os.ReadFile(filepath.Join(fork.Workspace, "a.txt"))
	if err != nil {
		c.Fatal(err)
	}
	if fork.SessionPath == "" {
		return string(raw), "", 0, r
	}
	text, err := os.ReadFile(fork.SessionPath)
	if err != nil {
		c.Fatal(err)
	}
	talk, err := sessions.ReadConversation(claude.Adapter{}, strings.NewReader(string(text)))
	if err != nil {
		c.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	_, last, _ = strings.Cut(lines[len(lines)-1], `"uuid":"`)
	last, _, _ = strings.Cut(last, `"`)
	return string(raw), last, len(talk.Turns), r
}

func (c *talker) wantForkMessage(session, id, from, file, last string, turns int) {
	c.Helper()
	gotFile, gotLast, gotTurns, r := c.forkMessage(session, id)
	if _, at, _ := strings.Cut(r.Source.Address, "@"); at != from || gotFile != file || gotLast != last || gotTurns != turns {
		c.Errorf("from %s: of @%s, with %q, ends with %s after %d turns; want @%s, %q, %s, %d", id, at, gotFile, gotLast, gotTurns, from, file, last, turns)
	}
}

// TestForkFromMessage: each message of a conversation can be forked from, as other viewers
// know it: files and conversation are those of its moment.
func TestForkFromMessage(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	c.write("a.txt", "mine\n")
	c.takeTurn("second", "a.txt", "two\n")
	c.takeTurn("third", "a.txt", "three\n")
	c.named("login")
	for _, file := range []string{c.transcript, c.session} {
		c.wantForkMessage(file, messageID(1, 4), "1", "one\n", messageID(1, 4), 1)
	}
	c.wantForkMessage(c.transcript, messageID(1, 1), "1.0", "zero\n", "", 0)
	c.wantForkMessage(c.transcript, messageID(1, 2), "1.0", "zero\n", "", 0)
	c.wantForkMessage(c.transcript, messageID(2, 1), "2.0", "mine\n", messageID(1, 4), 1)
	c.wantForkMessage(c.transcript, messageID(2, 2), "2.0", "mine\n", messageID(1, 4), 1)
	c.wantForkMessage(c.transcript, messageID(2, 3), "2", "two\n", messageID(2, 3), 2)
	c.wantForkMessage(c.transcript, messageID(2, 4), "2", "two\n", messageID(2, 4), 2)

	// What a restore took back is in the former session, and what it kept was said there too.
	former := c.transcript
	if _, err := c.local.Restore(context.Background(), missions.RestoreRequest{Caller: c.caller(), Moment: "login@1", All: true}); err != nil {
		t.Fatal(err)
	}
	now, err := c.local.Mission(t.Context(), missions.MissionRequest{Caller: c.caller(), Name: "login"})
	if err != nil {
		t.Fatal(err)
	}
	c.wantForkMessage(former, messageID(2, 4), "2", "two\n", messageID(2, 4), 2)
	c.wantForkMessage(former, messageID(3, 4), "3", "three\n", messageID(3, 4), 3)
	c.wantForkMessage(now.SessionPath, messageID(1, 4), "1", "one\n", messageID(1, 4), 1)

	// In a fork's own session.
	f := c.forkTalker("other")
	f.takeTurn("fourth", "a.txt", "four\n")
	f.takeTurn("fifth", "a.txt", "five\n")
	f.wantForkMessage(f.transcript, messageID(4, 4), "4", "four\n", messageID(4, 4), 2)
	f.wantForkMessage(f.transcript, messageID(5, 1), "5.0", "four\n", messageID(4, 4), 2)
	f.wantForkMessage(f.transcript, messageID(1, 4), "1", "one\n", messageID(1, 4), 1)

	// The agent's file goes with its sweep; the snapshots have what was said.
	if err := os.Remove(former); err != nil {
		t.Fatal(err)
	}
	c.wantForkMessage(former, messageID(2, 4), "2", "two\n", messageID(2, 4), 2)
	c.healthy()
}

// TestForkFromMessageBeforeGoingBack: a prompt after going back in the conversation goes on
// from what it went back to, and so does a fork from there.
func TestForkFromMessageBeforeGoingBack(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	back := c.parent
	c.takeTurn("second", "a.txt", "two\n")
	c.parent = back
	c.takeTurn("third", "a.txt", "three\n")
	c.wantForkMessage(c.transcript, messageID(3, 1), "3.0", "two\n", messageID(1, 4), 1)
	c.wantForkMessage(c.transcript, messageID(2, 4), "2", "two\n", messageID(2, 4), 2)
}

// TestForkFromNewMessage: a message that is in no snapshot yet gets one, also in a turn.
func TestForkFromNewMessage(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	c.hook("UserPromptSubmit", map[string]any{"prompt": "second", "prompt_id": "p2"})
	c.write("a.txt", "half\n")
	c.say(c.line("user", "u1", c.parent, `"second"`), c.line("assistant", "u2", "u1", `[{"type":"text","text":"I begin."}]`))
	c.wantForkMessage(c.transcript, "u2", "2.1", "half\n", "u2", 2)
}

// TestForkFromMessageRefused: what names no message of a mission says what to type.
func TestForkFromMessageRefused(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.sayTurn("alone")
	refused := func(session, id string, kind missions.Kind, hint string) {
		t.Helper()
		_, err := c.local.Fork(context.Background(), missions.ForkRequest{Caller: c.caller(), Session: session, Message: id})
		if e := missions.AsError(err); err == nil || e.Kind != kind || !strings.Contains(e.Hint, hint) {
			t.Errorf("%s %s: %v (%s)", session, id, err, e.Hint)
		}
	}
	refused(c.transcript, "alone-2", missions.KindNotFound, "umbra import agents --agent claude")
	refused(c.transcript+"x", "alone-2", missions.KindNotFound, "session file")
	refused("a.txt", "alone-2", missions.KindNotFound, "session file")
	refused(c.transcript, "", missions.KindUsage, "--at ID")

	// Imported, its files are those of now, and it says so.
	c.importSessions(missions.ImportRequest{})
	refused(c.transcript, "alone-3", missions.KindNotFound, "id that the message has")
	if _, last, turns, r := c.forkMessage(c.transcript, "alone-2"); last != "alone-2" || turns != 1 || !strings.Contains(strings.Join(r.Notes, "\n"), "older than what Umbra knows") {
		t.Errorf("of an imported session: %s, %d turns, %q", last, turns, r.Notes)
	}
	m, err := c.local.Missions(t.Context(), missions.MissionsRequest{Caller: c.caller(), All: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range m {
		if m.SessionID == c.session {
			if _, err := c.local.Remove(context.Background(), missions.RemoveRequest{Caller: c.caller(), Missions: []string{m.Name}, Force: true}); err != nil {
				t.Fatal(err)
			}
		}
	}
	refused(c.transcript, "alone-2", missions.KindNotFound, "umbra trash restore")
}
