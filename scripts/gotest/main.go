// Command gotest runs `go test -json` with its arguments and counts truly what
// ran: it shows each package's closing line, what failed with its output, what
// was skipped and why, and at the very end "N passed, N failed". It runs tests
// and judges none; its exit code is non-zero if anything failed.
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
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
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return 1, err
	}
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	tally := newTally(out)
	readErr := tally.read(events)
	waitErr := cmd.Wait()
	if readErr != nil {
		return 1, fmt.Errorf("read test events: %w", readErr)
	}
	if waitErr != nil && tally.failed == 0 {
		tally.failed++
		fmt.Fprintf(out, "FAIL\tgo test: %v, though no test failed\n", waitErr)
	}
	tally.close()
	if tally.failed > 0 {
		return 1, nil
	}
	return 0, nil
}
