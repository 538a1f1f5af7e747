package checks

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// run runs a command line in an empty workspace, and gives what it printed.
func run(t *testing.T, c Command) (missions.Check, string) {
	t.Helper()
	c.Workspace, c.Output, c.Running = t.TempDir(), filepath.Join(t.TempDir(), "outputs", "one"), begin(t)
	check, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(c.Output)
	if err != nil {
		t.Fatal(err)
	}
	return check, string(text)
}

// begin says in a home of its own that the test runs a check.
func begin(t *testing.T) *Running {
	t.Helper()
	r, err := Begin(t.Context(), home.Home{Dir: t.TempDir()}, "one")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.End(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]missions.CheckState{
		"true": missions.CheckGood, "exit 3": missions.CheckBad, "exit 125": missions.CheckUnknown, "kill -9 $$": missions.CheckUnknown,
	} {
		if check, _ := run(t, Command{Line: line}); check.State != want {
			t.Errorf("%s: %+v, want %s", line, check, want)
		}
	}
}

// TestSessionOfItsOwn: a check that reads from the terminal fails, and is not stopped by the
// system as a background job is, which nobody would see.
func TestSessionOfItsOwn(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the session is read from /proc")
	}
	line := "read pid name state parent group session rest </proc/$$/stat; echo $session is of $$; test $session = $$"
	if check, said := run(t, Command{Line: line}); check.State != missions.CheckGood {
		t.Errorf("%+v: %s", check, said)
	}
}

// TestNoSecrets: what the workspace's code could send away is not in its environment; what
// says where it runs is.
func TestNoSecrets(t *testing.T) {
	t.Parallel()
	environ := []string{
		"PATH=" + os.Getenv("PATH"), "GITHUB_TOKEN=x", "MY_API_KEY=short", "DATABASE=postgres://ada:kK3vmPq9xWz2@db.example/app",
		"PLAIN=ghp_0123456789abcdefghijABCDEFGHIJ012345", "GOFLAGS=-short", "KEYBOARD=de",
	}
	_, said := run(t, Command{Line: "env", Environ: environ, More: []string{"UMBRA_MISSION=id"}})
	for _, gone := range []string{"GITHUB_TOKEN", "MY_API_KEY", "DATABASE", "PLAIN"} {
		if strings.Contains(said, gone) {
			t.Errorf("the check is given %s", gone)
		}
	}
	for _, kept := range []string{"GOFLAGS=-short", "KEYBOARD=de", "UMBRA_MISSION=id"} {
		if !strings.Contains(said, kept) {
			t.Errorf("the check is not given %s:\n%s", kept, said)
		}
	}
}

// TestGroupEnds: whatever a check leaves running has ended when the check has, by itself, by
// its limit or by an interruption. Each process holds a pipe open, which ends with the last.
func TestGroupEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, line, says string
		limit            time.Duration
		interrupted      bool
	}{
		{name: "by itself", line: "exec 3>pipe; sleep 600 & true"},
		{name: "limit", line: "exec 3>pipe; sleep 600 & wait", limit: 50 * time.Millisecond, says: "umbra: ended after 50ms (check.time_limit)"},
		{name: "interrupted", line: "exec 3>pipe; sleep 600 & wait", interrupted: true, says: "umbra: interrupted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			command := Command{Line: c.line, Workspace: t.TempDir(), Output: filepath.Join(t.TempDir(), "output"), Limit: c.limit, Running: begin(t)}
			pipe := filepath.Join(command.Workspace, "pipe")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() {
				held, err := os.Open(pipe) // once one writes
				if c.interrupted {
					cancel()
				}
				if err == nil {
					defer held.Close()
					_, err = io.ReadAll(held)
				}
				ended <- err
				<-t.Context().Done()
			}()
			check, err := command.Run(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if own, err := os.OpenFile(pipe, os.O_WRONLY, 0); err == nil { // where the check was ended before it had begun
				own.Close()
			}
			select {
			case err := <-ended:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(patience.Of(time.Minute)):
				t.Error("the check has ended, and what it started has not")
			}
			if last := LastLine(command.Output); last != c.says || c.says != "" && check.State != missions.CheckUnknown {
				t.Errorf("%+v, its output ends with %q, want %q", check, last, c.says)
			}
		})
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	h := home.Home{Dir: t.TempDir()}
	limit, err := Limit(h, func(string) string { return "" })
	if err != nil || limit != 30*time.Minute {
		t.Errorf("%v, %v", limit, err)
	}
	limit, err = Limit(h, func(name string) string { return map[string]string{"UMBRA_CHECK_TIME_LIMIT": "2s"}[name] })
	if err != nil || limit != 2*time.Second {
		t.Errorf("%v, %v", limit, err)
	}
}
