//go:build failpoints && unix

package failpoint

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// state is what the process knows of its points. Points are passed in leaves
// that nobody hands anything to, so it is the package's, and only in this build.
var state struct {
	mu     sync.Mutex
	read   bool
	name   string
	passes int
	log    *os.File
	hold   string
}

// Hit is a point at which the process may die. Any goroutine may pass it.
func Hit(name string) {
	if hold := pass(name); hold != "" {
		wait(filepath.Join(hold, name))
	}
}

// pass kills the process if this is its point. It returns where FIFOs are that hold it.
func pass(name string) (hold string) {
	state.mu.Lock()
	defer state.mu.Unlock()
	if !state.read {
		readEnvironment()
	}
	if state.log != nil {
		_, _ = state.log.WriteString(name + "\n")
	}
	if name == state.name {
		if state.passes--; state.passes == 0 {
			_ = unix.Kill(os.Getpid(), unix.SIGKILL)
			select {} // nothing more happens here
		}
	}
	return state.hold
}

// wait returns when the FIFO is closed that somebody writes to, or at once without one.
func wait(fifo string) {
	f, err := os.Open(fifo)
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, f)
	_ = f.Close()
}

func readEnvironment() {
	state.read = true
	if name, passes, ok := strings.Cut(os.Getenv(Variable), ":"); ok {
		if n, err := strconv.Atoi(passes); err == nil {
			state.name, state.passes = name, n
		}
	}
	state.hold = os.Getenv(HoldVariable)
	if path := os.Getenv(LogVariable); path != "" {
		state.log, _ = os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	}
}
