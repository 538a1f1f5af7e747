package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// told is the line by which Claude Code 2 shows what a prompt's hook has said.
func (c *talker) told(text string) string {
	return fmt.Sprintf(`{"parentUuid":null,"isSidechain":false,"attachment":{"type":"hook_additional_context","content":[%q],"hookEvent":"UserPromptSubmit"},"type":"attachment","uuid":"%s","cwd":%q,"sessionId":%q,"version":"2.1.329"}`,
		text, testSession, c.dir, c.session)
}

// prompts has a prompt and the end of its turn, and returns what the agent is
// told; with seen the conversation shows it.
func (c *talker) prompts(text string, seen bool) string {
	c.Helper()
	c.turn++
	id := fmt.Sprintf("%08d-0000-4000-8000-000000000009", c.turn)
	said := string(c.hook("UserPromptSubmit", map[string]any{"prompt": text, "prompt_id": id}).Output)
	c.say(c.line("user", id, "", fmt.Sprintf("%q", text)))
	if m, err := c.local.MissionByID(c.only().ID); seen && err == nil {
		c.say(c.told(snapshots.NotesText(m)))
	}
	c.say(c.line("assistant", id, id, `[{"type":"text","text":"done"}]`))
	c.hook("Stop", map[string]any{"prompt_id": id, "last_assistant_message": "done"})
	return said
}

// TestNoteUntilItIsSeen gives a note with each prompt until the conversation shows
// it, also by another process, and not for ever.
func TestNoteUntilItIsSeen(t *testing.T) {
	t.Parallel()
	const note = `files were "put back" in <dir> & ä`
	for name, tt := range map[string]struct {
		seen []bool
		told string // y for each prompt with which it is given
	}{
		"at once":         {[]bool{true, false, false}, "ynn"},
		"with the second": {[]bool{false, true, false}, "yyn"},
		"never":           {[]bool{false, false, false, false}, "yynn"},
	} {
		t.Run(name, func(t *testing.T) {
			c := startTalker(t)
			c.hook("SessionStart", map[string]any{"source": "startup"})
			c.takeTurn("first", "a.txt", "one\n")
			m, err := c.local.MissionByID(c.only().ID)
			if err != nil {
				t.Fatal(err)
			}
			err = c.local.WithWorkspaceLock(context.Background(), m, func(m *projects.Mission) error {
				snapshots.SetNote(m, snapshots.NoteRestore, "an older one of its kind")
				snapshots.SetNote(m, snapshots.NoteRestore, note)
				return c.local.WriteMetaRecord(context.Background(), m, "note")
			})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for n, seen := range tt.seen {
				c.testBench = c.again() // the daemon has died
				c.local.Adapters = projects.Agents()
				said := c.prompts(fmt.Sprint("prompt ", n), seen)
				if strings.Contains(said, "older") {
					t.Errorf("told %s", said)
				}
				if strings.Contains(said, "put back") {
					got += "y"
				} else {
					got += "n"
				}
			}
			if got != tt.told {
				t.Errorf("told %s, want %s", got, tt.told)
			}
			c.healthy()
		})
	}
}

// TestForkIsTold where it works, with its first prompt; what its source was to be
// told of its files, and again when that is taken out of its conversation.
func TestForkIsTold(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "zero\n")
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("please write the file", "a.txt", "one\n")
	c.takeTurn("again", "a.txt", "two\n")
	b.restore("@1", func(r *missions.RestoreRequest) { r.FilesOnly = true })
	r, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), Name: "twin"})
	if err != nil {
		t.Fatal(err)
	}
	fork := talkerOf(c, r.Missions[0])
	first := func() string {
		t.Helper()
		m, err := b.local.MissionByID(fork.mission)
		if err != nil {
			t.Fatal(err)
		}
		fork.session, fork.transcript = m.Stored.Session, m.Binding.SessionPath
		fork.turn++
		id := fmt.Sprintf("%08d-0000-4000-8000-000000000009", fork.turn)
		said := string(fork.hook("UserPromptSubmit", map[string]any{"prompt": "where am I", "prompt_id": id}).Output)
		fork.say(fork.line("user", id, "", `"where am I"`))
		if text := snapshots.NotesText(m); text != "" {
			fork.say(fork.told(text))
		}
		fork.say(fork.line("assistant", id, id, `[{"type":"text","text":"done"}]`))
		fork.hook("Stop", map[string]any{"prompt_id": id, "last_assistant_message": "done"})
		return said
	}
	where := "work in " + fork.dir + ", a copy of your own. " + b.dir + " is another agent's"
	if said := first(); !strings.Contains(said, where) || !strings.Contains(said, "put files that you may remember back") {
		t.Errorf("a fork is told %s", said)
	}
	if said := first(); said != "" {
		t.Errorf("with its second prompt it is told %s", said)
	}
	fork.restore("twin@fork", func(r *missions.RestoreRequest) { r.ConversationOnly = true })
	if said := first(); !strings.Contains(said, where) {
		t.Errorf("after a restore to where it was forked it is told %s", said)
	}
	if _, err := b.local.Undo(context.Background(), missions.UndoRequest{Caller: fork.caller(), Mission: "twin", Force: true}); err != nil {
		t.Fatal(err)
	}
	if said := first(); said != "" {
		t.Errorf("back in the conversation that says it, it is told %s", said)
	}
	if said := string(c.hook("UserPromptSubmit", map[string]any{"prompt": "and I", "prompt_id": "p9"}).Output); strings.Contains(said, "fork") || !strings.Contains(said, "put files") {
		t.Errorf("the source is told %s", said)
	}
	b.healthy()
}

// TestForkIsNotToldTwice: a fork's agent is told of its source's files what the
// conversation that it goes on with does not say, and nothing where it has none.
func TestForkIsNotToldTwice(t *testing.T) {
	t.Parallel()
	forked := func(b *testBench, name string) string {
		b.Helper()
		r, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), Name: name})
		if err != nil {
			b.Fatal(err)
		}
		m, err := b.local.MissionByID(r.Missions[0].ID)
		if err != nil {
			b.Fatal(err)
		}
		return snapshots.NotesText(m)
	}
	for seen, want := range map[bool]bool{true: false, false: true} {
		c := startTalker(t)
		c.hook("SessionStart", map[string]any{"source": "startup"})
		c.takeTurn("first", "a.txt", "one\n")
		c.takeTurn("second", "a.txt", "two\n")
		c.restore("@1", func(r *missions.RestoreRequest) { r.FilesOnly = true })
		c.prompts("third", seen)
		if said := forked(c.testBench, "twin"); strings.Contains(said, "put files") != want || strings.Contains(said, "this workspace") {
			t.Errorf("where the source's conversation says it (%t), the fork is told %q", seen, said)
		}
	}
	for resume, want := range map[string]string{`"tool","{transcript}"`: "y", `"tool"`: "n"} {
		b := newBench(t)
		b.local.Adapters = projects.Agents()
		b.write("a.txt", "one\n")
		talk := filepath.Join(t.TempDir(), "talk")
		if err := os.WriteFile(talk, []byte("> first\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		tell := func(event string) {
			t.Helper()
			payload := fmt.Sprintf(`{"session":"s1","event":%q,"agent":"tool","transcript":%q,"resume":[%s],"prompt":"go"}`, event, talk, resume)
			if r, err := b.local.Hook(context.Background(), missions.HookRequest{Caller: b.caller(), Agent: "generic", Payload: []byte(payload)}); err != nil || r.Problem != "" {
				t.Fatalf("%s: %v %s", event, err, r.Problem)
			}
		}
		for _, content := range []string{"two\n", "three\n"} {
			tell("prompt")
			b.write("a.txt", content)
			tell("idle")
		}
		b.restore("@1", func(r *missions.RestoreRequest) { r.FilesOnly = true })
		got := "n"
		if strings.Contains(forked(b, "one"), "put files") {
			got = "y"
		}
		if got != want {
			t.Errorf("a tool that is resumed by %s is told (y or n) %s, want %s", resume, got, want)
		}
		tell("prompt") // which is told
		tell("idle")
		if said := forked(b, "two"); strings.Contains(said, "put files") {
			t.Errorf("what a tool was told, its fork is told again: %s", said)
		}
		b.healthy()
	}
}
