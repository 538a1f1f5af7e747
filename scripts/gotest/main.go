// Command gotest runs `go test -json` with its arguments and counts truly what
// ran: it shows each package's closing line, what failed with its output, what
// was skipped and why, and at the very end "N passed, N failed". It runs tests
// and judges none; its exit code is non-zero if anything failed.
//
// Arguments are NAME=VALUE for the environment, flags, each with its value in one
// argument, and packages. Where "--" is among them, what follows is for another
// `go test`, run beside the first and counted with it.
//
// Up to three tests that failed are run again when all others have ended, alone, and of
// their subtests those that failed. One that passes then is shown as unsteady, with what it
// said when it failed, and counts as passed: a machine was slow, and that is no fault of
// what is tested, though it is one of the test. What failed in another way is never run again:
// a data race, a panic, a package that does not build, a test that failed beside its subtests.
//
// Where SIGTERM or Ctrl-C ends it, it has tests that hang show where they are, names
// them, and counts them as failed.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
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

// mostAgain is how many tests that failed are run again: more fail for a reason.
const mostAgain = 3

// count runs tests, and counts them in a tally that was not used yet.
func count(tally *tally, args []string, cut <-chan os.Signal) (int, error) {
	var requests []request
	for rest := args; rest != nil; {
		now := rest
		rest = nil
		if at := slices.Index(now, "--"); at >= 0 {
			now, rest = now[:at], now[at+1:]
		}
		requests = append(requests, parse(now))
	}
	var all runs
	ended := make(chan error, 1)
	go func() {
		err := all.run(tally, requests)
		for _, f := range tally.unlucky(mostAgain) {
			err = errors.Join(err, all.again(tally, f))
		}
		ended <- err
	}()
	var err error
	select {
	case err = <-ended:
	case <-cut:
		tally.cutOff(time.Now())
		all.end(syscall.SIGQUIT)
		select {
		case err = <-ended:
		case <-time.After(lastWords):
			all.end(syscall.SIGKILL)
			err = <-ended
		}
	}
	if failed := tally.close(); err != nil || failed > 0 {
		return 1, err
	}
	return 0, nil
}

// runs are all that runs. Its methods may be called from any goroutine.
type runs struct {
	mu    sync.Mutex
	now   []*gorun
	ended bool
}

// run runs requests beside each other, and counts them in a tally.
func (r *runs) run(tally *tally, requests []request) error {
	var wait sync.WaitGroup
	errs := make([]error, len(requests))
	for i, request := range requests {
		t, err := r.start(request)
		if err != nil {
			errs[i] = err
			break
		}
		wait.Go(func() { errs[i] = t.count(tally) })
	}
	wait.Wait()
	return errors.Join(errs...)
}

func (r *runs) start(request request) (*gorun, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return nil, errors.New("cut off")
	}
	t, err := request.start()
	if err == nil {
		r.now = append(r.now, t)
	}
	return t, err
}

// end sends all a signal, and lets no other begin.
func (r *runs) end(s syscall.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	for _, t := range r.now {
		t.signal(s)
	}
}

// again runs a test that failed once more, alone, and forgives it if it passes.
func (r *runs) again(tally *tally, f *failure) error {
	var said strings.Builder
	alone := newTally(&said)
	if err := r.run(alone, []request{f.of.alone(f)}); err != nil {
		return err
	}
	if alone.close() == 0 && alone.redeems(f) {
		tally.forgive(f)
		return nil
	}
	tally.say("alone\t" + f.pkg + " " + f.test + " fails too\n" + said.String())
	return nil
}
