package client

import (
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestForbidden tells a sandbox from a home that is another user's.
func TestForbidden(t *testing.T) {
	for errno, hint := range map[syscall.Errno]string{syscall.EPERM: "outside of the sandbox", syscall.EACCES: "run as the user"} {
		err := forbidden(&net.OpError{Op: "dial", Net: "unix", Err: os.NewSyscallError("connect", errno)})
		if e := missions.AsError(err); e.Kind != missions.KindNoDaemon || !strings.Contains(e.Hint, hint) || !strings.Contains(e.Message, errno.Error()) {
			t.Errorf("%v: %s (%s)", errno, e.Message, e.Hint)
		}
	}
}
