package forks

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/calltest"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// opening is a launch.open that runs for a fork.
type opening struct {
	missions.Service
	t    *testing.T
	b    *calltest.Bench
	fork missions.Mission
	wait func(context.Context) error // until the fork has its agent
}

// newOpening is of a command that runs in the fork's workspace. What it leaves running, it
// names in the file "pid".
func newOpening(t *testing.T, command, most string) *opening {
	t.Helper()
	o := &opening{t: t, fork: missions.Mission{ID: "the-id", Name: "try", Workspace: t.TempDir()}, wait: noAgent}
	o.b = calltest.New(t, o)
	getenv := o.b.Env.Getenv
	o.b.Env.Getenv = func(name string) string {
		switch name {
		case "UMBRA_LAUNCH_OPEN":
			return command
		case "UMBRA_HOOKS_MAX_WAIT":
			return most
		}
		return getenv(name)
	}
	return o
}

func noAgent(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func (o *opening) Wait(ctx context.Context, r missions.WaitRequest) ([]missions.Mission, error) {
	if len(r.Missions) != 1 || r.Missions[0] != o.fork.ID {
		o.t.Errorf("%q are waited for", r.Missions)
	}
	return nil, o.wait(ctx)
}

// open opens a terminal, and fails the test if that does not end.
func (o *opening) open() (opened bool, err error) {
	o.t.Helper()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c := &call.Call{Env: o.b.Env}
		err = c.Do(func(c *call.Call) (err error) {
			opened, err = Open(c, []missions.Mission{o.fork})
			return err
		})
	}()
	select {
	case <-ended:
	case <-time.After(patience.Of(time.Minute)):
		o.t.Fatal("the terminal is waited for")
	}
	return opened, err
}

// left is the process that the command leaves running.
func (o *opening) left() (pid int) {
	if !patience.Until(time.Minute, func() bool {
		text, _ := os.ReadFile(filepath.Join(o.fork.Workspace, "pid"))
		line, _, whole := strings.Cut(string(text), "\n")
		pid, _ = strconv.Atoi(line)
		return whole && pid > 0
	}) {
		o.t.Error("the command has not begun")
	}
	return pid
}

// livesApart: the process is there, and no signal to the caller's group reaches it.
func (o *opening) livesApart() {
	o.t.Helper()
	pid := o.left()
	group, err := syscall.Getpgid(pid)
	if err != nil || group == syscall.Getpgrp() {
		o.t.Errorf("process %d is in group %d of the caller's %d, %v", pid, group, syscall.Getpgrp(), err)
	}
}

// endsLater ends what the command leaves running when the test has ended.
func (o *opening) endsLater() {
	o.t.Cleanup(func() {
		if pid := o.left(); pid > 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
}

// Commands that leave a process running, which has what they inherited.
const (
	inForeground = "echo $$ >pid; exec sleep 100000"
	inBackground = "sleep 100000 & echo $! >pid"
	anHour       = "1h"
)

// TestOpenInForeground: a terminal emulator that ends with its terminal is waited for until the
// fork's agent is there.
func TestOpenInForeground(t *testing.T) {
	t.Parallel()
	o := newOpening(t, inForeground, anHour)
	o.endsLater()
	o.wait = func(context.Context) error { _ = o.left(); return nil }
	if opened, err := o.open(); !opened || err != nil || o.b.Stderr.Len() > 0 {
		t.Errorf("%t, %v, and it says %q", opened, err, &o.b.Stderr)
	}
	o.livesApart()
}

// TestOpenInBackground: what a command leaves running keeps no stream of the caller's.
func TestOpenInBackground(t *testing.T) {
	t.Parallel()
	o := newOpening(t, inBackground, anHour)
	o.endsLater()
	if opened, err := o.open(); !opened || err != nil || o.b.Stderr.Len() > 0 {
		t.Errorf("%t, %v, and it says %q", opened, err, &o.b.Stderr)
	}
	o.livesApart()
}

// TestOpenFails: why a command has failed is in the error.
func TestOpenFails(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"echo no display; echo ' at all' >&2; exit 7": "launch.open for try: exit status 7: no display at all",
		"exit 7":                       "launch.open for try: exit status 7",
		"[ {id} != the-id ] || exit 4": "launch.open for try: exit status 4",
		"read x || exit 3":             "launch.open for try: exit status 3", // there is nothing to read
	} {
		opened, err := newOpening(t, command, anHour).open()
		if e := missions.AsError(err); !opened || err == nil || e.Message != want || e.Hint != "umbra mission resume try launches it by hand" {
			t.Errorf("%s: %t, %v", command, opened, err)
		}
	}
}

// TestOpenWithoutAgent: a terminal in which no agent begins is left alone after hooks.max_wait.
func TestOpenWithoutAgent(t *testing.T) {
	t.Parallel()
	o := newOpening(t, inForeground, "1ms")
	o.endsLater()
	const note = "note: launch.open still runs for try, and no agent has begun there: umbra mission resume try launches it by hand\n"
	if opened, err := o.open(); !opened || err != nil || o.b.Stderr.String() != note {
		t.Errorf("%t, %v, and it says %q", opened, err, &o.b.Stderr)
	}
	o.livesApart()
}

// TestOpenInterrupted: a terminal lives on when the command that has opened it is interrupted.
func TestOpenInterrupted(t *testing.T) {
	t.Parallel()
	o := newOpening(t, inForeground, anHour)
	o.endsLater()
	o.wait = func(ctx context.Context) error {
		_ = o.left()
		o.b.Signals <- os.Interrupt
		return noAgent(ctx)
	}
	if opened, err := o.open(); !opened || missions.AsError(err).Kind != missions.KindInterrupted {
		t.Errorf("%t, %v", opened, err)
	}
	o.livesApart()
}
