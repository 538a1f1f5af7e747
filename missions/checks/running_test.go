package checks

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// The environment of a process that runs a check, and is killed.
const (
	victimHome = "UMBRA_TEST_VICTIM_HOME"
	victimLine = "UMBRA_TEST_VICTIM_LINE"
)

// TestVictim is no test: it is run by the others, in a process of its own.
func TestVictim(t *testing.T) {
	t.Parallel()
	if os.Getenv(victimHome) == "" {
		t.Skip("it is run by other tests")
	}
	h := home.Home{Dir: os.Getenv(victimHome)}
	running, err := Begin(t.Context(), h, "one")
	if err != nil {
		t.Fatal(err)
	}
	_, err = Command{Line: os.Getenv(victimLine), Workspace: h.Dir, Output: h.CheckOutputFile("one"), Environ: os.Environ(), Running: running}.Run(t.Context())
	t.Fatal("it was not killed", err)
}

// victim runs a check in another process. alive is an end of a pipe that everything holds open
// which the check runs; line says on descriptor 9 that all runs.
func victim(t *testing.T, h home.Home, line string) (process *exec.Cmd, alive *os.File) {
	t.Helper()
	pipe := filepath.Join(h.Dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	process = exec.Command(os.Args[0], "-test.run", "^TestVictim$")
	process.Env = append(os.Environ(), victimHome+"="+h.Dir, victimLine+"=exec 9>pipe; "+line)
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = process.Process.Kill() })
	alive, err := os.Open(pipe)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = alive.Close() })
	if _, err := alive.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return process, alive
}

func kill(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
}

// TestCheckOfKilled: what a check runs whose process was killed ends with the next one of the same
// thing, whole, also where its first process has ended, and no sooner than its process.
func TestCheckOfKilled(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"its first process lives": "sleep 600 & echo >&9; wait",
		// The one that runs the check would end the rest by itself: it is stopped before.
		"its first process has ended": "kill -STOP $PPID; (sleep 600; true) & sleep 600 & echo >&9; kill -9 $$",
		"it does not end when asked":  "trap '' TERM; sleep 600 & echo >&9; wait",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := home.Home{Dir: t.TempDir()}
			process, alive := victim(t, h, line)
			if runs, err := EndLeft(t.Context(), h, "one"); !runs || err != nil {
				t.Errorf("while it runs: %v, %v", runs, err)
			}
			if left, err := Left(h); len(left) > 0 || err != nil {
				t.Errorf("while it runs, left are %v, %v", left, err)
			}
			if runs, err := EndLeft(t.Context(), h, "another"); runs || err != nil {
				t.Errorf("another one: %v, %v", runs, err)
			}
			kill(t, process)
			if left, err := Left(h); !slices.Equal(left, []string{"one"}) || err != nil {
				t.Errorf("left are %v, %v", left, err)
			}
			next, err := Begin(t.Context(), h, "one")
			if err != nil {
				t.Fatal(err)
			}
			if elsewhere, err := next.RunsElsewhere(); elsewhere || err != nil {
				t.Errorf("it runs elsewhere: %v, %v", elsewhere, err)
			}
			ended := make(chan error, 1)
			go func() {
				_, err := io.ReadAll(alive)
				ended <- err
			}()
			select {
			case err := <-ended:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(patience.Of(time.Minute)):
				t.Error("what it has left runs on")
			}
			if err := next.End(); err != nil {
				t.Error(err)
			}
			if names, err := runningNames(h.RunningChecksDir()); len(names) > 0 || err != nil {
				t.Errorf("%q are left, %v", names, err)
			}
		})
	}
}

// TestForeignGroup: a process group that has the number of a check which was cut off, and is
// another one, lives on.
func TestForeignGroup(t *testing.T) {
	t.Parallel()
	other := exec.Command("sleep", "600")
	other.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- other.Wait() }()
	t.Cleanup(func() {
		_ = other.Process.Kill()
		<-ended
	})
	is := lock.Process(other.Process.Pid, "check")
	earlier, boot := is, is
	earlier.Start--
	boot.Boot = "another"
	for name, was := range map[string]lock.Owner{"an earlier process": earlier, "before the machine began anew": boot} {
		h := home.Home{Dir: t.TempDir()}
		leave(t, h, was)
		if runs, err := EndLeft(t.Context(), h, "one"); runs || err != nil {
			t.Errorf("%s: %v, %v", name, runs, err)
		}
		if is.Liveness() != lock.Alive {
			t.Fatalf("%s: a foreign process was ended", name)
		}
		if left, err := Left(h); len(left) > 0 || err != nil {
			t.Errorf("%s: left are %v, %v", name, left, err)
		}
	}
	// What can't be seen from here is not taken for ended.
	h, hidden := home.Home{Dir: t.TempDir()}, is
	hidden.Namespace = "another"
	leave(t, h, hidden)
	if _, err := Begin(t.Context(), h, "one"); err == nil {
		t.Error("a check begins beside one that may run")
	} else if hint := missions.AsError(err).Hint; !strings.HasSuffix(hint, "rm "+filepath.Join(h.RunningChecksDir(), "one.left")) {
		t.Errorf("to go on, it is said: %s", hint)
	}
	if left, err := Left(h); len(left) != 1 || err != nil {
		t.Errorf("left are %v, %v", left, err)
	}
}

// leave leaves what a killed process does, whose check was led by another one.
func leave(t *testing.T, h home.Home, leader lock.Owner) {
	t.Helper()
	if err := os.MkdirAll(h.RunningChecksDir(), 0o700); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(record{Group: leader, Mark: "none has it"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.RunningChecksDir(), "one.left"), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestTornRecord: a process that is killed while it writes what it runs leaves nothing.
func TestTornRecord(t *testing.T) {
	t.Parallel()
	h := home.Home{Dir: t.TempDir()}
	leave(t, h, lock.Owner{})
	if err := os.WriteFile(filepath.Join(h.RunningChecksDir(), "one.torn"), []byte(`{"group":{"pid":1,`), 0o600); err != nil {
		t.Fatal(err)
	}
	if runs, err := EndLeft(t.Context(), h, "one"); runs || err != nil {
		t.Errorf("%v, %v", runs, err)
	}
	if left, err := Left(h); len(left) > 0 || err != nil {
		t.Errorf("left are %v, %v", left, err)
	}
}

// TestRecordThatCannotBeOpened: a record that can't be opened is not taken for one whose check has
// ended.
func TestRecordThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	h := home.Home{Dir: t.TempDir()}
	own, err := Begin(t.Context(), h, "one")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("one.other", filepath.Join(h.RunningChecksDir(), "one.other")); err != nil { // leads to itself
		t.Fatal(err)
	}
	if runs, err := own.RunsElsewhere(); runs || err == nil {
		t.Errorf("it runs elsewhere: %v, %v", runs, err)
	}
	if runs, err := EndLeft(t.Context(), h, "one"); !runs || err == nil {
		t.Errorf("it has ended: %v, %v", runs, err)
	}
	if left, err := Left(h); len(left) > 0 || err == nil {
		t.Errorf("left are %v, %v", left, err)
	}
	if _, err := Begin(t.Context(), h, "one"); err == nil {
		t.Error("a check begins beside one that may run")
	}
	if err := own.End(); err != nil {
		t.Error(err)
	}
}

// TestBeginWithoutLocks: where a file can't be locked no check begins, and nothing is left of it;
// it is tried again only while another process has it locked, and nobody has interrupted.
func TestBeginWithoutLocks(t *testing.T) {
	t.Parallel()
	of, tries := filepath.Join(t.TempDir(), "one"), 0
	if _, err := newRecord(t.Context(), of, func(*os.File) error { tries++; return os.NewSyscallError("flock", syscall.ENOLCK) }); !errors.Is(err, syscall.ENOLCK) || tries != 1 {
		t.Errorf("tried %d times: %v", tries, err)
	}
	if names, err := runningNames(filepath.Dir(of)); len(names) > 0 || err != nil {
		t.Errorf("%q are left, %v", names, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	tries = 0
	if _, err := newRecord(ctx, of, func(*os.File) error {
		if tries++; tries == 3 {
			stop()
		}
		return syscall.EWOULDBLOCK
	}); !errors.Is(err, context.Canceled) || tries != 3 {
		t.Errorf("tried %d times: %v", tries, err)
	}
}
