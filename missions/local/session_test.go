package local

import (
	"context"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/missions"
)

// recordedSession is the conversation that the only mission's newest record holds.
func (c *talker) recordedSession() (string, records.SessionMeta) {
	c.Helper()
	return c.recordedOf(c.only().ID)
}

// recordedOf is the conversation that a mission's newest record holds.
func (c *talker) recordedOf(mission string) (string, records.SessionMeta) {
	c.Helper()
	m, err := c.local.MissionByID(mission)
	if err != nil {
		c.Fatal(err)
	}
	r, meta, err := c.local.OpenRecordedConversation(m.Project, m.Record)
	if err != nil {
		c.Fatal(err)
	}
	defer r.Close()
	p, err := io.ReadAll(r)
	if err != nil {
		c.Fatal(err)
	}
	return string(p), meta
}

// TestSessionsInRecords records exactly what the agent's file holds, whatever
// the agent does to it.
func TestSessionsInRecords(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	same := func(what string, generation int) {
		t.Helper()
		c.snapshot(what)
		file, err := os.ReadFile(c.transcript)
		if err != nil {
			t.Fatal(err)
		}
		got, meta := c.recordedSession()
		if got != string(file) || meta.Generation != generation {
			t.Errorf("%s: generation %d, the record holds\n%s\nnot\n%s", what, meta.Generation, got, file)
		}
	}
	change := func(fn func(old string) string) {
		t.Helper()
		old, err := os.ReadFile(c.transcript)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(c.transcript, []byte(fn(string(old))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	same("as it is", 1)
	c.say(`{"type":"summary","summary":"x"}`)
	same("appended", 1)
	change(func(old string) string { return old + `{"type":"user","uu` })
	same("torn", 1)
	change(func(old string) string { return old + `id":"1"}` + "\n" + strings.Repeat(`{"type":"x"}`+"\n", 5000) })
	same("completed", 1)
	change(func(old string) string { return old[:len(old)/2] })
	same("truncated", 2)
	change(func(old string) string { return strings.Replace(old, "first", "FIRST", 1) })
	same("rewritten", 3)
	text, err := os.ReadFile(c.transcript)
	if err != nil {
		t.Fatal(err)
	}
	if err := errorsOf(os.WriteFile(c.transcript+".new", text, 0o600), os.Rename(c.transcript+".new", c.transcript)); err != nil {
		t.Fatal(err)
	}
	same("replaced by its like", 3)
	change(func(string) string { return "" })
	same("empty", 4)
	c.healthy()
}

// TestSessionNotThere keeps what is recorded of a session that is gone or can't
// be read; the files are kept in any case.
func TestSessionNotThere(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(string) error{
		"gone":        os.Remove,
		"a directory": func(file string) error { return errorsOf(os.Remove(file), os.Mkdir(file, 0o700)) },
		"a fifo":      func(file string) error { return errorsOf(os.Remove(file), syscall.Mkfifo(file, 0o600)) },
		"a loop":      func(file string) error { return errorsOf(os.Remove(file), os.Symlink(file, file)) },
	} {
		t.Run(name, func(t *testing.T) {
			c := startTalker(t)
			c.hook("SessionStart", map[string]any{"source": "startup"})
			c.takeTurn("first", "a.txt", "one\n")
			before, _ := c.recordedSession()
			if err := damage(c.transcript); err != nil {
				t.Fatal(err)
			}
			c.write("a.txt", "two\n")
			e := c.snapshot("without the session")
			if !e.Partial || c.cat(e.ID, "a.txt") != "two\n" {
				t.Errorf("the snapshot: %+v", e)
			}
			if after, _ := c.recordedSession(); after != before {
				t.Errorf("the record holds %q, before %q", after, before)
			}
			if m := c.only(); name != "gone" && len(m.Problems) == 0 {
				t.Error("nobody is told")
			}
			c.healthy()
		})
	}
}

// TestRecreateSession puts a lost session file back, byte for byte.
func TestRecreateSession(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	c.hook("SessionEnd", map[string]any{"reason": "other"})
	before, err := os.ReadFile(c.transcript)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(c.transcript); err != nil {
		t.Fatal(err)
	}
	m := c.only()
	launch, err := c.local.Launch(context.Background(), missions.LaunchRequest{Caller: c.caller(), Mission: m.Name, Resume: true})
	if err != nil || !strings.Contains(strings.Join(launch.Argv, " "), testSession) {
		t.Fatalf("launch: %+v %v", launch, err)
	}
	if after, err := os.ReadFile(c.transcript); err != nil || string(after) != string(before) {
		t.Errorf("put back: %q %v", after, err)
	}
}

// TestRecreateWorkspace makes a lost workspace again if Umbra had made it, and
// another only where the user says.
func TestRecreateWorkspace(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.git("init", "-q")
	b.write("a.txt", "one\n")
	b.git("add", "a.txt")
	b.git("commit", "-qm", "first")
	b.mission("work")
	made, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), Name: "branch"})
	if err != nil {
		t.Fatal(err)
	}
	fork := made.Missions[0]
	if err := os.RemoveAll(fork.Workspace); err != nil {
		t.Fatal(err)
	}
	launch, err := b.local.Launch(context.Background(), missions.LaunchRequest{Caller: b.caller(), Mission: "branch", Resume: true})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(launch.Dir + "/a.txt"); err != nil || string(got) != "one\n" {
		t.Errorf("made again: %q %v", got, err)
	}
	b.healthy()
	if err := os.Rename(b.dir, b.dir+"-away"); err != nil {
		t.Fatal(err)
	}
	elsewhere := b.caller()
	elsewhere.Cwd = fork.Workspace
	_, err = b.local.Launch(context.Background(), missions.LaunchRequest{Caller: elsewhere, Mission: "work", Resume: true})
	b.fails("a workspace of the user's", err, missions.KindFailed)
	if _, err := os.Stat(b.dir); err == nil {
		t.Error("it was made all the same")
	}
}

// TestConversationOfMoments shows and compares conversations.
func TestConversationOfMoments(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	c.takeTurn("second", "a.txt", "two\n")
	for moment, want := range map[string]string{"@1": "first", "@2": "second", "@2.0": "", "@start": ""} {
		shown, err := c.local.Show(context.Background(), missions.ShowRequest{Caller: c.caller(), Moment: moment})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if len(shown.Conversation) > 0 {
			got = shown.Conversation[0].Text
		}
		if got != want {
			t.Errorf("%s shows %q, want %q", moment, got, want)
		}
	}
	d, err := c.local.Diff(context.Background(), missions.DiffRequest{Caller: c.caller(), From: "@1", To: "@2", Conversation: true})
	if err != nil || d.Conversation.EventsAdded != 4 || len(d.Conversation.Lines) == 0 || d.Conversation.Lines[0].Text != "second" {
		t.Errorf("diff: %+v %v", d.Conversation, err)
	}
}
