package hook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/calltest"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/worktrees"
)

// worktreeCall is a hook that is asked for a worktree in a repository; again is what the
// Service's part of it does.
func worktreeCall(t *testing.T, again func(call.Env) int) (b *calltest.Bench, repo string) {
	t.Helper()
	repo = filepath.Join(t.TempDir(), "repo")
	calltest.Must(t, os.MkdirAll(repo, 0o755))
	gitIn(t, repo, "init", "-q", "-b", "main")
	gitIn(t, repo, "commit", "-q", "--allow-empty", "-m", "first")
	b = calltest.New(t, nil)
	b.Env.Environ = os.Environ
	b.Env.Again = again
	asks(b, repo, "feat")
	return b, repo
}

func asks(b *calltest.Bench, dir, name string) {
	b.Env.Args = []string{"hook", "claude"}
	b.Env.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":"11111111-1111-4111-8111-111111111111","cwd":%q,"hook_event_name":"WorktreeCreate","name":%q}`, dir, name))
	b.Stdout.Reset()
}

func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=T", "-c", "user.email=t@t"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func fails(env call.Env) int {
	fmt.Fprintln(env.Stderr, "umbra: no mission is known\n  umbra mission new")
	return 1
}

// TestWorktreeIsAnswered: whatever goes wrong in Umbra, the agent has the worktree that Git
// makes, at once and under the same name again, and umbra status can say why.
func TestWorktreeIsAnswered(t *testing.T) {
	t.Parallel()
	prints := func(text string) func(call.Env) int {
		return func(env call.Env) int { fmt.Fprint(env.Stdout, text); return 0 }
	}
	for name, c := range map[string]struct {
		again func(call.Env) int
		home  func(t *testing.T, dir string)
		args  string
		// unknown: nothing can be noted there.
		unknown bool
	}{
		"no mission":                    {again: fails},
		"no home":                       {again: fails, unknown: true, home: func(*testing.T, string) {}},
		"a home that is a file":         {again: fails, unknown: true, home: func(t *testing.T, dir string) { calltest.Must(t, os.WriteFile(dir, nil, 0o600)) }},
		"a home that others may read":   {again: fails, unknown: true, home: func(t *testing.T, dir string) { calltest.Must(t, os.MkdirAll(dir, 0o755)) }},
		"a fault":                       {again: func(call.Env) int { panic("a fault") }},
		"nothing is said":               {again: prints("")},
		"words":                         {again: prints("it is done\n")},
		"a directory that is not there": {again: prints("/nowhere/at/all\n")},
		"a file":                        {again: prints(os.Args[0] + "\n")},
		"a relative directory":          {again: prints(".\n")},
		"by a plugin":                   {again: fails, args: "--plugin"},
		"records that can't be read": {again: fails, unknown: true, home: func(t *testing.T, dir string) {
			_, err := home.Open(dir)
			calltest.Must(t, err)
			calltest.Must(t, os.WriteFile(filepath.Join(dir, "agents", "worktrees"), nil, 0o600))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, repo := worktreeCall(t, c.again)
			if c.home == nil {
				c.home = func(t *testing.T, dir string) { _, err := home.Open(dir); calltest.Must(t, err) }
			}
			c.home(t, b.Env.Getenv("UMBRA_HOME"))
			want := filepath.Join(repo, ".claude", "worktrees", "feat")
			for range 2 {
				asks(b, repo, "feat")
				if c.args != "" {
					b.Env.Args = append(b.Env.Args, c.args)
				}
				code, _, done := Quick(b.Env)
				lines := strings.Split(strings.TrimSpace(b.Stdout.String()), "\n")
				if code != 0 || !done || lines[len(lines)-1] != want {
					t.Fatalf("code %d, done %t, %q, want %s; %s", code, done, b.Stdout.String(), want, b.Stderr.String())
				}
			}
			if on := gitIn(t, want, "rev-parse", "--abbrev-ref", "HEAD"); on != "worktree-feat" {
				t.Errorf("it is on %s", on)
			}
			list := worktrees.AllPlaces(home.Home{Dir: b.Env.Getenv("UMBRA_HOME")})
			if known := len(list) == 1 && list[0].Dir == want && list[0].Why != ""; known == c.unknown {
				t.Errorf("it is known as %+v", list)
			}
		})
	}
}

// TestWorktreeIsKnown: a name has its place again though nothing of Umbra answers.
func TestWorktreeIsKnown(t *testing.T) {
	t.Parallel()
	b, repo := worktreeCall(t, func(call.Env) int { t.Error("the Service is asked"); return 1 })
	h, err := home.Open(b.Env.Getenv("UMBRA_HOME"))
	calltest.Must(t, err)
	fork := filepath.Join(t.TempDir(), "fork")
	gitIn(t, repo, "worktree", "add", "-q", fork)
	r, err := worktrees.RepositoryAt(repo)
	calltest.Must(t, err)
	calltest.Must(t, r.Note(context.Background(), h, worktrees.Place{Name: "feat", Dir: fork, Mission: "m"}))
	calltest.Must(t, os.MkdirAll(filepath.Join(repo, "sub"), 0o755))
	for _, dir := range []string{repo, filepath.Join(repo, "sub")} {
		asks(b, dir, "feat")
		if code, _, _ := Quick(b.Env); code != 0 || strings.TrimSpace(b.Stdout.String()) != fork {
			t.Errorf("from %s: code %d, %q, want %s", dir, code, b.Stdout.String(), fork)
		}
	}
}

// TestWorktreeIsNotTakenForAnother: where another directory has a worktree's place, or its
// files are gone, the Service is asked.
func TestWorktreeIsNotTakenForAnother(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(t *testing.T, repo, fork string){
		"it is gone": func(t *testing.T, _, fork string) { calltest.Must(t, os.RemoveAll(fork)) },
		"another worktree is there": func(t *testing.T, repo, fork string) {
			calltest.Must(t, os.Rename(fork, fork+" in the trash"))
			gitIn(t, repo, "worktree", "add", "-q", "-f", "-b", "other", fork)
		},
		"it is no worktree any more": func(t *testing.T, _, fork string) { calltest.Must(t, os.Remove(filepath.Join(fork, ".git"))) },
	} {
		asked := false
		b, repo := worktreeCall(t, func(env call.Env) int { asked = true; return fails(env) })
		h, err := home.Open(b.Env.Getenv("UMBRA_HOME"))
		calltest.Must(t, err)
		fork := filepath.Join(t.TempDir(), "fork")
		gitIn(t, repo, "worktree", "add", "-q", fork)
		r, err := worktrees.RepositoryAt(repo)
		calltest.Must(t, err)
		calltest.Must(t, r.Note(context.Background(), h, worktrees.Place{Name: "feat", Dir: fork, Mission: "m"}))
		change(t, repo, fork)
		asks(b, repo, "feat")
		if code, _, _ := Quick(b.Env); code != 0 || !asked || !strings.Contains(b.Stdout.String(), ".claude/worktrees/feat") {
			t.Errorf("%s: code %d, asked %t, %q", what, code, asked, b.Stdout.String())
		}
	}
}

// TestPlainWorktreeBesideLeftovers: what is in the way of a plain worktree stays as it is.
func TestPlainWorktreeBesideLeftovers(t *testing.T) {
	t.Parallel()
	b, repo := worktreeCall(t, fails)
	left := filepath.Join(repo, ".claude", "worktrees", "feat", "left.txt")
	calltest.Must(t, os.MkdirAll(filepath.Dir(left), 0o755))
	calltest.Must(t, os.WriteFile(left, []byte("left\n"), 0o644))
	for range 2 {
		asks(b, repo, "feat")
		code, _, _ := Quick(b.Env)
		if dir := strings.TrimSpace(b.Stdout.String()); code != 0 || dir != filepath.Dir(left)+"~2" || gitIn(t, dir, "rev-parse", "--abbrev-ref", "HEAD") != "worktree-feat" {
			t.Errorf("code %d, %q; %s", code, dir, b.Stderr.String())
		}
	}
	if content, err := os.ReadFile(left); err != nil || string(content) != "left\n" {
		t.Errorf("what was there: %q, %v", content, err)
	}
}

// TestPlainWorktreeKeepsBranches: what is on the branch of the name stays on it, also where
// the worktree was removed by hand.
func TestPlainWorktreeKeepsBranches(t *testing.T) {
	t.Parallel()
	b, repo := worktreeCall(t, fails)
	dir := filepath.Join(repo, ".claude", "worktrees", "feat")
	if code, _, _ := Quick(b.Env); code != 0 {
		t.Fatal(b.Stderr.String())
	}
	gitIn(t, dir, "commit", "-q", "--allow-empty", "-m", "its own")
	own := gitIn(t, dir, "rev-parse", "HEAD")
	calltest.Must(t, os.RemoveAll(dir))
	asks(b, repo, "feat")
	if code, _, _ := Quick(b.Env); code != 0 || gitIn(t, dir, "rev-parse", "HEAD") != own || gitIn(t, repo, "rev-parse", "worktree-feat") != own {
		t.Errorf("code %d: the worktree has %s, its branch was at %s; %s", code, gitIn(t, dir, "log", "--oneline"), own, b.Stderr.String())
	}
	if on := gitIn(t, dir, "rev-parse", "--abbrev-ref", "HEAD"); on != "worktree-feat" {
		t.Errorf("once its entry is in the way it is on %s", on)
	}
	gitIn(t, repo, "worktree", "remove", dir)
	gitIn(t, repo, "switch", "-q", "worktree-feat")
	asks(b, repo, "feat")
	if code, _, _ := Quick(b.Env); code != 0 || gitIn(t, dir, "rev-parse", "HEAD") != own || gitIn(t, dir, "rev-parse", "--abbrev-ref", "HEAD") != "HEAD" {
		t.Errorf("code %d: two worktrees are on one branch, or it is none; %s", code, b.Stderr.String())
	}
}

// TestWorktreeNobodyCanMake says why, where an agent's user sees it.
func TestWorktreeNobodyCanMake(t *testing.T) {
	t.Parallel()
	b, _ := worktreeCall(t, fails)
	asks(b, t.TempDir(), "feat")
	code, _, done := Quick(b.Env)
	if code != 1 || !done || b.Stdout.Len() > 0 || !strings.Contains(b.Stderr.String(), "no mission is known") || !strings.Contains(b.Stderr.String(), "no Git repository") {
		t.Errorf("code %d, done %t, %q %q", code, done, b.Stdout.String(), b.Stderr.String())
	}
}

// TestWorktreeIsToldGone only if it is: an agent believes what it is told.
func TestWorktreeIsToldGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, c := range map[string]struct {
		again func(call.Env) int
		code  int
	}{
		"it is refused":     {fails, 1},
		"it is still there": {func(call.Env) int { return 0 }, 1},
		"a fault":           {func(call.Env) int { panic("a fault") }, 1},
		"it is gone":        {func(call.Env) int { _ = os.Remove(dir); return 0 }, 0},
	} {
		calltest.Must(t, os.MkdirAll(dir, 0o755))
		b := calltest.New(t, nil)
		b.Env.Again = c.again
		b.Env.Args = []string{"hook", "claude"}
		b.Env.Stdin = strings.NewReader(fmt.Sprintf(`{"cwd":%q,"hook_event_name":"WorktreeRemove","worktree_path":%q}`, dir, dir))
		if code, _, done := Quick(b.Env); code != c.code || !done || b.Stdout.Len() > 0 {
			t.Errorf("%s: code %d, done %t, %q", name, code, done, b.Stdout.String())
		}
	}
}

// TestInTime leaves behind what hangs.
func TestInTime(t *testing.T) {
	t.Parallel()
	ends := make(chan struct{})
	defer close(ends)
	if _, err := inTime(time.Millisecond, func() (string, error) { <-ends; return "", nil }); err == nil {
		t.Error("it was waited for")
	}
	if _, err := inTime(time.Minute, func() (string, error) { return "", errors.New("it") }); err == nil || err.Error() != "it" {
		t.Errorf("%v", err)
	}
}
