package call

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A server is a Service that this process serves to others. It stops the process, or
// with pid 0 its group, without leaving anybody waiting.
type server interface {
	Stop(pid int, sig syscall.Signal)
}

// stops are the Ctrl-Zs that a command without an agent on its terminal takes.
type stops struct {
	env     Env
	signals chan os.Signal
	done    chan struct{}
	heeded  bool
}

// HoldStops keeps a Ctrl-Z for HeedStops: a process that is stopped while it
// begins to serve would leave everybody waiting for the home that it holds.
func (c *Call) HoldStops() {
	if c.stops == nil {
		c.stops = &stops{env: c.Env, signals: make(chan os.Signal, 1), done: make(chan struct{})}
		c.Notify(c.stops.signals, syscall.SIGTSTP)
	}
}

// HeedStops lets a Ctrl-Z stop a command that stays, where the terminal is not
// its agent's alone, but not before it serves nobody. Only the connection of
// now is looked at: close ends it.
func (c *Call) HeedStops() {
	c.HoldStops()
	if c.stops.heeded {
		return
	}
	c.stops.heeded = true
	stop := StopProcess
	if s, ok := c.closer.(server); ok {
		stop = s.Stop
	}
	go c.stops.heed(stop)
}

func (s *stops) end() {
	s.env.Unnotify(s.signals)
	close(s.done)
}

func (s *stops) heed(stop func(int, syscall.Signal)) {
	for {
		select {
		case <-s.done:
			return
		case <-s.signals:
			// Where nobody could make it go on, it goes on. A program in Go that
			// has heard a SIGTSTP is never again stopped by one.
			if continuable() {
				stop(os.Getpid(), syscall.SIGSTOP)
			}
			select {
			case <-s.signals: // typed again before it was stopped
			default:
			}
		}
	}
}

// continuable reports whether this process has a shell that would make it go on:
// a parent in its session that is not in its group.
func continuable() bool {
	parent := os.Getppid()
	session, err := unix.Getsid(parent)
	own, ownErr := unix.Getsid(0)
	group, groupErr := unix.Getpgid(parent)
	return err == nil && ownErr == nil && groupErr == nil && session == own && group != unix.Getpgrp()
}

// StopGroup stops the process's group as Ctrl-Z does.
func (c *Call) StopGroup() {
	if s, ok := c.closer.(server); ok {
		s.Stop(0, syscall.SIGTSTP)
		return
	}
	StopProcess(0, syscall.SIGTSTP)
}

// StopProcess stops the process with the pid, 0 for this one's group, and
// returns when it goes on. A group that nobody could continue is not stopped by
// a SIGTSTP (POSIX, orphaned process groups): then it goes on at once.
func StopProcess(pid int, sig syscall.Signal) {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	_ = syscall.Kill(pid, sig)
	select {
	case <-continued:
	case <-time.After(100 * time.Millisecond):
	}
}
