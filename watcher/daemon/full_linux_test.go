package daemon

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// small puts the bench's home on a file system of 64 MiB.
func (b *bench) small(t *testing.T) {
	t.Helper()
	disk := filepath.Join(b.user, "disk")
	must(t, os.Mkdir(disk, 0o700))
	err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=64m,mode=700")
	if err == unix.EPERM {
		t.Skip("mounting a small file system needs root")
	}
	must(t, err)
	t.Cleanup(func() { _ = unix.Unmount(disk, unix.MNT_DETACH) })
	home, err := home.Open(filepath.Join(disk, "home"))
	must(t, err)
	b.home = home
	b.configure("storage: {keep_free: 1}\n")
}

// fill writes to the home's disk until nothing goes.
func (b *bench) fill() (free func()) {
	b.Helper()
	name := filepath.Join(filepath.Dir(b.home.Dir), "filler")
	f, err := os.Create(name)
	must(b, err)
	defer f.Close()
	for size := 1 << 20; size > 0; {
		if _, err := f.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			size /= 2
		} else {
			must(b, err)
		}
	}
	return func() { must(b, os.Remove(name)) }
}

// apart starts a daemon in a process of its own.
func (b *bench) apart() *exec.Cmd {
	b.Helper()
	daemon := exec.Command(os.Args[0], player("daemon", b.home.Dir)[1:]...)
	daemon.Stderr = os.Stderr
	must(b, daemon.Start())
	b.Cleanup(func() { _ = daemon.Process.Kill() })
	b.until("it serves", func() bool { return answers(b.home.Socket()) })
	return daemon
}

// TestFullDisk fills the disk of the home under a daemon at work, again and again:
// hooks let the agent go on, reading works, the process lives, and when there is
// room again it goes on.
func TestFullDisk(t *testing.T) {
	hazards.Held(t, hazards.H36, "below a floor of free space nothing is written; on a disk that fills up all the same the daemon lives, and goes on when there is room")
	b := newBench(t)
	b.small(t)
	daemon := b.apart()
	c := b.connect()
	hook := func(event string, fields map[string]any) (missions.HookResult, error) {
		return b.hook(c, event, fields)
	}
	n := 0
	tool := func() (missions.HookResult, error) {
		n++
		b.write("a.txt", fmt.Sprint(n))
		return hook("PreToolUse", map[string]any{"tool_name": "Write", "tool_use_id": fmt.Sprint(n), "tool_input": map[string]any{"file_path": "a.txt"}})
	}
	_, err := hook("SessionStart", map[string]any{"source": "startup"})
	must(t, err)
	_, err = hook("UserPromptSubmit", map[string]any{"prompt": "work", "prompt_id": "p1"})
	must(t, err)
	status := func() missions.Status {
		t.Helper()
		s, err := c.Status(b.ctx(), missions.StatusRequest{Caller: b.caller()})
		must(t, err)
		return s
	}
	pid := daemon.Process.Pid
	for round := range 4 {
		r, err := tool()
		if err != nil || r.Snapshot == "" {
			t.Fatalf("round %d: %+v %v", round, r, err)
		}
		for range 40 { // of which the index knows nothing yet
			_, err := tool()
			must(t, err)
		}
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() { // hooks and listings go on while the disk fills up
			defer close(stopped)
			for {
				select {
				case <-stop:
					return
				default:
				}
				_, _ = tool()
				if round%2 == 1 {
					_, _ = c.Log(b.ctx(), missions.LogRequest{Caller: b.caller(), Lines: true})
				}
			}
		}()
		free := b.fill()
		close(stop)
		<-stopped
		if r, err := tool(); err != nil || !strings.Contains(r.Problem, "Umbra writes nothing") || r.Snapshot != "" {
			t.Errorf("hook on a full disk: %+v %v", r, err)
		}
		_, err = c.Snapshot(b.ctx(), missions.SnapshotRequest{Caller: b.caller()})
		if e := missions.AsError(err); err == nil || e.Kind.ExitCode() != 1 || !strings.Contains(e.Message, "Umbra writes nothing") {
			t.Errorf("snapshot on a full disk: %v", err)
		}
		entries, err := c.Log(b.ctx(), missions.LogRequest{Caller: b.caller(), Lines: true})
		if err != nil || len(entries) < 40*(round+1) {
			t.Errorf("%d entries: %v", len(entries), err)
		}
		if s := status(); s.Daemon.PID != pid || len(s.Problems) == 0 || !strings.Contains(s.Problems[0].Message+s.Problems[len(s.Problems)-1].Message, "Umbra writes nothing") {
			t.Errorf("status on a full disk: %+v", s)
		}
		free()
	}
	r, err := tool()
	if err != nil || r.Problem != "" {
		t.Fatalf("with room again: %+v %v", r, err)
	}
	if got := status().Daemon.PID; got != pid {
		t.Errorf("another process: %d, was %d", got, pid)
	}
	shown, err := c.Resolve(b.ctx(), missions.ResolveRequest{Caller: b.caller(), Moment: r.Snapshot})
	must(t, err)
	output(t, exec.Command("git", "--git-dir="+shown.ShadowRepo, "fsck", "--full", "--no-dangling"))
	doctor, err := c.Doctor(b.ctx(), missions.DoctorRequest{Caller: b.caller()})
	if err != nil || len(doctor.Problems) > 0 {
		t.Errorf("doctor: %+v %v", doctor.Problems, err)
	}
	// A daemon that ends on a full disk leaves an index that opens again.
	free := b.fill()
	must(t, daemon.Process.Signal(syscall.SIGTERM))
	if err := daemon.Wait(); err != nil {
		t.Errorf("the daemon ended on a full disk: %v", err)
	}
	free()
	again := b.connect(b.starting)
	if entries, err := again.Log(b.ctx(), missions.LogRequest{Caller: b.caller(), Lines: true}); err != nil || len(entries) < 2 {
		t.Errorf("%d entries: %v", len(entries), err)
	}
}

// TestTurnEndsOnAFullDisk: the end of a turn that could not even be noted is when there
// is room again.
func TestTurnEndsOnAFullDisk(t *testing.T) {
	b := newBench(t)
	b.small(t)
	b.apart()
	c := b.connect()
	b.write("a.txt", "one\n")
	r, err := b.hook(c, "SessionStart", map[string]any{"source": "startup"})
	must(t, err)
	m := missions.Mission{ID: r.Mission}
	_, err = b.hook(c, "UserPromptSubmit", map[string]any{"prompt": "go", "prompt_id": "p1"})
	must(t, err)
	// Of a long state nothing goes into what is left of a page.
	_, err = b.hook(c, "PreToolUse", map[string]any{"tool_name": "Read", "tool_use_id": "t1", "tool_input": map[string]any{"file_path": strings.Repeat("long/", 2000)}})
	must(t, err)
	free := b.fill()
	b.write("a.txt", "two\n")
	if r, err := b.hook(c, "Stop", nil); err != nil || !strings.Contains(r.Problem, "Umbra writes nothing") {
		t.Fatalf("without room: %+v %v", r, err)
	}
	if now := b.state(c, m); now.State != missions.StateRunning {
		t.Fatalf("the end was noted: %s", now.State)
	}
	free()
	b.until("the turn's end", func() bool { return b.state(c, m).State == missions.StateIdle })
	got, err := c.Cat(b.ctx(), missions.CatRequest{Caller: b.caller(), Moment: m.ID, Path: "a.txt"})
	if err != nil || string(got) != "two\n" {
		t.Errorf("its snapshot holds %q, %v", got, err)
	}
}
