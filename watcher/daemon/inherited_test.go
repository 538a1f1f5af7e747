package daemon

import (
	"io"
	"os"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// TestInheritedDescriptors: a daemon keeps nothing open that its starter had: a pipe of
// the starter's ends while the daemon runs.
func TestInheritedDescriptors(t *testing.T) {
	b := newBench(t)
	r, w, err := os.Pipe()
	must(t, err)
	defer r.Close()
	inherited, err := unix.FcntlInt(w.Fd(), unix.F_DUPFD, 200) // without FD_CLOEXEC
	must(t, err)
	c := b.connect(b.starting)
	must(t, unix.Close(inherited))
	must(t, w.Close())
	must(t, r.SetReadDeadline(time.Now().Add(patience.Of(time.Minute))))
	if _, err := io.ReadAll(r); err != nil {
		t.Errorf("the daemon keeps a pipe of its starter: %v", err)
	}
	status, err := c.Status(b.ctx(), missions.StatusRequest{Caller: b.caller()})
	must(t, err)
	must(t, syscall.Kill(status.Daemon.PID, 0))
}
