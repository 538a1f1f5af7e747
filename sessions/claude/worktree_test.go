package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

// installed makes a program of that version, as npm or its own installer does.
func installed(t *testing.T, version string, npm bool) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "versions", version)
	if npm {
		file = filepath.Join(dir, "claude-code", "bin", "claude.exe")
	}
	link := filepath.Join(dir, "claude")
	for _, err := range []error{
		os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, nil, 0o755), os.Symlink(file, link),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if npm {
		about := fmt.Sprintf(`{"name":"@anthropic-ai/claude-code","version":%q}`, version)
		if err := os.WriteFile(filepath.Join(dir, "claude-code", "package.json"), []byte(about), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return link
}

// TestWorktreeHooksByVersion: 2.0 reads nothing of settings that name an event it does not
// know, so the hooks for worktrees are for versions that are known to have them.
func TestWorktreeHooksByVersion(t *testing.T) {
	t.Parallel()
	for version, has := range map[string]bool{"2.0.77": false, "2.1.20": false, "2.1.197": true, "2.1.332": true, "2.2.0": true, "3.0.1": true} {
		for _, npm := range []bool{true, false} {
			out, err := Worktrees{}.Install([]byte("{}"), ourHook, installed(t, version, npm))
			if err != nil || bytes.Contains(out, []byte(worktreeCreate)) != has || bytes.Contains(out, []byte(worktreeRemove)) != has {
				t.Errorf("%s, npm %t: %v %s", version, npm, err, out)
			}
		}
	}
	for _, program := range []string{"", "/nowhere/claude", os.Args[0]} {
		if out, err := (Worktrees{}).Install([]byte("{}"), ourHook, program); err != nil || bytes.Contains(out, []byte(worktreeCreate)) {
			t.Errorf("%q: %v %s", program, err, out)
		}
	}
}

// TestWorktreeHooksRoundTrip: they go in beside the others, once, and out again to the byte;
// who has hooks of its own that make worktrees keeps those alone.
func TestWorktreeHooksRoundTrip(t *testing.T) {
	t.Parallel()
	program := installed(t, "2.1.332", true)
	for _, in := range settingsCases {
		out, err := Worktrees{}.Install([]byte(in), ourHook, program)
		if err != nil {
			t.Fatalf("%q: %v", in, err)
		}
		again, err := Worktrees{}.Install(out, ourHook, program)
		if err != nil || !bytes.Equal(again, out) {
			t.Errorf("twice: %v\n%s\n%s", err, out, again)
		}
		if commands, missing, err := (Adapter{}).HookCommands(out); err != nil || len(missing) > 0 || len(commands) == 0 || commands[0] != ourHook {
			t.Errorf("%q, %q, %v", commands, missing, err)
		}
		moved, err := Worktrees{}.Install(out, "'/opt/my bin/umbra' hook claude || exit 0", program)
		if err != nil || bytes.Contains(moved, []byte("go/bin")) {
			t.Errorf("another umbra's: %v %s", err, moved)
		}
		for _, with := range [][]byte{out, moved} {
			if back, remove, err := (Adapter{}).UninstallHooks(with); err != nil || remove || string(back) != in {
				t.Errorf("%q came back as %q, %t, %v", in, back, remove, err)
			}
		}
	}
	own := []byte(`{"hooks":{"WorktreeCreate":[{"hooks":[{"type":"command","command":"mine"}]}]}}`)
	out, err := Worktrees{}.Install(own, ourHook, program)
	if err != nil || strings.Count(string(out), worktreeCreate) != 1 || bytes.Contains(out, []byte(plainWorktree[4:20])) {
		t.Errorf("beside its user's own: %v %s", err, out)
	}
	cmd, err := Adapter{}.Launch(sessions.Launch{
		Command: []string{"claude"}, Hooks: sessions.LaunchHooks{Command: ourHook, Program: program}, Dir: "/w", Env: sessions.Environ{Home: "/h"},
		ReadFile: func(name string) ([]byte, error) {
			if name == "/h/.claude/settings.json" {
				return own, nil
			}
			return nil, os.ErrNotExist
		},
	})
	if err != nil || strings.Contains(strings.Join(cmd.Argv, " "), worktreeCreate) {
		t.Errorf("a launch beside its user's own: %v %q", err, cmd.Argv)
	}
}

// TestWorktreeAsked reads what the client asks for, and no name that is a way out.
func TestWorktreeAsked(t *testing.T) {
	t.Parallel()
	create := `{"session_id":"s","cwd":"/r","hook_event_name":"WorktreeCreate","name":%q}`
	for name, good := range map[string]bool{
		"feat1": true, "agent-afb01a83d87fabc2e": true, "me/fix_1.2": true, "snug-noodling-quail": true, strings.Repeat("n", 64): true,
		"": false, "..": false, "a/../b": false, "/a": false, "a/": false, "a b": false, strings.Repeat("n", 65): false,
	} {
		asked, ok := Worktrees{}.Asked(fmt.Appendf(nil, create, name))
		if ok != good || ok && (asked.Name != name || asked.Cwd != "/r" || asked.Session != "s") {
			t.Errorf("%q: %+v %t", name, asked, ok)
		}
	}
	for payload, remove := range map[string]string{
		`{"cwd":"/t/x","hook_event_name":"WorktreeRemove","worktree_path":"/t/x"}`:          "/t/x",
		`{"cwd":"/t/x","hook_event_name":"WorktreeRemove","worktree_path":"x"}`:             "",
		`{"cwd":"/t/x","hook_event_name":"PreToolUse","name":"x"}`:                          "",
		`{"cwd":"/t/x","hook_event_name":"WorktreeCreate","name":"x","cursor_version":"1"}`: "",
		`no`: "",
	} {
		if asked, ok := (Worktrees{}).Asked([]byte(payload)); ok != (remove != "") || asked.Remove != remove && ok {
			t.Errorf("%s: %+v %t", payload, asked, ok)
		}
	}
}

// TestWorktreeWithoutUmbra: a program that is gone is no reason for the client to have no
// worktree, and none that it is told to have been removed.
func TestWorktreeWithoutUmbra(t *testing.T) {
	t.Parallel()
	repo := filepath.Join(t.TempDir(), "it's a repo")
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=T", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"}, args...)...)
		cmd.Dir = repo
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	if err := os.MkdirAll(filepath.Join(repo, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "first")
	run := func(event, payload string) (string, error) {
		t.Helper()
		cmd := exec.Command("sh", "-c", commandOf(t, event, "'/nowhere/umbra' hook claude || exit 0"))
		cmd.Dir, cmd.Stdin = filepath.Join(repo, "sub"), strings.NewReader(payload)
		out, err := cmd.Output()
		return strings.TrimSpace(string(out)), err
	}
	payload := `{"session_id":"s","transcript_path":"/p","cwd":"` + repo + `/sub","hook_event_name":"WorktreeCreate","name":"me/fix","prompt_id":"p"}`
	want := filepath.Join(repo, ".claude", "worktrees", "me+fix")
	for range 2 { // the same name has the same place
		got, err := run(worktreeCreate, payload)
		if err != nil || got != want {
			t.Fatalf("%q, %v, want %q", got, err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(want, ".git")); err != nil {
		t.Error(err)
	}
	if got, err := run(worktreeRemove, payload); err == nil {
		t.Errorf("a removal ends well, and says %q", got)
	}
}

// commandOf is the command of an event's hook, as settings have it.
func commandOf(t *testing.T, event, hookCommand string) string {
	t.Helper()
	out, err := Worktrees{}.Install([]byte("{}"), hookCommand, installed(t, "2.1.332", true))
	var settings struct {
		Hooks map[string][]struct{ Hooks []struct{ Command string } }
	}
	if err == nil {
		err = json.Unmarshal(out, &settings)
	}
	if err != nil || len(settings.Hooks[event]) != 1 {
		t.Fatalf("%v %s", err, out)
	}
	return settings.Hooks[event][0].Hooks[0].Command
}
