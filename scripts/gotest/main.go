// Command gotest runs `go test -json` with its arguments and counts truly what
// ran: it shows each package's closing line, what failed with its output, what
// was skipped and why, and at the very end "N passed, N failed". It runs tests
// and judges none; its exit code is non-zero if anything failed. Where "--" is among
// the arguments, what follows is for another `go test`, run beside the first and
// counted with it; NAME=VALUE at the beginning is for the environment of one alone. Where SIGTERM or Ctrl-C ends it, it has tests that hang show where
// they are, names them, and counts them as failed.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"
)

func main() {
	cut := make(chan os.Signal, 1)
	signal.Notify(cut, os.Interrupt, syscall.SIGTERM)
	code, err := run(os.Args[1:], os.Stdout, cut)
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
		code = 1
	}
	os.Exit(code)
}

// lastWords is how long tests that are cut off have to show where they are.
const lastWords = 30 * time.Second

// run reports on out, and ends early when cut says so; the error is one of running go,
// not of a test.
func run(args []string, out io.Writer, cut <-chan os.Signal) (int, error) {
	return count(newTally(out), args, cut)
}

// count runs tests, and counts them in a tally that was not used yet.
func count(tally *tally, args []string, cut <-chan os.Signal) (int, error) {
	var runs []*gorun
	var startErr error
	for rest := args; rest != nil && startErr == nil; {
		now := rest
		rest = nil
		if at := slices.Index(now, "--"); at >= 0 {
			now, rest = now[:at], now[at+1:]
		}
		var t *gorun
		if t, startErr = start(now); startErr == nil {
			runs = append(runs, t)
		}
	}
	errs := make([]error, len(runs))
	var all sync.WaitGroup
	for i, t := range runs {
		all.Go(func() { errs[i] = t.count(tally) })
	}
	ended := make(chan struct{})
	go func() {
		all.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-cut:
		tally.cutOff(time.Now())
		for _, t := range runs {
			t.signal(syscall.SIGQUIT)
		}
		select {
		case <-ended:
		case <-time.After(lastWords):
			for _, t := range runs {
				t.signal(syscall.SIGKILL)
			}
			<-ended
		}
	}
	failed := tally.close()
	if err := errors.Join(append(errs, startErr)...); err != nil || failed > 0 {
		return 1, err
	}
	return 0, nil
}
