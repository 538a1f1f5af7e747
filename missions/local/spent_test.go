package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// spentByTurn is what a mission's turns took, by what its log says of its prompted
// ones; limit is how many snapshots are listed, 0 for all.
func (c *talker) spentByTurn(mission string, limit int) map[int]string {
	c.Helper()
	list, err := c.local.Log(context.Background(), missions.LogRequest{Caller: c.caller(), Mission: mission, Limit: limit})
	if err != nil {
		c.Fatal(err)
	}
	got := map[int]string{}
	for from := 0; from < len(list); {
		to := from + 1
		for to < len(list) && list[to].Turn == list[from].Turn && list[to].Mission == list[from].Mission {
			to++
		}
		if t, known := missions.TurnTally(list, from, to); known && t != (missions.Tally{}) {
			got[list[from].Turn] = fmt.Sprintf("%d tools, %d tokens, $%.2f", t.Tools, t.Input+t.Output, t.Cost)
		}
		from = to
	}
	return got
}

// spends fails unless turns took just that.
func (c *talker) spends(when, mission string, limit int, want map[int]string) {
	c.Helper()
	if got := c.spentByTurn(mission, limit); fmt.Sprint(got) != fmt.Sprint(want) {
		c.Errorf("%s:\n%v, want\n%v", when, got, want)
	}
}

// idles is a turn with one tool and so many tokens.
func (c *talker) idles(tokens int) {
	c.Helper()
	c.takeTurn(fmt.Sprintf("use %d", tokens), "a.txt", fmt.Sprintf("%d\n", tokens))
	id := fmt.Sprintf("%08d-0000-4000-8000-0000000000ab", c.turn)
	c.say(c.tokened(id, tokens, 0, `[{"type":"text","text":"well"}]`))
	c.hook("Stop", map[string]any{"prompt_id": id})
}

// asks is a turn without a tool.
func (c *talker) asks(tokens int) {
	c.Helper()
	c.turn++
	id := fmt.Sprintf("%08d-0000-4000-8000-0000000000ac", c.turn)
	c.hook("UserPromptSubmit", map[string]any{"prompt": "why", "prompt_id": id})
	c.say(c.line("user", id, "", `"why"`), c.tokened(id[:len(id)-1]+"d", tokens, 0, `[{"type":"text","text":"so"}]`))
	c.hook("Stop", map[string]any{"prompt_id": id})
}

// continuesConversation has the agent go on in the session that its mission was given.
func (c *talker) goesOn() {
	c.Helper()
	m, err := c.local.MissionByID(c.mission)
	if err != nil {
		c.Fatal(err)
	}
	c.session, c.transcript = m.Stored.Session, m.Binding.SessionPath
	c.vars = map[string]string{"CLAUDE_PID": fmt.Sprint(os.Getpid())} // a process that lives
	c.hook("SessionStart", map[string]any{"source": "resume"})
}

// TestSpentAfterOperations: what a turn took stays what it took, whatever is restored,
// undone and done again after it, and what is said after that is the next turn's.
func TestSpentAfterOperations(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.mission = c.now().ID
	name := c.mission
	want := map[int]string{}
	for n := 1; n <= 3; n++ {
		c.idles(100 * n)
		want[n] = fmt.Sprintf("1 tools, %d tokens, $0.00", 100*n)
	}
	c.asks(7)
	want[4] = "0 tools, 7 tokens, $0.00"
	c.spends("before", name, 0, want)

	ctx := context.Background()
	operation := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		c.spends(what, name, 0, want)
	}
	c.hook("SessionEnd", map[string]any{"reason": "other"})
	_, err := c.local.Restore(ctx, missions.RestoreRequest{Caller: c.caller(), Moment: name + "@1"})
	operation("restored", err)
	_, err = c.local.Undo(ctx, missions.UndoRequest{Caller: c.caller(), Mission: name})
	operation("undone", err)
	_, err = c.local.Redo(ctx, missions.UndoRequest{Caller: c.caller(), Mission: name})
	operation("redone", err)

	c.goesOn()
	c.idles(50)
	want[5] = "1 tools, 50 tokens, $0.00"
	c.spends("a turn after it", name, 0, want)
	c.asks(9)
	want[6] = "0 tools, 9 tokens, $0.00"
	c.hook("SessionEnd", map[string]any{"reason": "other"})
	_, err = c.local.Restore(ctx, missions.RestoreRequest{Caller: c.caller(), Moment: name + "@4", FilesOnly: true})
	operation("files restored", err)
	_, err = c.local.Undo(ctx, missions.UndoRequest{Caller: c.caller(), Mission: name})
	operation("files undone", err)
	c.healthy()
}

// TestSpentAfterClear counts in each conversation what was said there.
func TestSpentAfterClear(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.mission = c.now().ID
	name := c.mission
	c.idles(100)
	c.idles(200)
	c.hook("SessionEnd", map[string]any{"reason": "clear"})
	c.switchTo(otherSession)
	c.hook("SessionStart", map[string]any{"source": "clear"})
	want := map[int]string{1: "1 tools, 100 tokens, $0.00", 2: "1 tools, 200 tokens, $0.00"}
	c.spends("after /clear", name, 0, want)
	c.idles(30)
	want[3] = "1 tools, 30 tokens, $0.00"
	c.spends("a turn after it", name, 0, want)
	c.healthy()
}

// TestSpentInAFork: a fork's first turn took what was said in it; of the oldest turn
// that is listed nothing is known unless its beginning is listed too.
func TestSpentInAFork(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.mission = c.now().ID
	name := c.mission
	c.idles(100)
	c.idles(200)
	fork, err := c.local.Fork(context.Background(), missions.ForkRequest{Caller: c.caller(), From: name + "@1", Name: "past", Workspace: filepath.Join(filepath.Dir(c.dir), "past")})
	if err != nil {
		t.Fatal(err)
	}
	m := fork.Missions[0]
	past := &talker{testBench: &testBench{T: t, local: c.local, user: c.user, home: c.home, dir: m.Workspace}, session: m.SessionID, transcript: m.SessionPath, turn: 20, mission: m.ID}
	past.hook("SessionStart", map[string]any{"source": "resume"})
	past.idles(40)
	// What was written after the end of turn 1 came with the source's next prompt.
	want := map[int]string{1: "1 tools, 0 tokens, $0.00", 2: "1 tools, 40 tokens, $0.00"}
	past.spends("a fork", "past", 0, want)
	delete(want, 1)
	list, err := c.local.Log(context.Background(), missions.LogRequest{Caller: past.caller(), Mission: "past"})
	if err != nil {
		t.Fatal(err)
	}
	for at, e := range list {
		if e.Turn == 2 && e.HasPromptTrigger() {
			past.spends("the newest turn whole", "past", at+1, want)
			past.spends("the newest turn without its beginning", "past", at, map[int]string{})
		}
	}
	past.healthy()
}

// TestSpentOfEntries: what else there is in a log.
func TestSpentOfEntries(t *testing.T) {
	t.Parallel()
	entry := func(id, parent, session string, turn, tools int, triggers ...missions.Trigger) missions.Entry {
		e := missions.Entry{ID: id, Parent: parent, SessionID: session, Mission: "m", Turn: turn, Triggers: missions.Triggers(triggers).Texts()}
		if tools >= 0 {
			e.Tally = &missions.Tally{Prompts: turn, Tools: tools}
		}
		return e
	}
	const prompt, idle, watch = missions.TriggerPrompt, missions.TriggerIdle, missions.TriggerWatch
	other := entry("x", "", "t", 7, 3, watch)
	other.Mission = "another"
	for name, c := range map[string]struct {
		list     []missions.Entry // its last ones of turn 2 are meant
		want     int
		unknown  bool
		from, to int
	}{
		"counted after its end":              {list: []missions.Entry{entry("c", "b", "s", 3, 5, prompt), entry("b", "a", "s", 2, 2, idle), entry("a", "", "s", 2, 1, prompt)}, from: 1, to: 3, want: 4},
		"counted in another session":         {list: []missions.Entry{entry("c", "b", "t", 3, 5, prompt), entry("b", "a", "s", 2, 2, idle), entry("a", "", "s", 2, 1, prompt)}, from: 1, to: 3, want: 1},
		"its user went back after it":        {list: []missions.Entry{entry("c", "b", "s", 2, 1, watch), entry("b", "a", "s", 2, 4, idle), entry("a", "", "s", 2, 2, prompt)}, to: 3, want: 2},
		"its user went back before it":       {list: []missions.Entry{entry("c", "b", "s", 2, 4, idle), entry("b", "a", "s", 2, 1, prompt), entry("a", "", "s", 1, 6, idle)}, to: 2, want: 3},
		"a session that was not known":       {list: []missions.Entry{entry("b", "a", "s", 1, 4, idle), entry("a", "", "", 1, -1, prompt)}, to: 2, want: 4},
		"not counted when it began":          {list: []missions.Entry{entry("b", "a", "s", 2, 4, idle), entry("a", "", "s", 2, -1, prompt)}, to: 2, unknown: true},
		"no prompt heard":                    {list: []missions.Entry{entry("b", "a", "s", 2, 4, idle), entry("a", "", "s", 1, 1, idle)}, to: 1, want: 3},
		"no prompt heard at all":             {list: []missions.Entry{entry("b", "a", "s", 1, 4, idle), entry("a", "", "", 0, -1, watch)}, to: 1, want: 4},
		"no prompt heard in another session": {list: []missions.Entry{entry("b", "a", "s", 2, 4, idle), entry("a", "", "t", 1, 1, idle)}, to: 1, unknown: true},
		"what was before is not listed":      {list: []missions.Entry{entry("b", "a", "s", 2, 4, idle), entry("z", "", "s", 1, 1, idle)}, to: 1, unknown: true},
		"the rest is beside another mission": {list: []missions.Entry{entry("b", "a", "s", 2, 4, idle), other, entry("a", "", "s", 2, 1, prompt)}, from: 2, to: 3, unknown: true},
	} {
		got, known := missions.TurnTally(c.list, c.from, c.to)
		if got.Tools != c.want || known == c.unknown {
			t.Errorf("%s: %d tools, %v", name, got.Tools, known)
		}
	}
}
