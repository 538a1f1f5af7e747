package commands

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/watcher/client"
	"github.com/umbra-vcs/umbra/watcher/daemon"
)

// stayed is the Service of a command that stays, and that serves the home
// itself while nobody else does.
type stayed struct {
	closers
	staying *daemon.Staying
}

// stay serves the home from this process, unless another one does, and gives
// the Service of whoever it is.
func stay(ctx context.Context, env Env, o client.Options) (missions.Service, *stayed, error) {
	s := &stayed{}
	s.staying = daemon.Stay(daemon.Options{Home: o.Home, Version: o.Version, Command: "an umbra command that stays", Getenv: env.Getenv, Clock: env.Now, Automate: env.starter()})
	select {
	case <-s.staying.Settled():
	case <-ctx.Done():
	}
	o.Start, o.Timeout = nil, daemonPatience
	served, err := client.Connect(ctx, o)
	if err != nil {
		_ = s.staying.Close() // why nobody serves is said already
		return nil, nil, err
	}
	s.closers = closers{served, s.staying}
	return served, s, nil
}

// stops are the Ctrl-Zs that a command without an agent on its terminal takes.
type stops struct {
	env     Env
	signals chan os.Signal
	done    chan struct{}
	heeded  bool
}

// holdStops keeps a Ctrl-Z for heedStops: a process that is stopped while it
// begins to serve would leave everybody waiting for the home that it holds.
func (c *call) holdStops() {
	if c.stops == nil {
		c.stops = &stops{env: c.Env, signals: make(chan os.Signal, 1), done: make(chan struct{})}
		c.Notify(c.stops.signals, syscall.SIGTSTP)
	}
}

// heedStops lets a Ctrl-Z stop a command that stays, where the terminal is not
// its agent's alone, but not before it serves nobody. Only the connection of
// now is looked at: close ends it.
func (c *call) heedStops() {
	c.holdStops()
	if c.stops.heeded {
		return
	}
	c.stops.heeded = true
	stop := stopProcess
	if s, ok := c.closer.(*stayed); ok {
		stop = s.stop
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

// stop stops the process, or with pid 0 its group, by a signal, and returns when
// it goes on. Nobody is left waiting for a home that a stopped process holds.
func (s *stayed) stop(pid int, sig syscall.Signal) {
	resume, _ := s.staying.Pause() // what went wrong is in the log
	stopProcess(pid, sig)
	resume()
}

// stopGroup stops the process's group as Ctrl-Z does.
func (c *call) stopGroup() {
	if s, ok := c.closer.(*stayed); ok {
		s.stop(0, syscall.SIGTSTP)
		return
	}
	stopProcess(0, syscall.SIGTSTP)
}

// stopProcess stops the process with the pid, 0 for this one's group, and
// returns when it goes on. A group that nobody could continue is not stopped by
// a SIGTSTP (POSIX, orphaned process groups): then it goes on at once.
func stopProcess(pid int, sig syscall.Signal) {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	_ = syscall.Kill(pid, sig)
	select {
	case <-continued:
	case <-time.After(100 * time.Millisecond):
	}
}
