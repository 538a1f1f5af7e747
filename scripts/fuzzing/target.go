package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A target is a fuzz test.
type target struct {
	pkg  string // its directory below the top of the source
	name string
}

func (t target) String() string { return t.pkg + " " + t.name }

var declared = regexp.MustCompile(`^(.+)/[^/]+:func (Fuzz[A-Za-z0-9_]+)\(`)

// targets finds all that are in the source here.
func targets(ctx context.Context) ([]target, error) {
	out, err := exec.CommandContext(ctx, "git", "grep", "-E", `^func Fuzz[A-Za-z0-9_]+\(`, "--", "*_test.go").Output()
	if err != nil {
		return nil, fmt.Errorf("look for fuzz targets: %w", err)
	}
	var list []target
	for line := range strings.Lines(string(out)) {
		m := declared.FindStringSubmatch(line)
		if m == nil {
			return nil, fmt.Errorf("a fuzz target in no directory: %q", line)
		}
		list = append(list, target{path.Clean(m[1]), m[2]})
	}
	return list, nil
}

// minimizing is how often Go tries to make an input smaller that shows something new.
// These tries are not counted, and where an input is large or what runs is not the
// same each time they never come to an end: Go's own minute for each left no time for
// others, and a second took most of it.
const minimizing = 100

// fuzz tries inputs for a time.
func (t target) fuzz(ctx context.Context, o options, out io.Writer) (count, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "./"+t.pkg, "-run", "^$", "-fuzz", "^"+t.name+"$",
		"-fuzztime", o.each.String(), "-fuzzminimizetime", strconv.Itoa(minimizing)+"x", "-parallel", strconv.Itoa(o.workers), "-timeout", "0")
	text, err := cmd.CombinedOutput()
	said := string(text)
	c := count{Execs: execs(said), Lasted: o.each}
	if err != nil && cutShort(said) {
		fmt.Fprintln(out, "  its time was over in the middle of an input")
		c.Cut, err = 1, nil
	}
	if err != nil {
		return c, fmt.Errorf("%s: %w\n%s", t, err, said)
	}
	if c.Execs == 0 {
		return c, fmt.Errorf("%s tried nothing:\n%s", t, said)
	}
	return c, nil
}

var progress = regexp.MustCompile(`(?m)^fuzz: elapsed: \S+, execs: (\d+) `)

// execs reads how many inputs were tried.
func execs(said string) int {
	all := progress.FindAllStringSubmatch(said, -1)
	if len(all) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(all[len(all)-1][1])
	return n
}

// cutShort tells the end of the time from an input that fails: before Go 1.27
// the former fails at times too, and names no input (golang/go#75804).
func cutShort(said string) bool {
	return strings.Contains(said, "    context deadline exceeded\n") && !strings.Contains(said, "Failing input written to") && !strings.Contains(said, "panic:")
}

// A count is what was tried of one target.
type count struct {
	Execs  int
	Lasted time.Duration
	Cut    int // how often the time was over in the middle of an input, and `go test` failed for it
}
