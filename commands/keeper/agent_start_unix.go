//go:build unix

package keeper

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/missions"
)

// An agent that reads before the terminal is its own is stopped, and the
// continue that it then needs would undo a Ctrl-Z typed meanwhile. So what the
// keeper starts is this program once more, which waits until it has been given
// the terminal and becomes the agent then, by exec.

// StartWord, as the first argument, makes a process wait for its keeper:
// umbra start-agent GO FAILED PROGRAM ARGV0 [ARG...]
// GO is a descriptor on which one byte says that the terminal is handed over,
// FAILED one for the number of exec's error. Neither has a fixed number, since
// the agent inherits what its user's shell has opened.
const StartWord = "start-agent"

// BecomeAgent waits for the keeper and becomes the agent. It returns the exit
// code of a process that could not.
func BecomeAgent(args []string) int {
	if len(args) < 4 {
		fmt.Fprintln(os.Stderr, "umbra: "+StartWord+" is for umbra's own use")
		return missions.KindUsage.ExitCode()
	}
	handed, failed := inherited(args[0]), inherited(args[1])
	if _, err := io.ReadFull(handed, make([]byte, 1)); err != nil {
		return call.CodeBeforeAgent // the keeper is gone
	}
	// A keeper that has taken its terminal back once ignores this for good, which the
	// agent would inherit: a signal that is listened to is as it was again by exec.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTTOU)
	errno, _ := syscall.Exec(args[2], args[3:], os.Environ()).(syscall.Errno)
	_, _ = failed.WriteString(strconv.Itoa(int(errno)))
	return call.CodeBeforeAgent
}

// inherited is a descriptor that the agent is not to inherit in turn.
func inherited(number string) *os.File {
	fd, err := strconv.Atoi(number)
	if err != nil {
		fd = -1
	}
	unix.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), "keeper") // nil, which can't be read, for a bad one
}

// starting is the keeper's side of an agent that waits to become itself.
type starting struct {
	handed, failed pipe
}

// pipe is one between the keeper and the waiting process.
type pipe struct{ r, w *os.File }

func newStarting() (*starting, error) {
	var s starting
	var err error
	if s.handed.r, s.handed.w, err = os.Pipe(); err != nil {
		return nil, err
	}
	if s.failed.r, s.failed.w, err = os.Pipe(); err != nil {
		s.close()
		return nil, err
	}
	return &s, nil
}

// args are the first arguments of the waiting process, whose descriptors stay
// open over its start; nothing else is started before release.
func (s *starting) args() ([]string, error) {
	args := []string{"umbra", StartWord}
	for _, f := range []*os.File{s.handed.r, s.failed.w} {
		if _, err := unix.FcntlInt(f.Fd(), unix.F_SETFD, 0); err != nil {
			return nil, err
		}
		args = append(args, strconv.Itoa(int(f.Fd())))
	}
	return args, nil
}

// release lets the process, which is there by now, become the agent.
func (s *starting) release() {
	s.handed.r.Close()
	s.failed.w.Close()
	_, _ = s.handed.w.Write([]byte{1}) // one that has ended is waited for
	s.handed.w.Close()
}

// failure says, once the process has ended, why it never became the agent.
func (s *starting) failure() error {
	said, _ := io.ReadAll(s.failed.r)
	if errno, err := strconv.Atoi(string(said)); err == nil {
		return syscall.Errno(errno)
	}
	return nil
}

func (s *starting) close() {
	for _, f := range []*os.File{s.handed.r, s.handed.w, s.failed.r, s.failed.w} {
		if f != nil {
			f.Close()
		}
	}
}

// self is this program's file, also after another version was installed in its place.
func self(env call.Env) (string, error) {
	const running = "/proc/self/exe"
	if _, err := os.Stat(running); err == nil {
		return running, nil
	}
	return env.Executable()
}
