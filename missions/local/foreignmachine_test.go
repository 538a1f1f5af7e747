package local

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// TestForkFromAnotherMachine: a mission that was made on another machine, and was at
// work there when its home was copied, is forked here with its conversation: at once,
// into the stores of whoever forks it, with the paths of the fork. The fork of it is as
// any other, at the moments that it has inherited too.
func TestForkFromAnotherMachine(t *testing.T) {
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	c.takeTurn("second", "b.txt", "two\n")
	c.hook("UserPromptSubmit", map[string]any{"prompt": "third"})
	source := c.only()
	c.local.Home.Machine = strings.Repeat("a", 32)
	if now := c.only(); len(now.Notes) != 1 || !strings.Contains(now.Notes[0], "belongs to another machine") {
		t.Errorf("noted of it: %q", now.Notes)
	}
	if _, err := c.local.Wait(context.Background(), missions.WaitRequest{Caller: c.caller(), Missions: []string{source.Name}}); kindOf(err) != missions.KindConflict {
		t.Errorf("waiting for it: %v", err)
	}
	t.Chdir(t.TempDir()) // what is written by a relative path is found there
	home := t.TempDir()
	caller := c.caller()
	caller.Env["HOME"] = home
	fork := func(from, name string) *projects.Mission {
		t.Helper()
		made, err := c.local.Fork(context.Background(), missions.ForkRequest{Caller: caller, From: from, Name: name, Timeout: time.Nanosecond})
		if err != nil {
			t.Fatal(err)
		}
		m, err := c.local.MissionByID(made.Missions[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	spoken := func(m *projects.Mission) {
		t.Helper()
		if !strings.HasPrefix(m.Binding.SessionPath, filepath.Join(home, ".claude")) || m.Binding.AgentVars["HOME"] != home {
			t.Errorf("%s has its conversation in %q, HOME %q", m.Name, m.Binding.SessionPath, m.Binding.AgentVars["HOME"])
		}
		text, err := os.ReadFile(m.Binding.SessionPath)
		if err != nil || !strings.Contains(string(text), m.Binding.Workspace+`"`) || strings.Contains(string(text), source.Workspace+`"`) {
			t.Errorf("%s does not name its own workspace alone (%v)", m.Binding.SessionPath, err)
		}
		if names, err := conversations.BindingFiles(m.Project, m.Record); err != nil || len(names) != 1 {
			t.Errorf("%s is bound to %v (%v)", m.Name, names, err)
		}
	}
	f := fork(source.Name, "f")
	spoken(f)
	if want := "and work in " + f.Cwd() + ", a copy of your own."; len(f.Notes) != 1 || !strings.HasSuffix(f.Notes[0].Text, want) {
		t.Errorf("its agent is told %+v, want one that ends with %q", f.Notes, want)
	}
	_, err := c.local.Restore(context.Background(), missions.RestoreRequest{Caller: c.caller(), Moment: source.Name + "@1"})
	if kindOf(err) != missions.KindConflict || !strings.Contains(err.Error(), "belongs to another machine") {
		t.Errorf("restored: %v", err)
	}
	spoken(fork(source.Name+"@1", "g"))
	spoken(fork("f@1", "h"))
	there := c.caller()
	there.Cwd = f.Binding.Workspace
	if _, err := c.local.Restore(context.Background(), missions.RestoreRequest{Caller: there, Moment: "f@1"}); err != nil {
		t.Fatal(err)
	}
	f, err = c.local.MissionByID(f.ID)
	if err != nil {
		t.Fatal(err)
	}
	spoken(f)
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("written where the program happened to be: %v (%v)", left, err)
	}
	c.healthy()
}

// TestRecordOfNoMachine: that a record does not say where its mission is, is said in words.
func TestRecordOfNoMachine(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	m, err := c.local.MissionByID(c.only().ID)
	if err != nil {
		t.Fatal(err)
	}
	_, err = conversations.ForeignBinding(m.Project, m.Tip.ID) // files alone
	if kindOf(err) != missions.KindDamaged || !strings.HasSuffix(err.Error(), "names no machine") {
		t.Errorf("a record without one: %v", err)
	}
}
