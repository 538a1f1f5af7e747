package plugin

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/calltest"
)

const claudesHooks = `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"HOME/umbra hook claude || exit 0"}]}]}}`

// session is a hook's world: a home, a repository in which it works, and the agent that
// calls it, whose command line has these words.
func session(t *testing.T, words ...string) (env call.Env, home, repo string) {
	t.Helper()
	b := calltest.New(t, nil)
	home, repo = t.TempDir(), t.TempDir()
	write(t, filepath.Join(repo, ".git", "HEAD"), "")
	agent := exec.Command("/bin/sh", append([]string{"-c", "read x", "claude"}, words...)...)
	stdin, err := agent.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		_ = agent.Wait()
	})
	vars := map[string]string{"HOME": home, "PATH": "/nowhere", "CLAUDE_PID": strconv.Itoa(agent.Process.Pid)}
	b.Env.Getenv = func(name string) string { return vars[name] }
	b.Env.Getwd = func() (string, error) { return filepath.Join(repo, "sub"), nil }
	return b.Env, home, repo
}

// TestHasOtherHooks: hooks of a plugin are doubled by installed ones, wherever the agent
// finds those, and by those of its launch.
func TestHasOtherHooks(t *testing.T) {
	for name, install := range map[string]func(home, repo string) string{
		"the user's":           func(home, _ string) string { return home + "/.claude/settings.json" },
		"the project's":        func(_, repo string) string { return repo + "/.claude/settings.local.json" },
		"the shared":           func(_, repo string) string { return repo + "/.claude/settings.json" },
		"those of where it is": func(_, repo string) string { return repo + "/sub/.claude/settings.json" },
	} {
		env, home, repo := session(t)
		if HasOtherHooks(env, "claude") {
			t.Fatal("hooks are found where there are none")
		}
		write(t, install(home, repo), strings.ReplaceAll(claudesHooks, "HOME", home))
		if HasOtherHooks(env, "claude") {
			t.Errorf("%s hooks call a program that is gone, and count", name)
		}
		write(t, home+"/umbra", "")
		if err := os.Chmod(home+"/umbra", 0o700); err != nil {
			t.Fatal(err)
		}
		if !HasOtherHooks(env, "claude") {
			t.Errorf("%s hooks are not found", name)
		}
		if HasOtherHooks(env, "codex") || HasOtherHooks(env, "nobody") {
			t.Errorf("%s hooks are another agent's", name)
		}
	}
	if env, _, _ := session(t, "--settings", claudesHooks); !HasOtherHooks(env, "claude") {
		t.Error("the launch's hooks are not found")
	}
}

// TestUntrustedHooks: hooks that Codex does not run double nothing.
func TestUntrustedHooks(t *testing.T) {
	env, home, _ := session(t)
	write(t, home+"/.codex/hooks.json", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/b/umbra hook codex || exit 0"}]}]}}`)
	if HasOtherHooks(env, "codex") {
		t.Error("hooks that nobody has trusted count")
	}
}

func TestHasOtherTools(t *testing.T) {
	if env, _, _ := session(t, "--mcp-config", `{"mcpServers":{"umbra":{}}}`); !HasOtherTools(env) {
		t.Error("the launch's tools are not found")
	}
	if env, _, _ := session(t, "--mcp-config", `{"mcpServers":{"mine":{}}}`); HasOtherTools(env) {
		t.Error("the user's server is taken for Umbra's")
	}
	env, home, _ := session(t)
	for name, test := range map[string]struct {
		servers string
		other   bool
	}{
		"another program's":        {`{"mcpServers":{"umbra":{"command":"HOME/other","args":["mcp"]}}}`, false},
		"a program's that is gone": {`{"mcpServers":{"umbra":{"command":"HOME/gone/umbra","args":["mcp"]}}}`, false},
		"the installed one":        {`{"mcpServers":{"umbra":{"command":"HOME/umbra","args":["mcp"]}}}`, true},
	} {
		write(t, home+"/umbra", "")
		write(t, home+"/other", "")
		for _, program := range []string{"/umbra", "/other"} {
			if err := os.Chmod(home+program, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		write(t, home+"/.claude.json", strings.ReplaceAll(test.servers, "HOME", home))
		if got := HasOtherTools(env); got != test.other {
			t.Errorf("%s: other tools %t", name, got)
		}
	}
}
