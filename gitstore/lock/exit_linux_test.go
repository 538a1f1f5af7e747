package lock

import (
	"os/exec"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/scripts/patience"
)

// TestOnExit is told of the end of a process that was killed, also before
// anybody has asked after it, and not of one that lives.
func TestOnExit(t *testing.T) {
	cmd := exec.Command("sleep", "6000")
	must(t, cmd.Start())
	child := Process(cmd.Process.Pid, "sleep")
	told := make(chan Liveness, 2)
	stop, err := child.OnExit(func() { told <- child.Liveness() })
	must(t, err)
	given, err := child.OnExit(func() { t.Error("told though nobody waits any more") })
	must(t, err)
	given()
	if len(told) != 0 {
		t.Error("told while it lives")
	}
	must(t, cmd.Process.Kill())
	select {
	case liveness := <-told:
		if liveness != Gone {
			t.Errorf("told, and it is %v", liveness)
		}
	case <-time.After(patience.Of(time.Minute)):
		t.Error("not told")
	}
	stop()
	if err := cmd.Wait(); err == nil {
		t.Error("it was not killed")
	}
	if _, err := child.OnExit(func() { t.Error("told of one that was gone") }); err == nil {
		t.Error("waits for a process that is gone")
	}
	again := Self("test")
	again.Start++
	if _, err := again.OnExit(func() { t.Error("told of another process") }); err == nil {
		t.Error("waits for a process that has the pid of one that is gone")
	}
}
