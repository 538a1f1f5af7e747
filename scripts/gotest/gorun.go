package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// A gorun is one `go test` that runs, in a process group of its own with the tests
// that it starts.
type gorun struct {
	cmd    *exec.Cmd
	events io.ReadCloser
}

// start starts one with those arguments, the first of which may be NAME=VALUE for its
// environment.
func start(args []string) (*gorun, error) {
	env := os.Environ()
	for len(args) > 0 && !strings.HasPrefix(args[0], "-") && strings.Contains(args[0], "=") {
		env, args = append(env, args[0]), args[1:]
	}
	events, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, w, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return &gorun{cmd, events}, cmd.Start()
}

// signal sends a signal to go and to the tests that it has started.
func (t *gorun) signal(s syscall.Signal) { _ = syscall.Kill(-t.cmd.Process.Pid, s) }

// count counts what it runs, until its end. If it fails without a test that failed, that
// counts as one.
func (t *gorun) count(tally *tally) error {
	var failed bool
	var readErr error
	read := make(chan struct{})
	go func() {
		defer close(read)
		failed, readErr = tally.read(t.events)
	}()
	waitErr := t.cmd.Wait()
	select {
	case <-read:
	case <-time.After(time.Minute): // what a test has left behind holds its output
	}
	t.events.Close()
	<-read
	if readErr != nil && !errors.Is(readErr, os.ErrClosed) {
		return fmt.Errorf("read test events: %w", readErr)
	}
	if waitErr != nil && !failed {
		tally.lost(waitErr)
	}
	return nil
}
