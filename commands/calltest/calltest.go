// Package calltest gives tests the world of a command: streams that are read afterwards, a
// directory of its own for the home, and the Service that the test hands in.
package calltest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// Bench is the world of commands that run in a test's process.
type Bench struct {
	Env            call.Env
	Stdout, Stderr bytes.Buffer
	Signals        chan<- os.Signal // where the last command that hears an interrupt is told of it
	Closed         int              // how often a Service was closed
}

type closing struct{ n *int }

func (c closing) Close() error { *c.n++; return nil }

// New is a world without terminal and without other programs.
func New(t *testing.T, svc missions.Service) *Bench {
	t.Helper()
	b := &Bench{}
	home := t.TempDir()
	vars := map[string]string{"HOME": home, "UMBRA_HOME": home + "/umbra", "PATH": "/nowhere"}
	b.Env = call.Env{
		Streams: call.Streams{
			Stdin: strings.NewReader(""), Stdout: &b.Stdout, Stderr: &b.Stderr,
			IsTerminal: func(any) bool { return false }, Width: func() int { return 80 }, Height: func() int { return 24 },
		},
		Now:    now,
		Getenv: func(name string) string { return vars[name] }, Environ: func() []string { return nil },
		Getwd: func() (string, error) { return "/work", nil }, Executable: func() (string, error) { return "/usr/bin/umbra", nil },
		Run: func(*exec.Cmd) error { return errors.New("no program is run here") },
		Notify: func(ch chan<- os.Signal, signals ...os.Signal) {
			if slices.Contains(signals, os.Interrupt) {
				b.Signals = ch
			}
		},
		Unnotify: func(chan<- os.Signal) {},
		Connect: func(context.Context, call.Env, call.Globals) (missions.Service, io.Closer, error) {
			return svc, closing{&b.Closed}, nil
		},
	}
	return b
}

// now is the time in a Bench.
func now() time.Time { return time.Date(2026, 1, 31, 16, 40, 0, 0, time.UTC) }

// Printed is what fn prints at a width, on a terminal without colour; 0 is no terminal.
func Printed(width int, fn func(*print.Printer)) string {
	var b bytes.Buffer
	p := print.To(&b)
	p.Terminal, p.Width, p.Now = width > 0, width, now()
	fn(p)
	_ = p.Flush() // a Buffer takes all
	return b.String()
}

// Must ends a test that could not be prepared.
func Must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
