package claude

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// TestEventCommand: /checkpoint is Umbra's where its file makes it so, and a
// prompt like any other where somebody else's does.
func TestEventCommand(t *testing.T) {
	home, cwd := t.TempDir(), t.TempDir()
	env := sessions.Environ{Home: home}
	event := func(prompt string) sessions.Event {
		t.Helper()
		payload := `{"hook_event_name":"UserPromptSubmit","session_id":"11111111-2222-4333-8444-555555555555","cwd":` +
			string(jsontext.Quote(cwd)) + `,"prompt":` + string(jsontext.Quote(prompt)) + `}`
		e, err := Adapter{}.Event(env, "", []byte(payload))
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	write := func(dir, content string) {
		t.Helper()
		path := commandPath(dir, commandName)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if e := event("/checkpoint list"); e.Kind != sessions.KindPrompt {
		t.Errorf("without a file: %+v", e)
	}
	user := Adapter{}.HookExtras(env, sessions.ScopeUser, cwd)
	if len(user) != 2 || user[0].Path != commandPath(filepath.Join(home, ".claude"), commandName) || !user[0].Own(user[0].Content) || user[0].Own([]byte("mine")) {
		t.Fatalf("%+v", user)
	}
	if local := (Adapter{}).HookExtras(env, sessions.ScopeProject, cwd); local != nil {
		t.Errorf("the local settings come with %+v", local)
	}
	write(filepath.Join(home, ".claude"), string(user[0].Content))
	for prompt, want := range map[string]string{
		"/checkpoint": "", "/checkpoint ": "", " /checkpoint list -n 3\n": "list -n 3", "/checkpoint\tgood": "good",
	} {
		if e := event(prompt); e.Kind != sessions.KindCommand || e.Command != want {
			t.Errorf("%q: %+v", prompt, e)
		}
	}
	for _, prompt := range []string{"/checkpoints", "/rewind", "say /checkpoint", "checkpoint", "/umbrage"} {
		if e := event(prompt); e.Kind != sessions.KindPrompt || e.Prompt != prompt {
			t.Errorf("%q: %+v", prompt, e)
		}
	}
	if e := event("/umbra fork"); e.Kind != sessions.KindPrompt {
		t.Errorf("without a file: %+v", e)
	}
	if err := os.WriteFile(user[1].Path, user[1].Content, 0o600); err != nil {
		t.Fatal(err)
	}
	for prompt, want := range map[string]string{"/umbra": "/umbra", "/umbra fork with a map": "/umbra fork with a map", "/umbra\texit": "/umbra exit"} {
		if e := event(prompt); e.Kind != sessions.KindCommand || e.Command != want {
			t.Errorf("%q: %+v", prompt, e)
		}
	}
	write(filepath.Join(home, ".claude"), strings.Replace(string(user[0].Content), "Say so", "Dis-le", 1))
	if e := event("/checkpoint"); e.Kind != sessions.KindCommand {
		t.Errorf("with a file in the user's words: %+v", e)
	}
	write(filepath.Join(cwd, ".claude"), "---\n---\nRun our checkpoints.")
	if e := event("/checkpoint"); e.Kind != sessions.KindPrompt {
		t.Errorf("with a command of the project's: %+v", e)
	}
	shared := Adapter{}.HookExtras(env, sessions.ScopeShared, cwd)
	if len(shared) != 2 || shared[0].Path != commandPath(filepath.Join(cwd, ".claude"), commandName) {
		t.Errorf("shared: %+v", shared)
	}
}

// TestCommandOfAProject: Claude Code finds a project's command from below it too, up
// to the top of the repository, and in a linked worktree that of the repository.
func TestCommandOfAProject(t *testing.T) {
	home := t.TempDir()
	write := func(content string, path ...string) {
		t.Helper()
		name := filepath.Join(append([]string{home}, path...)...)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const theirs = "Make a checkpoint of our deployment.\n"
	for _, dir := range []string{"plain/a/b", "repo/a/b", "repo/lib/b", "beside/a", "over/inner/a", "other"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(commandFile, ".claude", "commands", "checkpoint.md")
	write(theirs, "plain", ".claude", "commands", "checkpoint.md")
	write("ref: refs/heads/main\n", "repo", ".git", "HEAD")
	write(theirs, "repo", ".claude", "commands", "checkpoint.md")
	write("gitdir: "+filepath.Join(home, "repo/.git/worktrees/beside")+"\n", "beside", ".git")
	write("gitdir: "+filepath.Join(home, "repo/.git/worktrees/has")+"\n", "has", ".git")
	write("Deploy.\n", "has", ".claude", "commands", "deploy.md")
	write("gitdir: ../repo/.git/modules/lib\n", "repo", "lib", ".git")
	write("gitdir: ../repo/.git/worktrees/relative\n", "relative", ".git") // worktree.useRelativePaths
	write("gitdir: ../.git/worktrees/inside\n", "repo", "inside", ".git")
	write("ref: refs/heads/main\n", "odd", ".git", "HEAD")
	write("no directory", "odd", ".claude")
	write("no directory", "odd", "a", ".claude", "commands")
	write(theirs, "over", ".claude", "commands", "checkpoint.md")
	write("ref: refs/heads/main\n", "over", "inner", ".git", "HEAD")
	for cwd, want := range map[string]sessions.Kind{
		"plain": sessions.KindPrompt, "plain/a/b": sessions.KindPrompt, "repo": sessions.KindPrompt, "repo/a/b": sessions.KindPrompt,
		"beside/a": sessions.KindPrompt, "has": sessions.KindCommand, "repo/lib/b": sessions.KindCommand, "over/inner/a": sessions.KindCommand,
		"relative": sessions.KindPrompt, "repo/inside": sessions.KindPrompt,
		"odd": sessions.KindCommand, "odd/a": sessions.KindCommand,
		"other": sessions.KindCommand, "": sessions.KindCommand, "gone/a": sessions.KindCommand,
	} {
		payload := `{"hook_event_name":"UserPromptSubmit","session_id":"11111111-2222-4333-8444-555555555555","prompt":"/checkpoint prod","cwd":` +
			string(jsontext.Quote(filepath.Join(home, cwd))) + `}`
		e, err := Adapter{}.Event(sessions.Environ{Home: home}, "", []byte(payload))
		if err != nil || e.Kind != want {
			t.Errorf("in %q it is %v, want %v: %v", cwd, e.Kind, want, err)
		}
	}
}

func TestReplyToCommand(t *testing.T) {
	got := string(Adapter{}.Reply(sessions.Event{Kind: sessions.KindCommand}, sessions.Answer{Block: "a\n  b"}))
	if want := `{"decision":"block","reason":"a\n  b"}` + "\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestStartSaysWhatCanBeTyped: at a session's start it is known whether /umbra can be typed.
func TestStartSaysWhatCanBeTyped(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		content string
		want    bool
	}{"installed": {sideCommandFile, true}, "their own": {"Deploy.\n", false}, "none": {"", false}} {
		home := t.TempDir()
		if c.content != "" {
			dir := filepath.Join(home, ".claude", "commands")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "umbra.md"), []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for event, want := range map[string]bool{"SessionStart": c.want, "Stop": false} {
			payload := `{"hook_event_name":"` + event + `","session_id":"11111111-2222-4333-8444-555555555555","source":"resume","cwd":` + string(jsontext.Quote(home)) + `}`
			e, err := Adapter{}.Event(sessions.Environ{Home: home}, "", []byte(payload))
			if err != nil || (e.Command == sessions.SideCommand) != want {
				t.Errorf("%s, %s: %q, want it %t: %v", name, event, e.Command, want, err)
			}
		}
	}
}
