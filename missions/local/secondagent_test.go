package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// besides is a second agent that its user has started by hand, in another process than
// the mission's, on the conversation that k is in.
func besides(k *talker) *talker {
	second := *k
	second.mission, second.turn = "", k.turn+20
	second.vars = map[string]string{"CLAUDE_PID": fmt.Sprint(os.Getppid())}
	return &second
}

// hasSnapshot reports whether a file is in the newest snapshot of the mission.
func (k *keptAgent) hasSnapshot(file, content string) bool {
	k.Helper()
	return k.cat("", file) == content
}

// TestSecondAgent: another process that speaks in a conversation of a kept mission is a
// second agent, and marks it diverged: its files are kept, but its turns are not the
// mission's, its end is not the mission's, and a restore leaves it alone.
func TestSecondAgent(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	k.vars = map[string]string{"CLAUDE_PID": fmt.Sprint(k.agent.Process.Pid)}
	k.takeTurn("third", "a.txt", "three\n")
	second := besides(k.talker)
	first, session := k.only(), k.session
	same := func(when string, diverged bool) {
		t.Helper()
		m := k.only()
		if (len(m.Notes) > 0) != diverged {
			t.Errorf("%s: notes %q", when, m.Notes)
		}
		if m.ID != first.ID || m.State != missions.StateIdle || m.Turn != first.Turn || m.PID != first.PID || m.SessionID != k.session || m.Diverged != diverged {
			t.Errorf("%s: %+v", when, m)
		}
	}
	second.hook("SessionStart", map[string]any{"source": "resume"})
	same("a second agent has opened its session", false)
	second.takeTurn("beside", "b.txt", "beside\n")
	same("a second agent speaks in its session", true)
	if !k.hasSnapshot("b.txt", "beside\n") {
		t.Error("what the second agent has written is in no snapshot")
	}
	second.hook("UserPromptSubmit", map[string]any{"prompt": "more", "prompt_id": "beside"})
	same("the second agent is in a turn", true)

	done := k.keeps()
	if _, err := k.local.Restore(context.Background(), missions.RestoreRequest{Caller: k.caller(), Moment: "live@1", All: true}); err != nil {
		t.Fatal(err)
	}
	<-done
	k.switchTo(k.state().Stored.Session)
	k.vars["CLAUDE_PID"] = fmt.Sprint(k.agent.Process.Pid)
	first = k.only()
	if k.session == session || first.PID != k.agent.Process.Pid {
		t.Fatalf("restored: %+v", first)
	}
	second.takeTurn("in the session that was left", "b.txt", "left\n")
	same("a second agent speaks in the session that was left", true)
	k.takeTurn("fourth", "a.txt", "four\n")
	first.Turn++
	same("its own agent speaks", false)
	second.switchTo(k.session)
	second.hook("UserPromptSubmit", map[string]any{"prompt": "more", "prompt_id": "again"})
	same("a second agent speaks in its session again", true)
	second.hook("SessionEnd", map[string]any{"reason": "other"})
	same("a second agent has ended", false)
	k.healthy()
}

// TestSecondAgentTakesOver: a second agent that lives on is the mission's, once the
// mission's own has ended.
func TestSecondAgentTakesOver(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	second := besides(k.talker)
	second.hook("SessionStart", map[string]any{"source": "resume"})
	second.takeTurn("beside", "b.txt", "beside\n")
	if err := k.agent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	k.end()
	if m := k.only(); m.State != missions.StateClosed || m.Turn != 2 {
		t.Fatalf("after its end: %+v", m)
	}
	second.takeTurn("alone", "b.txt", "alone\n")
	if m := k.only(); m.State != missions.StateIdle || m.Turn != 3 || m.PID != os.Getppid() || m.Diverged {
		t.Errorf("when the second agent is alone: %+v", m)
	}
	second.hook("SessionEnd", map[string]any{"reason": "other"})
	if m := k.only(); m.State != missions.StateClosed {
		t.Errorf("when the second agent has ended: %+v", m)
	}
	k.healthy()
}

// TestAgentBeneathItsCommand: where a keeper's command is a script, its agent is the one
// that speaks for the mission first, and another on the same conversation, which that
// agent starts itself, is none.
func TestAgentBeneathItsCommand(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	k.vars = map[string]string{"CLAUDE_PID": fmt.Sprint(os.Getppid())}
	k.takeTurn("third", "a.txt", "three\n")
	if m := k.only(); m.Turn != 3 || m.PID != os.Getppid() || m.Diverged {
		t.Errorf("an agent beneath its command: %+v", m)
	}
	inner := *k.talker
	inner.turn, inner.vars = k.turn+20, map[string]string{"CLAUDE_PID": fmt.Sprint(os.Getpid())}
	inner.takeTurn("inner", "b.txt", "inner\n")
	if !k.only().Diverged {
		t.Error("nobody says that another agent speaks on its conversation")
	}
	inner.hook("SessionEnd", map[string]any{"reason": "other"})
	if m := k.only(); m.Turn != 3 || m.PID != os.Getppid() || m.Diverged || m.State != missions.StateIdle {
		t.Errorf("an agent in the agent, on its conversation: %+v", m)
	}
	k.healthy()
}

// TestReturn: a mission whose conversation was restored goes on in the one before, if
// its user does, and has counted then what is in that.
func TestReturn(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]func(c *talker){
		"in the agent that never switched": func(*talker) {},
		"in another process": func(c *talker) {
			c.hook("SessionEnd", map[string]any{"reason": "other"})
			c.vars = map[string]string{"CLAUDE_PID": fmt.Sprint(os.Getppid())}
			c.hook("SessionStart", map[string]any{"source": "resume"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := startTalker(t)
			c.vars = map[string]string{"CLAUDE_PID": fmt.Sprint(os.Getpid())}
			c.hook("SessionStart", map[string]any{"source": "startup"})
			c.costly(1)
			c.costly(2)
			first := c.now()
			if _, err := c.local.Restore(context.Background(), missions.RestoreRequest{Caller: c.caller(), Moment: first.Name + "@1"}); err != nil {
				t.Fatal(err)
			}
			restored := c.only()
			if restored.SessionID == c.session {
				t.Fatalf("restored: %+v", restored)
			}
			how(c)
			c.costly(3)
			m := c.only()
			if m.ID != first.ID || m.SessionID != c.session || m.Turn != first.Turn+1 || m.State != missions.StateIdle || m.Diverged {
				t.Errorf("gone on in the session before: %+v", m)
			}
			c.tallies("gone on in the session before")
			c.switchTo(restored.SessionID)
			c.costly(4)
			if m := c.only(); m.SessionID != c.session || m.Turn != first.Turn+2 || m.Diverged {
				t.Errorf("gone on in the restored session after all: %+v", m)
			}
			c.tallies("gone on in the restored session after all")
			c.healthy()
		})
	}
}

// TestReturnAfterClear: who goes back with /resume to what /clear has left behind goes
// on with the whole of what was counted; with a restore between, with what was then.
func TestReturnAfterClear(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.vars = map[string]string{"CLAUDE_PID": fmt.Sprint(os.Getpid())}
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.costly(1)
	first := c.session
	anew := func() {
		c.session = strings.Replace(otherSession, "2", fmt.Sprint(c.turn), 1)
		c.transcript = filepath.Join(filepath.Dir(c.transcript), c.session+".jsonl")
		c.hook("SessionStart", map[string]any{"source": "clear"})
	}
	back := func(session string) {
		c.switchTo(session)
		c.hook("SessionStart", map[string]any{"source": "resume"})
	}
	talk := func(when string, prompts, resets int) {
		t.Helper()
		if m := c.only(); m.SessionID != c.session || m.Tally == nil || m.Tally.Prompts != prompts || m.Tally.Resets != resets {
			t.Errorf("%s: %+v, %+v", when, m, m.Tally)
		}
	}
	anew()
	c.costly(2)
	cleared := c.session
	talk("after /clear", 2, 1)
	back(first)
	c.costly(3)
	talk("after /resume", 3, 1)
	back(cleared)
	c.costly(4)
	talk("back again", 4, 1)
	if _, err := c.local.Restore(context.Background(), missions.RestoreRequest{Caller: c.caller(), Moment: c.only().Name + "@1"}); err != nil {
		t.Fatal(err)
	}
	back(cleared)
	c.costly(5)
	talk("back from a restore", 5, 1)
	c.healthy()
}

// TestLateReturn: a hook that outlives an agent which a restore has ended leads the
// mission nowhere.
func TestLateReturn(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	former, agent := *k.talker, k.agent.Process.Pid
	done := k.keeps()
	if _, err := k.local.Restore(context.Background(), missions.RestoreRequest{Caller: k.caller(), Moment: "live@1"}); err != nil {
		t.Fatal(err)
	}
	<-done
	session := k.state().Stored.Session
	for _, pid := range []int{0, agent} {
		former.vars = map[string]string{"CLAUDE_PID": fmt.Sprint(pid)}
		former.hook("SessionStart", map[string]any{"source": "resume"})
		former.hook("UserPromptSubmit", map[string]any{"prompt": "late", "prompt_id": fmt.Sprint("late", pid)})
		if m := k.only(); m.SessionID != session || m.Diverged {
			t.Errorf("after a late hook of process %d: %+v", pid, m)
		}
	}
	// An agent that tells no process is late no more when the one that lives has spoken.
	unknown := map[string]string{"CLAUDE_PID": "0"}
	k.vars, former.vars = unknown, unknown
	former.turn += 20
	k.switchTo(session)
	k.takeTurn("in the restored one", "a.txt", "restored\n")
	former.takeTurn("back in the one before", "a.txt", "back\n")
	if m := k.only(); m.SessionID != former.session || m.State != missions.StateIdle {
		t.Errorf("back in the session before, of an unknown process: %+v", m)
	}
	k.healthy()
}
