// Command gotest runs `go test -json` with its arguments and counts truly what
// ran: it shows each package's closing line, what failed with its output, what
// was skipped and why, and at the very end "N passed, N failed". It runs tests
// and judges none; its exit code is non-zero if anything failed. Where "--" is among
// the arguments, what follows is for another `go test`, run after the first and
// counted with it.
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
)

func main() {
	code, err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
		code = 1
	}
	os.Exit(code)
}

// run reports on out; the error is one of running go, not of a test.
func run(args []string, out io.Writer) (int, error) {
	tally := newTally(out)
	for rest := args; rest != nil; {
		now := rest
		rest = nil
		if at := slices.Index(now, "--"); at >= 0 {
			now, rest = now[:at], now[at+1:]
		}
		if err := tally.run(now); err != nil {
			tally.close()
			return 1, err
		}
	}
	tally.close()
	if tally.failed > 0 {
		return 1, nil
	}
	return 0, nil
}

// run counts what one `go test` with these arguments runs.
func (t *tally) run(args []string) error {
	before := t.failed
	clear(t.failing) // a package may be tested again
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	readErr := t.read(events)
	waitErr := cmd.Wait()
	if readErr != nil {
		return fmt.Errorf("read test events: %w", readErr)
	}
	if waitErr != nil && t.failed == before {
		t.failed++
		fmt.Fprintf(t.out, "FAIL\tgo test: %v, though no test failed\n", waitErr)
	}
	return nil
}
