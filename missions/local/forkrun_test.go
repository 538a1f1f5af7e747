package local

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// TestForksForPrompts makes forks for prompts, each Count times, and launches one without
// a terminal on the prompt that it was made for.
func TestForksForPrompts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "one\n")
	source, err := b.local.NewMission(context.Background(), missions.NewMissionRequest{Caller: b.caller(), Name: "work", Command: []string{"claude", "--model", "old"}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.local.Fork(context.Background(), missions.ForkRequest{
		Caller: b.caller(), From: "work", Name: "t", Count: 2, Prompts: []string{"the first", "the second"}, Model: "new", Headless: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, m := range r.Missions {
		names = append(names, m.Name)
		if want := []string{"claude", "--model", "new"}; !slices.Equal(m.Command, want) {
			t.Errorf("%s has the command %q", m.Name, m.Command)
		}
	}
	if want := []string{"t-1", "t-2", "t-3", "t-4"}; !slices.Equal(names, want) {
		t.Errorf("the forks are %q", names)
	}
	for range 2 { // the first launch ended without a report: its prompt was not taken
		launch, err := b.local.Launch(context.Background(), missions.LaunchRequest{Caller: b.caller(), Mission: "t-3", Resume: true, Headless: true, KeeperPID: os.Getpid()})
		if err != nil {
			t.Fatal(err)
		}
		if words := strings.Join(launch.Argv, " "); !strings.Contains(words, " --print") || !strings.HasSuffix(words, " -- the second") || launch.Output == "" {
			t.Errorf("t-3 is launched by %q, and prints to %q", launch.Argv, launch.Output)
		}
	}
	_, err = b.local.Launch(context.Background(), missions.LaunchRequest{Caller: b.caller(), Mission: source.ID, Resume: true, Headless: true, KeeperPID: os.Getpid()})
	b.fails("no prompt waits", err, missions.KindUsage)
}

// TestForkForAnotherAgent: it begins with the files alone, and is looked for before
// anything is made.
func TestForkForAnotherAgent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "one\n")
	b.mission("work")
	caller := b.caller()
	bin := filepath.Join(b.dir, "bin")
	caller.Env["PATH"] = bin
	ask := missions.ForkRequest{Caller: caller, From: "work", Name: "t", Prompts: []string{"go"}, Agent: "codex", Headless: true}
	_, err := b.local.Fork(context.Background(), ask)
	b.fails("codex is not there", err, missions.KindFailed)
	b.put(filepath.Join(bin, "codex"), "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(bin, "codex"), 0o755); err != nil {
		t.Fatal(err)
	}
	r, err := b.local.Fork(context.Background(), ask)
	if err != nil {
		t.Fatal(err)
	}
	if m := r.Missions[0]; m.Agent != "codex" || !slices.Equal(m.Command, []string{"codex"}) || m.SessionID != "" {
		t.Errorf("%s has the agent %s, the command %q and the session %q", m.Name, m.Agent, m.Command, m.SessionID)
	}
	if notes := strings.Join(r.Notes, "\n"); !strings.Contains(notes, "codex begins with the files alone") {
		t.Errorf("it says %q", notes)
	}
	ask.Agent = "vim"
	_, err = b.local.Fork(context.Background(), ask)
	b.fails("no such agent", err, missions.KindUsage)
	for what, r := range map[string]missions.ForkRequest{
		"an empty prompt":  {Prompts: []string{"a", ""}},
		"a prompt twice":   {Prompts: []string{"a"}, Prompt: "b"},
		"one workspace":    {Prompts: []string{"a", "b"}, Agent: "codex", Workspace: b.dir + "-forks"},
		"more than 100":    {Prompts: []string{"a", "b"}, Count: 51},
		"any command":      {Prompts: []string{"a"}, Headless: true},
		"any one's model":  {Model: "x"},
		"a prompt for any": {Prompts: []string{"a"}},
	} {
		r.Caller, r.From = caller, "work"
		_, err := b.local.Fork(context.Background(), r)
		b.fails(what, err, missions.KindUsage)
	}
	b.healthy()
}
