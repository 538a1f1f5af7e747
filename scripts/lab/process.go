package lab

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// A Cost is what one process, or several one after the other, took.
type Cost struct {
	Wall time.Duration // from before its start until it was reaped
	CPU  time.Duration // user and system, of its children too
	Peak int64         // resident memory at most, in bytes; the largest process
}

// plus is the cost of one process after the other.
func (c Cost) plus(d Cost) Cost {
	return Cost{Wall: c.Wall + d.Wall, CPU: c.CPU + d.CPU, Peak: max(c.Peak, d.Peak)}
}

// A Command is a process to run to its end.
type Command struct {
	Args  []string // the program and its arguments
	Dir   string
	Env   []string // the whole environment
	Stdin []byte
}

// Run runs it, and returns what it cost and its standard output. A process that
// fails is an error that says what it wrote.
func (c Command) Run(ctx context.Context) (Cost, []byte, error) {
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if c.Stdin != nil {
		cmd.Stdin = bytes.NewReader(c.Stdin)
	}
	began := time.Now()
	err := cmd.Run()
	cost := Cost{Wall: time.Since(began)}
	if state := cmd.ProcessState; state != nil {
		cost.CPU = state.UserTime() + state.SystemTime()
		cost.Peak = peakOf(state.SysUsage())
	}
	if err != nil {
		said := strings.TrimSpace(errs.String() + out.String())
		return cost, nil, fmt.Errorf("%s: %w: %s", strings.Join(c.Args, " "), err, said)
	}
	return cost, out.Bytes(), nil
}

// peakOf is the peak of a process's memory in bytes. Linux counts in KiB.
func peakOf(usage any) int64 {
	r, ok := usage.(*syscall.Rusage)
	switch {
	case !ok:
		return 0
	case runtime.GOOS == "linux":
		return int64(r.Maxrss) << 10
	}
	return int64(r.Maxrss)
}
