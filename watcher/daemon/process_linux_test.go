package daemon

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/watcher/client"
)

// TestStartedDaemonIsApart looks at the process that a client has started.
func TestStartedDaemonIsApart(t *testing.T) {
	b := newBench(t)
	c := b.connect(b.starting, func(o *client.Options) { o.Environ = append(os.Environ(), "SECRET_TOKEN=x", "XDG_RUNTIME_DIR=") })
	status, err := c.Status(b.ctx(), missions.StatusRequest{Caller: b.caller()})
	must(t, err)
	proc := filepath.Join("/proc", strconv.Itoa(status.Daemon.PID))
	if cwd, err := os.Readlink(filepath.Join(proc, "cwd")); err != nil || cwd != "/" {
		t.Errorf("it is in %s, %v", cwd, err)
	}
	environ, err := os.ReadFile(filepath.Join(proc, "environ"))
	must(t, err)
	for v := range strings.SplitSeq(strings.TrimRight(string(environ), "\x00"), "\x00") {
		switch name, _, _ := strings.Cut(v, "="); {
		case name == "HOME", name == "PATH", name == "LANG", name == "TMPDIR", name == "UMBRA_HOME", strings.HasPrefix(name, "XDG_"):
		default:
			t.Errorf("it was given %s", v)
		}
	}
	if session, err := syscall.Getpgid(status.Daemon.PID); err != nil || session != status.Daemon.PID {
		t.Errorf("its process group is %d, %v", session, err)
	}
}

// TestSandbox connects from namespaces of its own: the caller is told to work
// in process, whether there is a daemon or not.
func TestSandbox(t *testing.T) {
	b := newBench(t)
	ask := func() string {
		argv := player("connect", b.home.Dir)
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
		return strings.TrimSpace(output(t, cmd))
	}
	if got := ask(); got != "elsewhere" {
		t.Errorf("without a daemon: %s", got)
	}
	b.start()
	if got := ask(); got != "elsewhere" {
		t.Errorf("with a daemon: %s", got)
	}
}
