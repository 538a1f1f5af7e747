//go:build failpoints && unix

package failpoint

import (
	"os"
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
}

// Hit is a point at which the process may die. Any goroutine may pass it.
func Hit(name string) {
	state.mu.Lock()
	defer state.mu.Unlock()
	if !state.read {
		readEnvironment()
	}
	if state.log != nil {
		_, _ = state.log.WriteString(name + "\n")
	}
	if name != state.name {
		return
	}
	if state.passes--; state.passes == 0 {
		_ = unix.Kill(os.Getpid(), unix.SIGKILL)
		select {} // nothing more happens here
	}
}

func readEnvironment() {
	state.read = true
	if name, passes, ok := strings.Cut(os.Getenv(Variable), ":"); ok {
		if n, err := strconv.Atoi(passes); err == nil {
			state.name, state.passes = name, n
		}
	}
	if path := os.Getenv(LogVariable); path != "" {
		state.log, _ = os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	}
}
