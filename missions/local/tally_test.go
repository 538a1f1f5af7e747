package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// tokened is an answer that says what it has used.
func (c *talker) tokened(id string, in, out int, content string) string {
	return fmt.Sprintf(`{"parentUuid":"","isSidechain":false,"type":"assistant","uuid":%q,"timestamp":"2026-01-01T00:00:00.000Z","cwd":%q,"sessionId":%q,"message":{"role":"assistant","id":%q,"usage":{"input_tokens":%d,"output_tokens":%d},"content":%s}}`,
		id, c.dir, c.session, "msg_"+id, in, out, content)
}

// counted is the oracle: the whole file, read anew.
func (c *talker) counted() missions.Tally {
	c.Helper()
	f, err := os.Open(c.transcript)
	if err != nil {
		c.Fatal(err)
	}
	defer f.Close()
	conv, err := sessions.ReadConversation(projects.Agents()[0], f)
	if err != nil {
		c.Fatal(err)
	}
	var t missions.Tally
	conversations.AddTurns(&t, conv, conv.Turns)
	return t
}

func (c *talker) now() missions.Mission {
	c.Helper()
	list, err := c.local.Missions(context.Background(), missions.MissionsRequest{Caller: c.caller()})
	if err != nil || len(list) == 0 {
		c.Fatalf("missions: %+v %v", list, err)
	}
	for _, m := range list {
		if m.SessionID == c.session {
			return m
		}
	}
	c.Fatalf("no mission has session %s", c.session)
	return missions.Mission{}
}

func (c *talker) tallies(what string) {
	c.Helper()
	got, want := c.now().Tally, c.counted()
	if got == nil || !reflect.DeepEqual(*got, want) {
		c.Errorf("%s: %+v, want %+v", what, got, want)
	}
}

// costly is a turn with tools, tokens and a cost.
func (c *talker) costly(n int) {
	c.Helper()
	c.takeTurn(fmt.Sprintf("turn %d", n), "a.txt", fmt.Sprintf("%d\n", n))
	id := fmt.Sprintf("%08d-0000-4000-8000-0000000000aa", n)
	c.say(c.tokened(id, 100*n, n, `[{"type":"text","text":"well"}]`),
		fmt.Sprintf(`{"type":"cost-state","sessionId":%q,"totalCostUSD":%d.5}`, c.session, n))
	c.hook("Stop", map[string]any{"prompt_id": id})
}

// TestTally: what each snapshot says of the conversation is what the file says,
// also in the next process, after a compaction, in a fork and after /clear.
func TestTally(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "zero\n")
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	for n := 1; n <= 3; n++ {
		c.costly(n)
		c.hook("UserPromptSubmit", map[string]any{"prompt": "look", "prompt_id": fmt.Sprint("look", n)}) // a snapshot that has all
		c.tallies(fmt.Sprint("turn ", n))
	}
	if got := c.now().Tally; got.Prompts != 3 || got.Tools != 3 || got.Input != 600 || got.Output != 6 || got.Cost != 3.5 {
		t.Errorf("%+v", got)
	}
	before := c.now()
	if err := b.local.Close(); err != nil {
		t.Fatal(err)
	}
	c.testBench = b.again()
	c.say(`{"type":"system","subtype":"compact_boundary","uuid":"00000000-0000-4000-8000-0000000000cc","timestamp":"2026-01-01T00:00:00.000Z","sessionId":"` + c.session + `"}`)
	c.costly(4)
	c.hook("UserPromptSubmit", map[string]any{"prompt": "look", "prompt_id": "look4"})
	c.tallies("in the next process")
	if got := c.now().Tally; got.Compactions != 1 || got.Prompts != 4 {
		t.Errorf("after a compaction: %+v", got)
	}

	list, err := c.local.Log(context.Background(), missions.LogRequest{Caller: c.caller(), Mission: before.Name})
	if err != nil {
		t.Fatal(err)
	}
	last := 0
	for i := len(list) - 1; i >= 0; i-- {
		e := list[i]
		if e.Tally == nil {
			if last > 0 {
				t.Errorf("%s says nothing", e.Address)
			}
			continue
		}
		if e.Tally.Prompts < last {
			t.Errorf("%s: %+v", e.Address, e.Tally)
		}
		last = e.Tally.Prompts
	}

	fork, err := c.local.Fork(context.Background(), missions.ForkRequest{Caller: c.caller(), From: before.Name + "@3", Name: "past", Workspace: filepath.Join(filepath.Dir(c.dir), "past")})
	if err != nil {
		t.Fatal(err)
	}
	if got := fork.Missions[0].Tally; got == nil || got.Prompts != 2 {
		t.Errorf("the fork begins with %+v", got)
	}
	past := &talker{testBench: c.testBench, session: fork.Missions[0].SessionID, transcript: fork.Missions[0].SessionPath, turn: 20, mission: fork.Missions[0].ID}
	past.testBench = &testBench{T: t, local: c.local, user: c.user, home: c.home, dir: fork.Missions[0].Workspace}
	past.costly(21)
	past.hook("UserPromptSubmit", map[string]any{"prompt": "look", "prompt_id": "look21"})
	past.tallies("in the fork")

	// /clear
	was := *c.now().Tally
	c.session = "22222222-2222-4222-8222-222222222222"
	c.transcript = filepath.Join(filepath.Dir(c.transcript), c.session+".jsonl")
	c.mission = before.ID
	c.hook("SessionStart", map[string]any{"source": "clear"})
	c.costly(5)
	c.hook("UserPromptSubmit", map[string]any{"prompt": "look", "prompt_id": "look5"})
	want := was.Plus(c.counted())
	want.Resets = 1
	if got := c.now().Tally; got == nil || *got != want {
		t.Errorf("after /clear: %+v, want %+v", got, want)
	}
	c.healthy()
}

// TestTallyOfRestore: a restore to before /clear takes back what was counted since,
// the conversation that was left too, and its undo counts all of it again.
func TestTallyOfRestore(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "zero\n")
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.costly(1)
	c.costly(2)
	before, name := *c.now().Tally, c.now().Name
	list, err := c.local.Log(context.Background(), missions.LogRequest{Caller: c.caller(), Mission: name})
	if err != nil {
		t.Fatal(err)
	}
	c.mission = c.now().ID
	counted := func() missions.Tally {
		t.Helper()
		m, err := c.local.MissionByID(c.mission)
		if err != nil || conversations.MissionTally(&m.Stored) == nil {
			t.Fatalf("%+v, %v", m, err)
		}
		return *conversations.MissionTally(&m.Stored)
	}
	c.session = "22222222-2222-4222-8222-222222222222"
	c.transcript = filepath.Join(filepath.Dir(c.transcript), c.session+".jsonl")
	c.hook("SessionStart", map[string]any{"source": "clear"})
	c.costly(5)
	after := counted()
	if after.Resets != 1 || after.Prompts != before.Prompts+1 {
		t.Fatalf("after /clear: %+v", after)
	}
	c.hook("SessionEnd", map[string]any{"reason": "other"})
	if _, err := c.local.Restore(context.Background(), missions.RestoreRequest{Caller: c.caller(), Moment: list[0].ID}); err != nil {
		t.Fatal(err)
	}
	if got := counted(); got != before {
		t.Errorf("restored to before /clear: %+v, want %+v", got, before)
	}
	if _, err := c.local.Undo(context.Background(), missions.UndoRequest{Caller: c.caller(), Mission: name}); err != nil {
		t.Fatal(err)
	}
	if got := counted(); got != after {
		t.Errorf("after undo: %+v, want %+v", got, after)
	}
	c.healthy()
}

// TestTallyBeside: a conversation that is too long is counted beside the
// snapshot, and what a long one has inherited is not counted again.
func TestTallyBeside(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.local.MaxCountedBytes = 256
	b.write("a.txt", "zero\n")
	c := newTalker(b)
	c.say(c.line("user", "00000000-0000-4000-8000-000000000001", "", `"long ago"`), c.tokened("00000000-0000-4000-8000-000000000002", 7, 3, `[{"type":"text","text":"yes"}]`))
	c.hook("SessionStart", map[string]any{"source": "resume"})
	c.costly(1)
	for _, look := range []string{"look1", "look2"} { // what was said while it was being counted is counted after
		b.local.Workers.Wait()
		c.hook("UserPromptSubmit", map[string]any{"prompt": "look", "prompt_id": look})
	}
	c.tallies("counted beside")
	name := c.now().Name
	fork, err := c.local.Fork(context.Background(), missions.ForkRequest{Caller: c.caller(), From: name, NoWait: true, Name: "copy", Workspace: filepath.Join(filepath.Dir(c.dir), "copy")})
	if err != nil {
		t.Fatal(err)
	}
	f := &talker{session: fork.Missions[0].SessionID, transcript: fork.Missions[0].SessionPath, turn: 20, mission: fork.Missions[0].ID}
	f.testBench = &testBench{T: t, local: c.local, user: c.user, home: c.home, dir: fork.Missions[0].Workspace}
	f.local.MaxCountedBytes = 4096
	begin := f.counted()
	f.costly(21)
	f.hook("UserPromptSubmit", map[string]any{"prompt": "look", "prompt_id": "look21"})
	f.tallies("in the fork")
	if m, err := f.local.MissionByID(fork.Missions[0].ID); err != nil || m.Tally == nil || m.Tally.LastTurnStart == 0 || begin.Prompts == 0 {
		t.Errorf("counted from the beginning: %+v, %v", m.Tally, err)
	}
}

// TestTallyOfNothing: a file that goes is no error, and what was counted stays.
func TestTallyOfNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "zero\n")
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.costly(1)
	c.hook("UserPromptSubmit", map[string]any{"prompt": "look", "prompt_id": "look1"})
	want := *c.now().Tally
	if err := os.Remove(c.transcript); err != nil {
		t.Fatal(err)
	}
	c.hook("Stop", map[string]any{"prompt_id": "look1"})
	if got := c.now().Tally; got == nil || *got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	k := conversations.NewCounter(projects.Agents()[0], projects.TallyProgress{}, nil)
	if _, err := k.CountTo(projects.Agents()[0], c.transcript, 10); err == nil {
		t.Error("a file that is not there was counted")
	}
	var none missions.Tally
	conversations.AddTurns(&none, sessions.Conversation{}, []sessions.Turn{{Tokens: sessions.Tokens{Input: -1, Output: -1}}})
	if none.Input != 0 || none.Output != 0 {
		t.Errorf("what is unknown counts: %+v", none)
	}
}

// TestTallyOfOwnFork: of a session that the agent itself has copied from another one,
// the mission counts what was said since, and in a mission that had the other one
// too, all. A turn without an answer says of nobody that it was copied.
func TestTallyOfOwnFork(t *testing.T) {
	t.Parallel()
	for name, branched := range map[string]bool{"of another mission's": false, "of its own": true} {
		t.Run(name, func(t *testing.T) {
			c := startTalker(t)
			c.vars = map[string]string{"CLAUDE_PID": fmt.Sprint(os.Getpid())}
			source := "start"
			if branched {
				c.hook("SessionStart", map[string]any{"source": "startup"})
				c.takeTurn("first", "a.txt", "one\n")
				source = "fork"
			}
			c.switchTo(otherSession)
			c.hook("SessionStart", map[string]any{"source": source})
			copied := c.tokened("u2", 1000, 100, `[{"type":"text","text":"copied"}]`)
			c.say(c.line("user", "u1", "", `"copied without an answer"`), c.line("user", "u1", "", `"copied"`),
				strings.Replace(copied, `{`, fmt.Sprintf(`{"requestSessionId":%q,`, testSession), 1))
			c.costly(2)
			want := missions.Tally{Prompts: 1, Tools: 1, Input: 200, Output: 2, Cost: 2.5}
			if branched {
				want.Prompts, want.Input, want.Output = 3, 1200, 102
			}
			if got := c.now().Tally; got == nil || *got != want {
				t.Errorf("it counts %+v, want %+v", got, want)
			}
			c.healthy()
		})
	}
}
