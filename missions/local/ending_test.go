package local

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// ending is a mission of Claude Code under a keeper, launched with a prompt.
type ending struct {
	*talker
	id     string
	launch missions.Launch
}

func newEnding(t *testing.T, prompt string) *ending {
	c := startTalker(t)
	m, err := c.local.NewMission(context.Background(), missions.NewMissionRequest{Caller: c.caller(), Name: "work", Agent: "claude", Launching: true})
	if err != nil {
		t.Fatal(err)
	}
	e := &ending{talker: c, id: m.ID}
	e.mission = m.ID
	e.starts(prompt)
	return e
}

// starts launches the agent.
func (e *ending) starts(prompt string) {
	e.Helper()
	caller := e.caller()
	caller.Binary = "/usr/bin/umbra"
	var err error
	if e.launch, err = e.local.Launch(context.Background(), missions.LaunchRequest{Caller: caller, Mission: e.id, Prompt: prompt, KeeperPID: os.Getpid()}); err != nil {
		e.Fatal(err)
	}
}

// sends reports whether the launch's command has a prompt.
func (e *ending) sends(prompt string) bool { return slices.Contains(e.launch.Argv, prompt) }

// ends tells of the agent's end, and returns what its user is told.
func (e *ending) ends(code int, failed string) string {
	e.Helper()
	r, err := e.local.Keep(context.Background(), missions.KeepRequest{Mission: e.id, Launch: e.launch.ID, KeeperPID: os.Getpid(), Ended: true, ExitCode: code, Failed: failed})
	if err != nil {
		e.Fatal(err)
	}
	return r.Summary
}

func (e *ending) stored() *projects.Mission {
	e.Helper()
	m, err := e.local.MissionByID(e.id)
	if err != nil {
		e.Fatal(err)
	}
	return m
}

// losesKeeper has the agent's keeper, and the agent with it, killed.
func (e *ending) losesKeeper() {
	e.Helper()
	keeper := exec.Command("sleep", "6000")
	if err := keeper.Start(); err != nil {
		e.Fatal(err)
	}
	pid := keeper.Process.Pid
	_, err := e.local.Keep(context.Background(), missions.KeepRequest{Mission: e.id, Launch: e.launch.ID, KeeperPID: pid, AgentPID: pid})
	keeper.Process.Kill()
	keeper.Wait()
	if err != nil {
		e.Fatal(err)
	}
}

// TestPassingPrompt: the prompt of one launch alone does not stay when the agent has not taken
// it, and the prompt that is kept does.
func TestPassingPrompt(t *testing.T) {
	t.Parallel()
	for _, kept := range []string{"", "fix the login"} {
		e := newEnding(t, kept)
		e.ends(1, "")
		request := missions.LaunchRequest{Caller: e.caller(), Mission: e.id, Resume: true, Headless: true, Prompt: "only now", Passing: true, KeeperPID: os.Getpid()}
		var err error
		if e.launch, err = e.local.Launch(context.Background(), request); err != nil {
			t.Fatal(err)
		}
		if !e.sends("only now") {
			t.Errorf("it is launched as %q", e.launch.Argv)
		}
		e.ends(1, "")
		if got := e.stored().WholeFirstPrompt(); got != kept {
			t.Errorf("%q is kept, want %q", got, kept)
		}
	}
}

// TestPromptIsKept: a prompt stays until an agent has taken it, and at each end a line
// says what was kept and what to type.
func TestPromptIsKept(t *testing.T) {
	t.Parallel()
	const prompt = "fix the login"
	for name, c := range map[string]struct {
		run  func(e *ending) string
		says string
		kept bool
	}{
		"not started":   {func(e *ending) string { return e.ends(127, "no such program") }, "was not started, and its prompt is kept", true},
		"ended at once": {func(e *ending) string { return e.ends(1, "") }, "ended with exit code 1 before it took its prompt", true},
		"ended after its start": {func(e *ending) string {
			e.hook("SessionStart", map[string]any{"source": "startup"})
			return e.ends(0, "")
		}, "before it took its prompt", true},
		"ended its session first": {func(e *ending) string {
			e.hook("SessionStart", map[string]any{"source": "startup"})
			e.hook("SessionEnd", map[string]any{"reason": "prompt_input_exit"})
			return e.ends(0, "")
		}, "before it took its prompt", true},
		"its keeper died": {func(e *ending) string {
			e.losesKeeper()
			if err := e.local.CloseLostMission(context.Background(), e.stored()); err != nil {
				t.Fatal(err)
			}
			return ""
		}, "", true},
		"its keeper died behind its session's end": {func(e *ending) string {
			e.hook("SessionEnd", map[string]any{"reason": "other"})
			e.losesKeeper()
			return ""
		}, "", true},
		"its keeper died in a turn": {func(e *ending) string {
			e.hook("SessionStart", map[string]any{"source": "startup"})
			e.hook("UserPromptSubmit", map[string]any{"prompt": prompt})
			e.losesKeeper()
			return ""
		}, "", false},
		"taken": {func(e *ending) string {
			e.hook("SessionStart", map[string]any{"source": "startup"})
			e.takeTurn(prompt, "a.txt", "one\n")
			return e.ends(0, "")
		}, "work: 1 turn is kept; to go on: umbra mission resume work", false},
		"taken without hooks": {func(e *ending) string {
			if _, err := e.local.Keep(context.Background(), missions.KeepRequest{Mission: e.id, Launch: e.launch.ID, KeeperPID: os.Getpid(), AgentPID: os.Getppid()}); err != nil {
				t.Fatal(err)
			}
			e.transcript = e.stored().Binding.SessionPath
			e.say(e.line("user", "u1", "", `"fix the login"`), e.line("assistant", "u2", "u1", `[{"type":"text","text":"done"}]`))
			later := time.Now().Add(time.Second) // a file's clock is coarser than the launch's
			if err := os.Chtimes(e.transcript, later, later); err != nil {
				t.Fatal(err)
			}
			if said := e.only().Problems; len(said) != 1 || !strings.Contains(said[0], "none of the hooks that it was given") {
				t.Errorf("while it runs, its problems are %q", said)
			}
			return e.ends(0, "")
		}, "called none of the hooks", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnding(t, prompt)
			if !e.sends(prompt) {
				t.Fatalf("launched %q", e.launch.Argv)
			}
			if said := c.run(e); !strings.Contains(said, c.says) {
				t.Errorf("its user is told %q, want %q", said, c.says)
			}
			waits := func(note string) bool { return strings.Contains(note, "a prompt that no agent has taken is kept") }
			if slices.ContainsFunc(e.only().Notes, waits) != c.kept {
				t.Errorf("noted of it: %q", e.only().Notes)
			}
			e.starts("")
			if e.sends(prompt) != c.kept {
				t.Errorf("launched again: %q", e.launch.Argv)
			}
			if said := e.ends(0, "no such program"); strings.Contains(said, "its prompt is kept") != c.kept {
				t.Errorf("and it says %q", said)
			}
			e.healthy()
		})
	}
}
