//go:build unix

package keeper

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/missions/agents"
)

// agent is a child that has the terminal. Where stdin is a terminal it is in a
// process group of its own, in the foreground: Ctrl-C and Ctrl-Z reach it and
// not its keeper, as a shell has it (glibc manual, "Implementing a Shell"). One that answers
// without any terminal has a group of its own where its keeper is alone in its session, so
// that nobody who stops or kills the keeper's group means the agent.
type agent struct {
	cmd     *exec.Cmd
	env     call.Env
	start   *starting     // nil without a terminal
	stop    func()        // stops the keeper's group
	tty     int           // the terminal, or -1
	saved   *unix.Termios // its modes before the agent
	signals chan os.Signal
	behind  chan struct{} // it goes on in the background
	done    chan struct{}

	wasIdle atomic.Bool // its keeper ended it because nobody was at it

	mu      sync.Mutex
	own     *unix.Termios // the agent's modes while it is stopped
	stopped bool          // the keeper stops with it, and sees to its going on
	clean   bool          // its terminal was put back
	leaving bool          // its keeper was told to end
}

// startAgent starts the program. The caller waits for it, and may learn only
// then that it could not be started.
func startAgent(env call.Env, stop func(), program string, argv []string, dir string, vars []string, headless bool) (*agent, error) {
	a := &agent{env: env, stop: stop, tty: -1, signals: make(chan os.Signal, 8), behind: make(chan struct{}, 1), done: make(chan struct{})}
	a.cmd = &exec.Cmd{Path: program, Args: argv, Dir: dir, Env: vars, Stdin: env.Stdin, Stdout: env.Stdout, Stderr: env.Stderr}
	if f, ok := env.Stdin.(*os.File); ok && env.IsTerminal(f) && inForeground(int(f.Fd())) {
		if err := a.takeTerminal(int(f.Fd())); err != nil {
			return nil, err
		}
	}
	if a.tty < 0 && headless && leadsSession() && !hasTerminal() {
		a.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	}
	// Without these the keeper would die of what is meant for the agent.
	env.Notify(a.signals, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGCONT)
	if err := a.cmd.Start(); err != nil {
		env.Unnotify(a.signals)
		if a.start != nil {
			a.start.close()
		}
		return nil, plainStart(err)
	}
	if a.start != nil {
		_ = setForeground(a.tty, a.pid())
		a.start.release()
	}
	return a, nil
}

// takeTerminal makes the program one that waits for the terminal.
func (a *agent) takeTerminal(tty int) error {
	self, err := self(a.env)
	if err != nil {
		return err
	}
	if a.start, err = newStarting(); err != nil {
		return err
	}
	first, err := a.start.args()
	if err != nil {
		a.start.close()
		return err
	}
	a.tty = tty
	a.saved, _ = unix.IoctlGetTermios(tty, termiosGet) // nil: nothing to put back
	a.cmd.Path, a.cmd.Args = self, append(append(first, a.cmd.Path), a.cmd.Args...)
	a.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return nil
}

// plainStart leaves out what the user has not asked for: the system call.
func plainStart(err error) error {
	if perr, ok := errors.AsType[*os.PathError](err); ok {
		return perr.Err
	}
	return err
}

func (a *agent) pid() int { return a.cmd.Process.Pid }

// isLeaving reports whether the keeper was told to end itself, or its terminal is gone.
func (a *agent) isLeaving() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.leaving || a.tty >= 0 && foreground(a.tty) < 0
}

// end ends the agent as umbra mission stop does, and returns when it has ended. The pid of
// an agent that was waited for may be another process.
func (a *agent) end() {
	select {
	case <-a.done:
		return
	default:
	}
	_ = syscall.Kill(a.pid(), syscall.SIGTERM) // it may have ended
	select {
	case <-a.done:
	case <-time.After(agents.StopPatience):
		_ = syscall.Kill(a.pid(), syscall.SIGKILL)
	}
}

// wait returns when the agent has ended, with its exit code: 128 and the
// signal's number for one that was killed. The error says why it was never
// started.
func (a *agent) wait() (int, error) {
	go a.passOn()
	defer func() {
		close(a.done)
		a.env.Unnotify(a.signals)
		if a.start != nil {
			a.start.close()
		}
	}()
	for {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(a.pid(), &status, syscall.WUNTRACED, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 0, err
		case status.Stopped() && a.wasBroughtBack(status.StopSignal()):
			a.mu.Lock()
			a.handOver()
			a.mu.Unlock()
		case status.Stopped():
			a.stopToo()
		case status.Signaled():
			if status.Signal() == syscall.SIGKILL {
				a.endRest()
			}
			a.takeBack(true)
			return 128 + int(status.Signal()), nil
		case status.Exited():
			a.takeBack(false)
			if a.start != nil {
				err = a.start.failure()
			}
			return status.ExitStatus(), err
		}
	}
}

// endRest ends what is left of an agent that was waited for, and could not pass on the signal
// that ended it: the program of which a script was the start, as npm's of Codex is. What an
// agent leaves behind at any other signal (nohup) is its user's.
func (a *agent) endRest() {
	if !a.hasGroup() {
		return
	}
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if !a.hasRest() {
			return
		}
		_ = syscall.Kill(-a.pid(), signal)
		_ = syscall.Kill(-a.pid(), syscall.SIGCONT)
		for deadline := time.Now().Add(agents.StopPatience); signal == syscall.SIGTERM && a.hasRest() && time.Now().Before(deadline); {
			time.Sleep(restInterval)
		}
	}
}

// restInterval is between looks at what is left of an agent.
const restInterval = 10 * time.Millisecond

// hasRest reports whether processes of the group of an agent that was waited for live. While
// one does, the group's id is given to no process: where there is such a process, the group is
// another one.
func (a *agent) hasRest() bool {
	return syscall.Kill(a.pid(), 0) == syscall.ESRCH && syscall.Kill(-a.pid(), 0) == nil
}

// hasGroup reports whether the agent was started in a process group of its own.
func (a *agent) hasGroup() bool { return a.cmd.SysProcAttr != nil && a.cmd.SysProcAttr.Setpgid }

// lookForward is how often an agent in the background is looked after: a shell may
// bring its keeper to the foreground without a word, as bash does with a job that
// runs.
const lookForward = 100 * time.Millisecond

// passOn gives the agent the signals that were sent to its keeper, and the
// terminal when the shell has brought the keeper to the foreground.
func (a *agent) passOn() {
	var look <-chan time.Time // nil while nothing is to be looked for
	for {
		select {
		case <-a.done:
			return
		case <-a.behind:
			look = time.After(lookForward)
		case <-look:
			if look = nil; !a.comeForward() {
				look = time.After(lookForward)
			}
		case sig := <-a.signals:
			s, _ := sig.(syscall.Signal)
			switch {
			case (s == syscall.SIGINT || s == syscall.SIGQUIT) && (a.tty >= 0 || !a.hasGroup()): // the terminal sent them to the agent as well
			case s == syscall.SIGCONT:
				if a.tty >= 0 {
					a.comeForward()
				}
			default:
				a.mu.Lock()
				a.leaving = true
				a.mu.Unlock()
				_ = syscall.Kill(a.pid(), s) // it may have ended
				_ = syscall.Kill(a.pid(), syscall.SIGCONT)
			}
		}
	}
}

// wasBroughtBack reports whether an agent that stopped because it used the
// terminal from the background need not stop its keeper: the shell has brought
// the keeper to the foreground meanwhile.
func (a *agent) wasBroughtBack(sig syscall.Signal) bool {
	if sig != syscall.SIGTTIN && sig != syscall.SIGTTOU || a.tty < 0 {
		return false
	}
	fg := foreground(a.tty)
	return fg == a.pid() || fg == unix.Getpgrp()
}

// comeForward gives the agent the terminal that the shell has given its keeper. It
// reports false while the shell has not. While the keeper stops, stopToo sees to it.
func (a *agent) comeForward() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stopped {
		return true
	}
	if !inForeground(a.tty) {
		return false
	}
	a.handOver()
	return true
}

// handOver lets the agent go on, in the terminal's foreground. In this order,
// as shells do it: one that went on first could be stopped again by reading. The
// caller holds the lock.
func (a *agent) handOver() {
	if a.own != nil {
		_ = setModes(a.tty, a.own)
		a.own = nil
	}
	_ = setForeground(a.tty, a.pid())
	_ = syscall.Kill(-a.pid(), syscall.SIGCONT)
}

// stopToo stops the keeper as the agent has stopped, so that the user's shell
// has its terminal again, and goes on when the shell says so.
func (a *agent) stopToo() {
	if a.tty < 0 {
		// The agent is in the keeper's process group, and what stopped it has stopped the
		// keeper too; or the keeper is alone in its session, and no shell waits for it.
		return
	}
	a.giveBack()
	a.stop()
	a.mu.Lock()
	a.stopped = false // before it is looked: of what the shell does then, passOn hears
	a.mu.Unlock()
	if a.comeForward() {
		return
	}
	_ = syscall.Kill(-a.pid(), syscall.SIGCONT)
	select {
	case a.behind <- struct{}{}:
	default:
	}
}

// giveBack gives the terminal of an agent that has stopped to the keeper, which is
// about to.
func (a *agent) giveBack() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stopped = true
	if foreground(a.tty) != a.pid() {
		return
	}
	a.own, _ = unix.IoctlGetTermios(a.tty, termiosGet)
	_ = setForeground(a.tty, unix.Getpgrp())
	if a.saved != nil {
		_ = setModes(a.tty, a.saved)
	}
}

// takeBack takes the terminal back from an agent that has ended, and puts its
// modes back if the agent was killed and could not.
func (a *agent) takeBack(killed bool) {
	if a.tty < 0 {
		return
	}
	if fg := foreground(a.tty); fg == a.pid() || fg > 0 && syscall.Kill(-fg, 0) == syscall.ESRCH {
		_ = setForeground(a.tty, unix.Getpgrp())
	}
	if killed {
		a.reset()
	}
}

// reset puts the terminal's modes back, and the terminal into a state in which a
// line can be read: the agent was ended, whether or not it has cleaned up. No agent was
// started where it is nil.
func (a *agent) reset() {
	if a == nil || a.tty < 0 || a.clean {
		return
	}
	a.clean = true
	if a.saved != nil {
		_ = setModes(a.tty, a.saved)
	}
	if a.env.IsTerminal(a.env.Stdout) {
		_, _ = a.env.Stdout.Write([]byte(sane))
	}
}

// typedAt is when something was read from the agent's terminal last, which is what its user
// has typed: the kernel notes it to some seconds. It is zero without a terminal.
func (a *agent) typedAt() time.Time {
	var stat unix.Stat_t
	if a.tty < 0 || unix.Fstat(a.tty, &stat) != nil {
		return time.Time{}
	}
	return time.Unix(stat.Atim.Unix())
}

// ring rings the bell of the agent's terminal, which changes nothing on its screen.
func (a *agent) ring() {
	if a.tty < 0 || !a.env.IsTerminal(a.env.Stdout) {
		return
	}
	signal.Ignore(syscall.SIGTTOU)
	defer signal.Reset(syscall.SIGTTOU)
	_, _ = a.env.Stdout.Write([]byte("\a"))
}

// sane takes a terminal out of what a killed full-screen program leaves: the
// other screen, mouse reports, bracketed paste, keyboard modes, a hidden cursor,
// and below the cursor the rest of its last picture.
const sane = "\x1b[?1047l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[<u\x1b[?25h\x1b[0m\x1b[J"

// leadsSession reports whether this process began a session.
func leadsSession() bool {
	session, err := unix.Getsid(0)
	return err == nil && session == os.Getpid()
}

// hasTerminal reports whether this process has a controlling terminal.
func hasTerminal() bool {
	f, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	_ = f.Close()
	return true
}

// foreground is the process group in the terminal's foreground, or -1.
func foreground(tty int) int {
	pgrp, err := unix.IoctlGetInt(tty, unix.TIOCGPGRP)
	if err != nil {
		return -1
	}
	return pgrp
}

func inForeground(tty int) bool { return foreground(tty) == unix.Getpgrp() }

// setForeground and setModes may be called from the background, where the
// terminal would stop their caller if it did not ignore that.
func setForeground(tty, pgrp int) error {
	signal.Ignore(syscall.SIGTTOU)
	defer signal.Reset(syscall.SIGTTOU)
	return unix.IoctlSetPointerInt(tty, unix.TIOCSPGRP, pgrp)
}

func setModes(tty int, modes *unix.Termios) error {
	signal.Ignore(syscall.SIGTTOU)
	defer signal.Reset(syscall.SIGTTOU)
	return unix.IoctlSetTermios(tty, termiosSetDrain, modes)
}
