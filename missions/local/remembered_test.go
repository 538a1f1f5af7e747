package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

const laterSession = "22222222-2222-4222-8222-222222222222"

// TestEventCostsTheSameAmongMany counts what an event allocates when its mission
// is alone and when there are many, whose session follows from no id: of an agent that
// was started by hand, and of one in the background, which the agent of another mission
// began.
func TestEventCostsTheSameAmongMany(t *testing.T) {
	for _, inBackground := range []bool{false, true} {
		b := newBench(t)
		b.local.Adapters = projects.Agents()
		b.write("a.txt", "one\n")
		c := newTalker(b)
		begins := "startup"
		if inBackground {
			from, err := b.local.NewMission(context.Background(), missions.NewMissionRequest{Caller: c.caller(), Agent: "claude"})
			if err != nil {
				t.Fatal(err)
			}
			c.mission, c.vars = from.ID, map[string]string{"CLAUDE_PID": strconv.Itoa(os.Getppid()), "CLAUDE_JOB_DIR": "/jobs/1"}
			c.hook("SessionStart", map[string]any{"source": "startup"})
			if _, err := b.local.Keep(context.Background(), missions.KeepRequest{Mission: from.ID, KeeperPID: os.Getppid(), Ended: true}); err != nil {
				t.Fatal(err)
			}
			c.session, begins = "33333333-3333-4333-8333-333333333333", "fork"
		}
		c.vars = map[string]string{"CLAUDE_PID": strconv.Itoa(os.Getpid()), "CLAUDE_JOB_DIR": c.vars["CLAUDE_JOB_DIR"]}
		c.hook("SessionStart", map[string]any{"source": begins})
		c.hook("UserPromptSubmit", map[string]any{"prompt": "begin", "prompt_id": "p"})
		c.session = laterSession
		c.hook("SessionStart", map[string]any{"source": "clear"})
		told := ""
		event := func() {
			told = c.hook("PostToolUse", map[string]any{"tool_name": "Read", "tool_input": map[string]any{}}).Mission
		}
		alone := testing.AllocsPerRun(10, event)
		for n := range 20 {
			b.mission(fmt.Sprintf("other-%d", n))
		}
		among := testing.AllocsPerRun(10, event)
		if among > 1.2*alone || told == "" || told == c.mission {
			t.Errorf("in the background %v: %.0f allocations among many, %.0f alone, of mission %s", inBackground, among, alone, told)
		}
	}
}

// TestLookCostsTheSameAmongMany counts what a look at a workspace allocates when its
// agent is alone and when there are many in other workspaces: a look at all of them is
// not to cost their number's square.
func TestLookCostsTheSameAmongMany(t *testing.T) {
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	c := newTalker(b)
	c.vars = map[string]string{"CLAUDE_PID": strconv.Itoa(os.Getpid())}
	c.hook("SessionStart", map[string]any{"source": "startup"})
	look := func() {
		if err := b.local.ObserveWokenAgents(context.Background(), b.dir); err != nil {
			t.Error(err)
		}
	}
	b.local.LiveMissions()
	alone := testing.AllocsPerRun(10, look)
	const others = 8
	var root string
	for n := range others {
		c.session, root = fmt.Sprintf("%08d-2222-4222-8222-222222222222", n), t.TempDir()
		c.hook("SessionStart", map[string]any{"source": "startup", "cwd": root})
	}
	if list := b.local.LiveMissions(); len(list) != 1+others {
		t.Fatalf("%d live missions", len(list))
	}
	if among := testing.AllocsPerRun(10, look); among > 1.2*alone {
		t.Errorf("%.0f allocations among many, %.0f alone", among, alone)
	}
	c.hook("SessionEnd", map[string]any{"reason": "other", "cwd": root})
	if in, here := b.local.LiveMissionsIn(root), b.local.LiveMissionsIn(b.dir); len(in) != 0 || len(here) != 1 {
		t.Errorf("after an agent's end: %d in its workspace, %d in another", len(in), len(here))
	}
	c.hook("SessionStart", map[string]any{"source": "resume", "cwd": root})
	if in := b.local.LiveMissionsIn(root); len(in) != 1 {
		t.Errorf("when it came back: %d in its workspace", len(in))
	}
}

// TestGlanceIsTheMissionAsItIs reads a live mission again whenever something of
// it has changed, and only then.
func TestGlanceIsTheMissionAsItIs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "one\n")
	c := newTalker(b)
	c.vars = map[string]string{"CLAUDE_PID": strconv.Itoa(os.Getpid())}
	c.hook("SessionStart", map[string]any{"source": "startup"})
	only := func() *projects.Mission {
		t.Helper()
		list := b.local.LiveMissions()
		if len(list) != 1 {
			t.Fatalf("%d live missions", len(list))
		}
		return list[0]
	}
	before := only()
	if only() != before {
		t.Error("an unchanged mission was read again")
	}
	c.hook("UserPromptSubmit", map[string]any{"prompt": "begin", "prompt_id": "p"})
	now := only()
	if now == before || !missions.InTurn(now.Lifecycle) {
		t.Errorf("after a prompt: %+v", now.Lifecycle)
	}
	_, err := b.local.Rename(context.Background(), missions.RenameRequest{Caller: b.caller(), Mission: now.Name, Name: "renamed"})
	if err != nil {
		t.Fatal(err)
	}
	if now := only(); now.Name != "renamed" {
		t.Errorf("after it was renamed: %s", now.Name)
	}
	// By another process, of which this one knows nothing.
	other := b.again()
	other.local.Adapters = projects.Agents()
	second := newTalker(other)
	second.vars = c.vars
	second.hook("Stop", map[string]any{})
	if now := only(); missions.InTurn(now.Lifecycle) {
		t.Errorf("after another process heard of the turn's end: %+v", now.Lifecycle)
	}
	second.hook("SessionEnd", map[string]any{"reason": "other"})
	if list := b.local.LiveMissions(); len(list) != 0 {
		t.Errorf("after the session's end: %d live missions", len(list))
	}
	if list := b.local.LiveMissions(); len(list) != 0 {
		t.Errorf("and once more: %d", len(list))
	}
	c.hook("UserPromptSubmit", map[string]any{"prompt": "again", "prompt_id": "q"})
	if now := only(); !missions.InTurn(now.Lifecycle) {
		t.Errorf("when it came back: %+v", now.Lifecycle)
	}
}

// TestRememberedSessionIsProved believes nothing that is no longer so.
func TestRememberedSessionIsProved(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "one\n")
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	first := c.hook("UserPromptSubmit", map[string]any{"prompt": "begin", "prompt_id": "p"}).Mission
	c.hook("SessionEnd", map[string]any{"reason": "other"})
	if _, err := b.local.Remove(context.Background(), missions.RemoveRequest{Caller: b.caller(), Missions: []string{first}}); err != nil {
		t.Fatal(err)
	}
	again := c.hook("UserPromptSubmit", map[string]any{"prompt": "more", "prompt_id": "q"}).Mission
	if again == first || again == "" {
		t.Errorf("a removed mission took the event: %q, then %q", first, again)
	}
	if m := b.local.RememberedMission(first); m != nil {
		t.Error("the removed mission is still found")
	}
}

// TestProjectsAreApart takes a snapshot in one project while another one is being
// opened, which may take long.
func TestProjectsAreApart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	m := b.mission("first")
	opening := b.again()
	slow, err := opening.local.MissionByID(m.ID)
	if err != nil {
		t.Fatal(err)
	}
	open := opening.local.ProjectStores[slow.Project.Dir]
	other := t.TempDir()
	caller := b.caller()
	caller.Cwd = other
	made, err := opening.local.NewMission(context.Background(), missions.NewMissionRequest{Caller: caller, Name: "second", Command: []string{"sh"}})
	if err != nil {
		t.Fatal(err)
	}
	open.Mu.Lock()
	defer open.Mu.Unlock()
	done := make(chan error, 1)
	go func() {
		p, err := opening.local.OpenProject(slow.Project.Dir + "/../" + filepath.Base(filepath.Dir(made.ShadowRepo)))
		if err == nil {
			_, err = opening.local.LoadMission(p, made.ID)
		}
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience.Of(time.Minute)):
		t.Fatal("one project waits for another to be opened")
	}
}
