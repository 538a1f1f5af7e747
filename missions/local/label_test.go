package local

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// calls has the agent call a tool, which does something and ends.
func (c *talker) calls(id, name string, input map[string]any, does func()) {
	c.Helper()
	fields := map[string]any{"tool_name": name, "tool_use_id": id, "tool_input": input}
	c.hook("PreToolUse", fields)
	does()
	c.hook("PostToolUse", fields)
}

// TestLabelsNameWhatMadeTheChange: what a snapshot shows is what the calls before it have
// done, and its commit says the turn, its prompt and that.
func TestLabelsNameWhatMadeTheChange(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "zero\n")
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	write := func(id, name, content string) {
		c.calls(id, "Write", map[string]any{"file_path": filepath.Join(c.dir, name)}, func() { c.write(name, content) })
	}
	c.hook("UserPromptSubmit", map[string]any{"prompt": "add\nan audit log", "prompt_id": "p1"})
	write("t1", "a.txt", "one\n")
	c.calls("t2", "Bash", map[string]any{"command": "ls", "description": "List the files"}, func() {})
	c.calls("t3", "Read", map[string]any{"file_path": filepath.Join(c.dir, "a.txt")}, func() {})
	c.calls("t4", "Bash", map[string]any{"command": "echo >b.txt", "description": "Make b.txt"}, func() { c.write("b.txt", "b\n") })
	write("t5", "c.txt", "c\n")
	c.hook("Stop", map[string]any{"prompt_id": "p1", "last_assistant_message": "done"})
	c.write("a.txt", "mine\n")
	c.hook("UserPromptSubmit", map[string]any{"prompt": "again", "prompt_id": "p2"})
	c.hook("Stop", map[string]any{"prompt_id": "p2", "last_assistant_message": "done"})

	list, err := c.local.Log(context.Background(), missions.LogRequest{Caller: c.caller(), Mission: c.only().ID})
	if err != nil {
		t.Fatal(err)
	}
	var labels, prompts []string
	for _, e := range list {
		_, at, _ := strings.Cut(e.Address, "@")
		labels = append(labels, at+" "+e.Label)
		if e.Prompt != "" {
			prompts = append(prompts, at+" "+e.Prompt)
		}
	}
	want := []string{
		"2 turn ended",
		"2.0 between turns · before the prompt",
		"1 Write c.txt · turn ended",
		"1.2 Bash: Make b.txt · before Write c.txt",
		"1.1 Write a.txt · before Bash: List the files",
		"1.0 before the prompt",
	}
	got := strings.Join(labels, "\n")
	if !strings.HasPrefix(got, strings.Join(want, "\n")) {
		t.Errorf("labels:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
	if all := strings.Join(prompts, "|"); all != "2.0 again|1.0 add\nan audit log" {
		t.Errorf("prompts %q", all)
	}
	p := c.project()
	newest, err := gitstore.ParseID(list[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	subjects := map[string]bool{}
	for s, err := range p.SnapshotCache.WalkHistory(p.Store, newest) {
		if err != nil {
			t.Fatal(err)
		}
		subjects[s.Subject] = true
	}
	if !subjects["turn 1: add ⏎ an audit log · Write c.txt · turn ended"] || !subjects["turn 2: again · between turns · before the prompt"] {
		t.Errorf("subjects %v", subjects)
	}
	one, err := c.local.Log(context.Background(), missions.LogRequest{Caller: c.caller(), Mission: c.only().ID, Path: "c.txt"})
	if err != nil || len(one) != 1 || one[0].Prompt != "add\nan audit log" {
		t.Errorf("of one path: %v %+v", err, one)
	}
}
