package local

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// denied is the reason that a hook's answer gives for denying a tool, "" where
// it lets the tool go on.
func denied(t *testing.T, r missions.HookResult) string {
	t.Helper()
	var said struct {
		Specific struct {
			Decision string `json:"permissionDecision"`
			Reason   string `json:"permissionDecisionReason"`
		} `json:"hookSpecificOutput"`
	}
	if len(r.Output) > 0 {
		if err := json.Unmarshal(r.Output, &said); err != nil {
			t.Fatalf("%s: %v", r.Output, err)
		}
	}
	if (said.Specific.Decision == "deny") != (said.Specific.Reason != "") {
		t.Fatalf("the answer is %s", r.Output)
	}
	return said.Specific.Reason
}

// talkerOf speaks for the agent of a fork.
func talkerOf(c *talker, fork missions.Mission) *talker {
	bench := *c.testBench
	bench.dir = fork.Workspace
	return &talker{testBench: &bench, session: fork.SessionID, transcript: fork.SessionPath, mission: fork.ID}
}

// TestGuard keeps the file tools of a fork, and of a fork of that, out of the
// workspaces that they come from, and nothing else out of anywhere.
func TestGuard(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "zero\n")
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("please write the file", "a.txt", "one\n")
	forkOf := func(from, name string) missions.Mission {
		t.Helper()
		r, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: from, Name: name})
		if err != nil {
			t.Fatal(err)
		}
		return r.Missions[0]
	}
	fork := forkOf("", "twin")
	second := forkOf("twin", "third")
	elsewhere := t.TempDir()
	links := map[string]string{
		filepath.Join(fork.Workspace, "out"): b.dir, filepath.Join(fork.Workspace, "new.txt"): filepath.Join(b.dir, "new.txt"),
		filepath.Join(elsewhere, "back"): b.dir, filepath.Join(b.dir, "away"): elsewhere, filepath.Join(elsewhere, "loop"): filepath.Join(elsewhere, "loop"),
	}
	for name, target := range links {
		if err := os.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
	}
	own, third := talkerOf(c, fork), talkerOf(c, second)
	n := 0
	try := func(c *talker, tool, key, path string) string {
		t.Helper()
		n++
		return denied(t, c.hook("PreToolUse", map[string]any{"tool_name": tool, "tool_use_id": "toolu_g" + missions.Itoa(n), "tool_input": map[string]any{key: path}}))
	}
	use := func(rel string) string { return "use " + filepath.Join(fork.Workspace, rel) }
	for _, tt := range []struct{ tool, key, path, says string }{
		{"Write", "file_path", filepath.Join(b.dir, "a.txt"), use("a.txt")},
		{"Write", "file_path", filepath.Join(b.dir, "sub/new.txt"), use("sub/new.txt")},
		{"Edit", "file_path", filepath.Join(b.dir, "a.txt"), use("a.txt")},
		{"NotebookEdit", "notebook_path", filepath.Join(b.dir, "a.ipynb"), use("a.ipynb")},
		{"Write", "file_path", b.dir + "/./sub/../a.txt", use("a.txt")},
		{"Write", "file_path", filepath.Join(elsewhere, "back", "a.txt"), use("a.txt")},
		{"Write", "file_path", filepath.Join(fork.Workspace, "out", "a.txt"), "a symbolic link leads there"},
		{"Write", "file_path", filepath.Join(fork.Workspace, "new.txt"), "a symbolic link leads there"},
		{"Write", "file_path", filepath.Join(fork.Workspace, "a.txt"), ""},
		{"Write", "file_path", "a.txt", ""},
		{"Write", "file_path", b.dir + "-other/a.txt", ""},
		{"Write", "file_path", filepath.Join(elsewhere, "a.txt"), ""},
		{"Write", "file_path", filepath.Join(elsewhere, "loop", "a.txt"), ""},
		{"Write", "file_path", filepath.Join(b.dir, "away", "a.txt"), ""},
		{"Write", "file_path", "", ""},
		{"Read", "file_path", filepath.Join(b.dir, "a.txt"), ""},
		{"Grep", "path", b.dir, ""},
		{"Bash", "command", "rm -r " + b.dir, ""},
		{"mcp__files__write", "file_path", filepath.Join(b.dir, "a.txt"), ""},
	} {
		got := try(own, tt.tool, tt.key, tt.path)
		if (tt.says == "") != (got == "") || !strings.Contains(got, tt.says) {
			t.Errorf("%s of %s: %q, want %q", tt.tool, tt.path, got, tt.says)
		}
	}
	// A fork of a fork is kept out of both, and its sources write where they like.
	for _, dir := range []string{b.dir, fork.Workspace} {
		if got := try(third, "Write", "file_path", filepath.Join(dir, "a.txt")); !strings.Contains(got, "use "+filepath.Join(second.Workspace, "a.txt")) {
			t.Errorf("a fork's fork in %s: %q", dir, got)
		}
		if got := try(c, "Write", "file_path", filepath.Join(dir, "a.txt")); got != "" {
			t.Errorf("the source in %s: %q", dir, got)
		}
	}
	if got := try(own, "Write", "file_path", filepath.Join(second.Workspace, "a.txt")); got != "" {
		t.Errorf("a fork in its own fork: %q", got)
	}
	// Switched off while the daemon runs: the next tool goes by it.
	if err := os.WriteFile(b.local.Home.ConfigFile(), []byte("fork:\n  guard: false\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := try(own, "Write", "file_path", filepath.Join(b.dir, "a.txt")); got != "" {
		t.Errorf("switched off: %q", got)
	}
}
