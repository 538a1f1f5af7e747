package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// working is an agent that says itself what it does, and the time that passes.
type working struct {
	*talker
	registry registry
	up       time.Duration
}

func startWorking(t *testing.T) *working {
	c := startTalker(t)
	c.vars = map[string]string{"CLAUDE_PID": missions.Itoa(os.Getpid())}
	w := &working{talker: c, registry: newRegistry(c), up: time.Hour}
	c.local.Uptime = func() time.Duration { return w.up }
	c.hook("SessionStart", map[string]any{"source": "startup"})
	return w
}

// says has the agent say what it does, and has done for a minute, and be looked at.
func (w *working) says(status string) {
	w.Helper()
	w.registry.says(w.T, fmt.Sprintf(`"status":%q,"statusUpdatedAt":%d`, status, time.Now().Add(-time.Minute).UnixMilli()))
}

func (w *working) is(state missions.StateName, turn int) {
	w.Helper()
	if m := w.only(); m.State != state || m.Turn != turn {
		w.Errorf("the mission is %s in turn %d, want %s in %d", m.State, m.Turn, state, turn)
	}
}

func (w *working) addresses(want ...string) {
	w.Helper()
	entries, err := w.local.Log(context.Background(), missions.LogRequest{Caller: w.caller(), Limit: len(want)})
	var got []string
	for _, e := range entries {
		got = append(got, e.Address+" "+e.Message)
	}
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		w.Errorf("the log is %q (%v), want %q", got, err, want)
	}
}

// TestGoesOnAfterItsTurn: an agent that says itself that it works, two seconds after its
// turn's end was heard, is in that turn again. The moment of its end stays that of the
// first one; a restore is refused meanwhile.
func TestGoesOnAfterItsTurn(t *testing.T) {
	t.Parallel()
	w := startWorking(t)
	w.takeTurn("go", "a.txt", "one\n")
	name := w.only().Name
	w.says("busy")
	w.is(missions.StateIdle, 1)
	w.up += 3 * time.Second
	w.says("busy")
	w.is(missions.StateRunning, 1)
	_, err := w.local.Restore(context.Background(), missions.RestoreRequest{Caller: w.caller(), Moment: "@1.0"})
	w.fails("a restore while it goes on", err, missions.KindBusy)
	w.write("a.txt", "two\n")
	w.registry.says(t, fmt.Sprintf(`"status":"idle","statusUpdatedAt":%d`, time.Now().Add(time.Second).UnixMilli()))
	w.is(missions.StateIdle, 1)
	w.addresses(name+"@1.2 turn ended", name+"@1 turn ended")
	if got, err := w.local.Cat(context.Background(), missions.CatRequest{Caller: w.caller(), Moment: "@1", Path: "a.txt"}); err != nil || string(got) != "one\n" {
		t.Errorf("at the end of its turn there was %q, %v", got, err)
	}
	w.healthy()
}

// TestBusyWithACommand: a client is busy while a command of Umbra's is answered that its user
// typed there. It is in no turn then, unless it was busy before.
func TestBusyWithACommand(t *testing.T) {
	t.Parallel()
	for since, want := range map[time.Duration]missions.StateName{5 * time.Second: missions.StateIdle, time.Minute: missions.StateRunning} {
		w := startWorking(t)
		caller := w.caller()
		caller.Binary = "/usr/bin/umbra"
		if _, err := w.local.InstallHooks(t.Context(), missions.HooksRequest{Caller: caller, Name: "claude"}); err != nil {
			t.Fatal(err)
		}
		w.takeTurn("go", "a.txt", "one\n")
		busy := fmt.Sprintf(`"status":"busy","statusUpdatedAt":%d`, time.Now().Add(-since).UnixMilli())
		w.hook("UserPromptSubmit", map[string]any{"prompt": "/checkpoint", "prompt_id": "2"})
		w.up += 3 * time.Second
		w.registry.says(t, busy)
		w.is(want, 1)
	}
}

// TestPromptIsReportedLate: an agent that works before the hook of its prompt reports it,
// as where the machine is busy, was in no turn: the turn before has no second end. What it
// has written by then is kept apart from the prompt's snapshot.
func TestPromptIsReportedLate(t *testing.T) {
	t.Parallel()
	for name, writes := range map[string]bool{"and only speaks": false, "and writes": true} {
		t.Run(name, func(t *testing.T) {
			w := startWorking(t)
			w.takeTurn("go", "a.txt", "one\n")
			m := w.only().Name
			w.says("busy")
			w.up += 3 * time.Second
			w.says("busy")
			w.is(missions.StateRunning, 1)
			w.say(w.line("user", "00000002-0000-4000-8000-000000000001", w.parent, `"more"`))
			want := []string{m + "@2.0 prompt", m + "@1 turn ended"}
			if writes {
				w.write("a.txt", "two\n")
				want = slices.Insert(want, 1, m+"@1.2 "+missions.MessageEndedUnseen)
			}
			w.hook("UserPromptSubmit", map[string]any{"prompt": "more", "prompt_id": "2"})
			w.addresses(want...)
			w.is(missions.StateRunning, 2)
		})
	}
}

// TestLooksBeforeItTrusts: whoever would end an agent, or waits for it, looks whether it
// goes on though nobody has looked since its turn ended.
func TestLooksBeforeItTrusts(t *testing.T) {
	t.Parallel()
	for name, does := range map[string]func(w *working) error{
		"restore": func(w *working) error {
			_, err := w.local.Restore(context.Background(), missions.RestoreRequest{Caller: w.caller(), Moment: "@1.0"})
			return err
		},
		"undo": func(w *working) error {
			_, err := w.local.Undo(context.Background(), missions.UndoRequest{Caller: w.caller()})
			return err
		},
		"redo": func(w *working) error {
			_, err := w.local.Redo(context.Background(), missions.UndoRequest{Caller: w.caller()})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := startWorking(t)
			w.takeTurn("go", "a.txt", "one\n")
			w.says("busy")
			w.up += 3 * time.Second
			w.fails(name+" while it goes on, and nobody looks again", does(w), missions.KindBusy)
			w.is(missions.StateIdle, 1)
			w.local.Watching = servedBlind{}
			w.fails(name+" while it goes on", does(w), missions.KindBusy)
			w.is(missions.StateRunning, 1)
		})
	}
	t.Run("wait", func(t *testing.T) {
		w := startWorking(t)
		w.takeTurn("go", "a.txt", "one\n")
		w.says("busy")
		_, err := w.local.Wait(context.Background(), missions.WaitRequest{Caller: w.caller(), States: []missions.StateName{missions.StateIdle}, Timeout: time.Nanosecond})
		w.fails("a wait for one that may go on", err, missions.KindTimeout)
		w.is(missions.StateIdle, 1)
		w.up += 3 * time.Second
		for _, watching := range []missions.Watching{nil, servedBlind{}} {
			w.is(missions.StateIdle, 1)
			w.local.Watching = watching
			_, err = w.local.Wait(context.Background(), missions.WaitRequest{Caller: w.caller(), States: []missions.StateName{missions.StateIdle}, Timeout: time.Nanosecond})
			w.fails("a wait for one that goes on", err, missions.KindTimeout)
		}
		w.is(missions.StateRunning, 1)
	})
}

// TestTurnEndsMeanwhile: a turn may end between the look at its agent and the lock under
// which the agent would be ended; then it is looked at again.
func TestTurnEndsMeanwhile(t *testing.T) {
	t.Parallel()
	w := startWorking(t)
	w.takeTurn("go", "a.txt", "one\n")
	entries, err := w.local.Log(context.Background(), missions.LogRequest{Caller: w.caller(), Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	w.hook("UserPromptSubmit", map[string]any{"prompt": "more", "prompt_id": "2"})
	before, err := w.local.MissionByID(w.only().ID)
	if err != nil || !missions.InTurn(before.Lifecycle) {
		t.Fatalf("the turn has not begun: %v", err)
	}
	w.hook("Stop", map[string]any{"prompt_id": "2"})
	w.local.Watching = servedBlind{}
	w.says("busy")
	w.up += 3 * time.Second
	_, err = w.local.RunAction(context.Background(), before, projects.Action{Restore: &missions.RestoreRequest{Caller: w.caller(), Moment: entries[0].ID, Mission: before.ID}})
	w.fails("a restore while it goes on", err, missions.KindBusy)
	w.is(missions.StateRunning, 2)
}

// TestToolAfterItsTurn: a tool that runs at the prompt of the turn that has ended, since
// another tool's hook keeps the agent from stopping, belongs to that turn.
func TestToolAfterItsTurn(t *testing.T) {
	t.Parallel()
	w := startWorking(t)
	w.takeTurn("go", "a.txt", "one\n")
	name := w.only().Name
	w.write("a.txt", "two\n")
	id := "00000001-0000-4000-8000-000000000009"
	w.hook("PreToolUse", map[string]any{"prompt_id": id, "tool_name": "Bash", "tool_use_id": "t9", "tool_input": map[string]any{"command": "make"}})
	w.is(missions.StateRunning, 1)
	w.hook("UserPromptSubmit", map[string]any{"prompt": "and this", "prompt_id": id}) // typed while it works
	w.is(missions.StateRunning, 1)
	w.hook("Stop", map[string]any{"prompt_id": id, "last_assistant_message": "done"})
	w.is(missions.StateIdle, 1)
	w.addresses(name+"@1.4 turn ended", name+"@1.3 prompt while it works: and this", name+"@1.2 goes on", name+"@1 turn ended")
	w.hook("PreToolUse", map[string]any{"prompt_id": "another", "tool_name": "Bash", "tool_use_id": "t10", "tool_input": map[string]any{"command": "make"}})
	w.is(missions.StateRunning, 2)
	w.healthy()
}

// TestReportsFromTheBackground: what subagents report that were left in the background
// belongs to the turn that left them there. What waits for its end waits for the last.
func TestReportsFromTheBackground(t *testing.T) {
	t.Parallel()
	w := startWorking(t)
	w.local.Watching = servedBlind{}
	w.takeTurn("first", "a.txt", "one\n")
	tasks := func(n int) map[string]any {
		var list []any
		for i := range n {
			list = append(list, map[string]any{"id": missions.Itoa(i), "type": "subagent", "status": "running"})
		}
		return map[string]any{"prompt_id": "p2", "background_tasks": list}
	}
	w.hook("UserPromptSubmit", map[string]any{"prompt": "two of them", "prompt_id": "p2"})
	w.hook("Stop", tasks(2))
	w.restore("@1.0", func(r *missions.RestoreRequest) { r.FilesOnly, r.WhenIdle = true, true })
	report := map[string]any{"prompt": "<task-notification>\n<task-id>a</task-id>\n</task-notification>", "prompt_id": "p3"}
	if r := w.hook("UserPromptSubmit", report); len(r.Output) > 0 {
		t.Errorf("the first report is answered %s", r.Output)
	}
	w.is(missions.StateRunning, 2)
	w.hook("Stop", tasks(1))
	if w.is(missions.StateRunning, 2); w.read("a.txt") != "one\n" {
		t.Error("what was queued was done while a subagent works")
	}
	report["prompt_id"] = "p4"
	w.hook("UserPromptSubmit", report)
	w.says("busy")
	w.hook("Stop", tasks(0))
	if w.is(missions.StateIdle, 2); w.read("a.txt") != "one\n" {
		t.Error("what was queued was done before the agent was at rest")
	}
	w.says("shell")
	if w.is(missions.StateIdle, 2); w.read("a.txt") == "one\n" {
		t.Error("what was queued was not done")
	}
	w.healthy()
}

// TestReportAfterItsTurn: a shell in the background keeps no turn open; what the agent
// does when it has ended belongs to the turn that left it there.
func TestReportAfterItsTurn(t *testing.T) {
	t.Parallel()
	w := startWorking(t)
	w.takeTurn("go", "a.txt", "one\n")
	w.hook("UserPromptSubmit", map[string]any{"prompt": "<task-notification>\n<task-id>b</task-id>", "prompt_id": "p2"})
	w.is(missions.StateRunning, 1)
	if m := w.only(); m.LastPrompt.Text != "go" {
		t.Errorf("its last prompt is %q", m.LastPrompt.Text)
	}
	w.write("b.txt", "the agent's\n")
	w.hook("Stop", map[string]any{"prompt_id": "p2"})
	w.is(missions.StateIdle, 1)
	w.write("c.txt", "another's\n")
	foreign, err := w.local.Restore(context.Background(), missions.RestoreRequest{Caller: w.caller(), Moment: "@1", Preview: true})
	if err != nil || len(foreign.Foreign) != 1 || foreign.Foreign[0].Path != "c.txt" {
		t.Errorf("not the mission's own are %+v, %v", foreign.Foreign, err)
	}
	w.hook("UserPromptSubmit", map[string]any{"prompt": "next", "prompt_id": "p3"})
	w.is(missions.StateRunning, 2)
	w.healthy()
}

// TestBusyBesideAnother: of two processes with one session open, it is the mission's own
// whose word counts.
func TestBusyBesideAnother(t *testing.T) {
	t.Parallel()
	w := startWorking(t)
	w.takeTurn("go", "a.txt", "one\n")
	other := filepath.Join(filepath.Dir(w.registry.file), "1.json") // read first, and alive
	entry := fmt.Sprintf(`{"pid":1,"sessionId":%q,"status":"idle","statusUpdatedAt":%d}`, w.session, time.Now().UnixMilli())
	if err := os.WriteFile(other, []byte(entry), 0o600); err != nil {
		t.Fatal(err)
	}
	w.up += 3 * time.Second
	w.says("busy")
	w.is(missions.StateRunning, 1)
}

// TestStoppedWhileItSaysBusy: what the file shows of a turn's end is not the end while
// the agent says that it works.
func TestStoppedWhileItSaysBusy(t *testing.T) {
	t.Parallel()
	w := startWorking(t)
	w.hook("UserPromptSubmit", map[string]any{"prompt": "go"})
	w.say(w.line("user", "00000001-0000-4000-8000-000000000001", "", `"go"`),
		w.line("user", "00000001-0000-4000-8000-000000000002", "", `[{"type":"text","text":"[Request interrupted by user]"}]`))
	w.up += 3 * time.Second
	w.says("busy")
	w.is(missions.StateRunning, 1)
	w.addresses(w.only().Name + "@1.0 prompt")
	w.says("shell")
	w.is(missions.StateIdle, 1)
	w.addresses(w.only().Name + "@1 interrupted")
	w.healthy()
}

// TestClockSetInATurn: a clock that is set back in a turn makes no time before the turn's
// beginning one after it, nor the other way round.
func TestClockSetInATurn(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	now, up := noon, time.Hour
	l := newBench(t).local
	l.Clock, l.Uptime = func() time.Time { return now }, func() time.Duration { return up }
	begun := l.InstantNow()
	for _, tt := range []struct {
		name string
		set  time.Duration // by which the clock was set five minutes later
		at   time.Duration // since noon, by the clock
		is   bool
	}{
		{"never set, before", 0, -time.Minute, false},
		{"never set, after", 0, time.Minute, true},
		{"set back, before", -time.Hour, -time.Minute, false},
		{"set back, after, by the old clock", -time.Hour, time.Minute, true},
		{"set back, after, by the new one", -time.Hour, -56 * time.Minute, true},
		{"set back, long before", -time.Hour, -2 * time.Hour, false},
		{"set on, before", time.Hour, -time.Minute, false},
		{"set on, after", time.Hour, time.Hour + time.Minute, true},
	} {
		now, up = noon.Add(5*time.Minute+tt.set), time.Hour+5*time.Minute
		if l.IsTimeSince(begun, noon.Add(tt.at)) != tt.is {
			t.Errorf("%s: it is not %t", tt.name, tt.is)
		}
	}
}

// TestClockSetBackAndStopped: a clock that was set back since the prompt keeps no turn
// open whose agent says that it waits for its user.
func TestClockSetBackAndStopped(t *testing.T) {
	t.Parallel()
	w := startWorking(t)
	w.hook("UserPromptSubmit", map[string]any{"prompt": "go", "prompt_id": "p"})
	back := func() time.Time { return time.Now().Add(-time.Hour) }
	w.local.Clock = back
	w.up += 5 * time.Minute
	for _, step := range []struct {
		ago   time.Duration
		state missions.StateName
	}{{6 * time.Minute, missions.StateRunning}, {time.Minute, missions.StateIdle}} {
		w.registry.says(t, fmt.Sprintf(`"status":"idle","statusUpdatedAt":%d`, back().Add(-step.ago).UnixMilli()))
		w.is(step.state, 1)
	}
}
