package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A gorun is one `go test` that runs, in a process group of its own with the tests
// that it starts.
type gorun struct {
	request request
	cmd     *exec.Cmd
	events  io.ReadCloser
}

// A request is what one `go test` is to run, and how.
type request struct {
	env      []string // NAME=VALUE, beside the environment that all have
	flags    []string
	packages []string
}

// parse reads a request: NAME=VALUE for its environment, then flags, each one argument,
// and packages.
func parse(args []string) request {
	var r request
	for _, arg := range args {
		switch {
		case strings.HasPrefix(arg, "-"):
			r.flags = append(r.flags, arg)
		case len(r.flags)+len(r.packages) == 0 && strings.Contains(arg, "="):
			r.env = append(r.env, arg)
		default:
			r.packages = append(r.packages, arg)
		}
	}
	return r
}

// alone is one test of it, with those of its subtests that failed and nothing beside it.
func (r request) alone(f *failure) request {
	run := "^" + regexp.QuoteMeta(f.test) + "$"
	if len(f.subtests) > 0 {
		names := make([]string, len(f.subtests))
		for i, name := range f.subtests {
			names[i] = regexp.QuoteMeta(name)
		}
		run += "/^(" + strings.Join(names, "|") + ")$"
	}
	flags := append(slices.Clone(r.flags), "-p=1", "-parallel=1", "-run="+run)
	return request{env: r.env, flags: flags, packages: []string{f.pkg}}
}

func (r request) start() (*gorun, error) {
	events, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	cmd := exec.Command("go", slices.Concat([]string{"test", "-json"}, r.flags, r.packages)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), r.env...), w, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return &gorun{r, cmd, events}, cmd.Start()
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
		failed, readErr = tally.read(t.events, t.request)
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
