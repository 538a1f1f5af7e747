//go:build unix

package lock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/scripts/hazards"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// The test binary plays the other processes too.
const playVariable = "LOCK_TEST_PLAY"

func TestMain(m *testing.M) {
	play := os.Getenv(playVariable)
	if play == "" {
		os.Exit(m.Run())
	}
	if err := perform(play, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func perform(play string, args []string) error {
	switch play {
	case "count":
		return countUnderLock(args[0], args[1], args[2])
	case "hold":
		return holdForever(args[0])
	case "hold-after":
		_, err := Wait(context.Background(), args[0], Shared, Self("waits"))
		return err
	}
	return fmt.Errorf("no play %q", play)
}

// countUnderLock adds to a counter by reading and writing it, which loses
// steps unless the processes take turns.
func countUnderLock(path, counter, times string) error {
	n, err := strconv.Atoi(times)
	if err != nil {
		return err
	}
	owner := Self("count")
	for range n {
		l, err := Wait(context.Background(), path, Exclusive, owner)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(counter)
		if err != nil {
			return err
		}
		value, err := strconv.Atoi(string(content))
		if err != nil {
			return err
		}
		if err := os.WriteFile(counter, []byte(strconv.Itoa(value+1)), 0o600); err != nil {
			return err
		}
		if err := l.Release(); err != nil {
			return err
		}
	}
	return nil
}

func holdForever(path string) error {
	if _, err := Try(path, Exclusive, Self("umbra restore")); err != nil {
		return err
	}
	fmt.Println("held")
	select {}
}

func player(t *testing.T, play string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = []string{playVariable + "=" + play, "PATH=" + os.Getenv("PATH")}
	return cmd
}

// holder starts a process that holds the lock, and returns once it does.
func holder(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	cmd := player(t, "hold", path)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	if _, err := out.Read(make([]byte, 8)); err != nil {
		t.Fatalf("holder: %v", err)
	}
	return cmd
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience.Of(time.Minute))
	t.Cleanup(cancel)
	return ctx
}

func TestProcessesTakeTurns(t *testing.T) {
	dir := t.TempDir()
	path, counter := filepath.Join(dir, "locks", "l"), filepath.Join(dir, "counter")
	must(t, os.WriteFile(counter, []byte("0"), 0o600))
	const processes, times = 6, 150
	var running []*exec.Cmd
	for range processes {
		cmd := player(t, "count", path, counter, strconv.Itoa(times))
		cmd.Stderr = os.Stderr
		must(t, cmd.Start())
		running = append(running, cmd)
	}
	for _, cmd := range running {
		must(t, cmd.Wait())
	}
	got, err := os.ReadFile(counter)
	must(t, err)
	if string(got) != strconv.Itoa(processes*times) {
		t.Errorf("counted %s, want %d", got, processes*times)
	}
}

func TestKilledHolderFreesTheLock(t *testing.T) {
	path := WorkspaceFile(t.TempDir(), 1, 2)
	cmd := holder(t, path)
	_, err := Try(path, Shared, Self("test"))
	var heldBy *HeldError
	if !errors.Is(err, ErrHeld) || !errors.As(err, &heldBy) || heldBy.Holder == nil || heldBy.Holder.PID != cmd.Process.Pid {
		t.Fatalf("while held: %v", err)
	}
	if want := fmt.Sprintf("held by pid %d (umbra restore) since ", cmd.Process.Pid); !strings.HasPrefix(err.Error(), want) {
		t.Errorf("message %q, want %q…", err, want)
	}
	must(t, cmd.Process.Kill())
	l, err := Wait(soon(t), path, Exclusive, Self("test"))
	must(t, err)
	must(t, l.Release())
	cmd.Wait()
}

func TestNoteOfADeadProcessIsNotBelieved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	cmd := holder(t, path)
	if note, ok := Holder(path); !ok || note.Liveness() != Alive || note.Command != "umbra restore" {
		t.Errorf("while it lives: %+v, %v", note, ok)
	}
	must(t, cmd.Process.Kill())
	cmd.Wait()
	if note, ok := Holder(path); ok {
		t.Errorf("after its end: %+v", note)
	}
}

// A lock must not be seen as busy because a child was being started when it
// was released: the child's copy of the descriptor is still open then.
func TestStartingChildrenKeepNoLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	stop := make(chan struct{})
	var starters sync.WaitGroup
	for range 3 {
		starters.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					_ = exec.Command("/bin/true").Run()
				}
			}
		})
	}
	owner := Self("test")
	for i := range 3000 {
		l, err := Try(path, Exclusive, owner)
		if err != nil {
			t.Errorf("attempt %d: %v", i, err)
			break
		}
		must(t, l.Release())
	}
	close(stop)
	starters.Wait()
}

// A child started while the lock is held does not hold it on.
func TestRunningChildKeepsNoLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	l, err := Try(path, Exclusive, Self("test"))
	must(t, err)
	child := exec.Command("/bin/sleep", "60")
	must(t, child.Start())
	defer func() { child.Process.Kill(); child.Wait() }()
	must(t, l.Release())
	again, err := Try(path, Exclusive, Self("test"))
	must(t, err)
	must(t, again.Release())
}

func TestSharedAndExclusive(t *testing.T) {
	path, owner := filepath.Join(t.TempDir(), "l"), Self("umbra capture")
	a, err := Try(path, Shared, owner)
	must(t, err)
	b, err := Try(path, Shared, owner)
	must(t, err)
	if _, err := Try(path, Exclusive, owner); !errors.Is(err, ErrHeld) {
		t.Errorf("exclusive beside shared: %v", err)
	}
	must(t, a.Release())
	must(t, a.Release())
	if _, err := Try(path, Exclusive, owner); !errors.Is(err, ErrHeld) {
		t.Errorf("exclusive beside the other: %v", err)
	}
	if note, ok := Holder(path); !ok || note.Command != "umbra capture" {
		t.Errorf("the last to come signed: %+v, %v", note, ok)
	}
	content, err := os.ReadFile(path)
	must(t, err)
	copied := path + ".copy"
	must(t, os.WriteFile(copied, content, 0o600))
	if note, ok := Holder(copied); ok {
		t.Errorf("a copy names %s", note)
	}
	must(t, b.Release())
	if _, ok := Holder(path); ok {
		t.Error("a note outlives the lock")
	}
	c, err := Try(path, Exclusive, owner)
	must(t, err)
	if c.Mode() != Exclusive || c.Path() != path {
		t.Errorf("%v %s", c.Mode(), c.Path())
	}
	must(t, c.Release())
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the lock file is gone: %v", err)
	}
}

// TestNoFile: what is no file is no lock, and nobody waits for it.
func TestNoFile(t *testing.T) {
	dir, owner := t.TempDir(), Self("test")
	for what, put := range map[string]func(string) error{
		"directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"link":      func(path string) error { return os.Symlink(os.DevNull, path) },
		"fifo":      func(path string) error { return unix.Mkfifo(path, 0o600) },
	} {
		path := filepath.Join(dir, what)
		must(t, Check(path))
		must(t, put(path))
		_, err := Try(path, Exclusive, owner)
		for _, err := range []error{err, Check(path)} {
			if file, ok := errors.AsType[*FileError](err); !ok || file.Path != path || strings.Count(err.Error(), path) != 1 {
				t.Errorf("%s: %v", what, err)
			}
		}
		if note, ok := Holder(path); ok {
			t.Errorf("%s: held by %+v", what, note)
		}
	}
	path := filepath.Join(dir, "directory", "below", "lock")
	l, err := Try(path, Exclusive, owner)
	must(t, err)
	must(t, Check(path))
	must(t, l.Release())
	_, err = Try(filepath.Join(path, "lock"), Exclusive, owner)
	if _, ok := errors.AsType[*FileError](err); !ok {
		t.Errorf("below a file: %v", err)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	path, owner := filepath.Join(t.TempDir(), "l"), Self("test")
	l, err := Try(path, Exclusive, owner)
	must(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err = Wait(ctx, path, Shared, owner)
	if !errors.Is(err, ErrHeld) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	must(t, l.Release())
	late, err := Wait(ctx, path, Shared, owner)
	must(t, err)
	must(t, late.Release())
}

func TestDeletedLockFile(t *testing.T) {
	path, owner := filepath.Join(t.TempDir(), "l"), Self("test")
	old, err := Try(path, Exclusive, owner)
	must(t, err)
	must(t, os.Remove(path))
	fresh, err := Try(path, Exclusive, owner)
	must(t, err)
	if _, err := Try(path, Exclusive, owner); !errors.Is(err, ErrHeld) {
		t.Errorf("the new file does not exclude: %v", err)
	}
	must(t, old.Release())
	must(t, fresh.Release())
}

func TestLockFileIsNoSymlink(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "l")
	must(t, os.WriteFile(filepath.Join(dir, "precious"), []byte("x"), 0o600))
	must(t, os.Symlink("precious", path))
	if _, err := Try(path, Exclusive, Self("test")); err == nil {
		t.Error("locked through a symlink")
	}
}

func TestOwnerLiveness(t *testing.T) {
	self := Self("test")
	if self.Boot == "" {
		t.Skip("no /proc: owners cannot be told apart here")
	}
	before, otherBoot, otherSpace, unsigned := self, self, self, Owner{PID: self.PID}
	before.Start--
	hazards.Shown(t, hazards.H25, syscall.Kill(before.PID, 0) == nil, "who asks by pid alone takes a process that has ended for alive once another has its pid, and waits for its lock for ever")
	otherBoot.Boot = "x"
	otherSpace.Namespace = "pid:[1]"
	for name, c := range map[string]struct {
		owner Owner
		want  Liveness
	}{
		"self": {self, Alive}, "pid used again": {before, Gone}, "other boot": {otherBoot, Gone},
		"other namespace": {otherSpace, Unknown}, "unsigned": {unsigned, Unknown}, "none": {Owner{}, Unknown},
	} {
		if got := c.owner.Liveness(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	hazards.Held(t, hazards.H25, "a process is told by its pid, the time of its start and the boot: one that has its pid since is another")
}

// TestEndedChildIsGone looks at a process that has ended and was not waited for.
func TestEndedChildIsGone(t *testing.T) {
	cmd := exec.Command("cat")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	child := Process(cmd.Process.Pid, "cat")
	if got := child.Liveness(); got != Alive {
		t.Errorf("while it runs: %v", got)
	}
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience.Of(time.Minute)); child.Liveness() != Gone; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it has ended, and is not gone")
		}
	}
}

// TestProcessThatIsGoneAlready is gone, and not unknown.
func TestProcessThatIsGoneAlready(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skipf("the system does not say which processes there are: %v", err)
	}
	if got := Process(1<<30, "nobody").Liveness(); got != Gone {
		t.Errorf("liveness %v, want %v", got, Gone)
	}
}

func TestGarbageIsNoNote(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	for _, content := range []string{"", "1234\n", "{", strings.Repeat("x", 5000), "{}"} {
		must(t, os.WriteFile(path, []byte(content), 0o600))
		if note, ok := Holder(path); ok {
			t.Errorf("%.10q: %+v", content, note)
		}
		l, err := Try(path, Exclusive, Self(strings.Repeat("long ", 1000)))
		must(t, err)
		if note, ok := Holder(path); len(content) < noteSize && (!ok || note.PID != os.Getpid()) {
			t.Errorf("%.10q: signed over: %+v, %v", content, note, ok)
		}
		must(t, l.Release())
	}
}
