package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// An event is one line of `go test -json` (`go doc test2json`).
type event struct {
	Action     string
	Package    string
	ImportPath string // of build events, which have no Package
	Test       string
	Output     string
	Elapsed    float64 // seconds, without the wait for other tests
}

// A tally counts tests and subtests as they end. A package that fails without
// a failed test (it does not build, it panics, it times out) counts as one.
type tally struct {
	mu       sync.Mutex
	out      io.Writer
	output   map[string][]string  // by package and test, until it ends
	failing  map[string]bool      // packages with a failed test
	whole    map[string]bool      // packages that failed and came to their end
	grave    bool                 // something failed that is no matter of luck
	failures []*failure           // in the order of their ends
	good     map[string]bool      // by package and test, that passed
	running  map[string]time.Time // since when a package's test runs
	cut      bool
	hung     []string // what ran when all was cut off
	unsteady []string // what failed beside others and passed alone
	skips    []string
	long     []long
	failed   int
}

// long is a test, no subtest, that took long.
type long struct {
	name    string
	seconds float64
}

// A test is long from longFrom seconds on; so many of them are shown.
const (
	longFrom = 20
	longShow = 15
)

// A failure is a test, no subtest, that failed, alone or for its subtests.
type failure struct {
	of        request
	pkg, test string
	failed    []string // it and all below that failed, by their whole names
	subtests  []string // of those directly below it
	said      bool     // it said something itself, and not by a subtest
}

func newTally(out io.Writer) *tally {
	return &tally{out: out, output: map[string][]string{}, failing: map[string]bool{}, whole: map[string]bool{}, good: map[string]bool{}, running: map[string]time.Time{}}
}

// read takes events of one `go test`, of that request, until the end, and says whether anything failed
// in it. A line that is no event, such as one that a child of a test wrote past the
// test's own output, is shown as it is.
func (t *tally) read(events io.Reader, of request) (failed bool, err error) {
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			var e event
			t.mu.Lock()
			if json.Unmarshal([]byte(line), &e) == nil && e.Action != "" {
				t.add(e, of)
				failed = failed || e.Action == "fail"
			} else {
				fmt.Fprint(t.out, line)
			}
			t.mu.Unlock()
		}
		if errors.Is(err, io.EOF) {
			return failed, nil
		}
		if err != nil {
			return failed, err
		}
	}
}

func (t *tally) add(e event, of request) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "run", "cont":
		t.running[key] = time.Now()
	case "pause", "pass", "skip", "fail":
		delete(t.running, key)
	}
	if e.Test != "" && !strings.Contains(e.Test, "/") && e.Elapsed >= longFrom {
		t.long = append(t.long, long{key, e.Elapsed})
	}
	switch e.Action {
	case "output":
		t.weigh(e)
		if e.Test == "" && closing(e.Output) {
			if strings.HasPrefix(e.Output, "FAIL\t") {
				t.show(key)
			}
			fmt.Fprint(t.out, e.Output)
			return
		}
		t.output[key] = append(t.output[key], e.Output)
	case "build-output":
		fmt.Fprint(t.out, e.Output)
	case "pass":
		delete(t.output, key)
		if e.Test != "" {
			t.good[key] = true
		}
	case "skip":
		if e.Test != "" {
			t.skips = append(t.skips, fmt.Sprintf("%s %s: %s", e.Package, e.Test, reason(t.output[key])))
		}
		delete(t.output, key)
	case "fail":
		t.fail(e, key, of)
	}
}

func (t *tally) fail(e event, key string, of request) {
	if e.Test != "" {
		if !t.cut {
			t.failed++
		}
		t.failing[e.Package] = true
		t.note(e, of, t.output[key])
		fmt.Fprintf(t.out, "FAIL\t%s %s\n", e.Package, e.Test)
		for _, line := range t.output[key] {
			fmt.Fprint(t.out, line)
		}
		delete(t.output, key)
		return
	}
	if !t.failing[e.Package] && !t.cut {
		t.failed++
		t.grave = true
	}
	for k := range t.output {
		if strings.HasPrefix(k, e.Package+" ") {
			t.show(k)
		}
	}
}

// weigh looks for what tells luck from faults: whether all tests of a package ran, and
// whether the race detector found something.
func (t *tally) weigh(e event) {
	if e.Test == "" && e.Output == "FAIL\n" {
		t.whole[e.Package] = true
	}
	if strings.Contains(e.Output, "WARNING: DATA RACE") || strings.Contains(e.Output, "race detected during execution") {
		t.grave = true
	}
}

// note keeps what failed, and what it said, for its test.
func (t *tally) note(e event, of request, output []string) {
	name, below, _ := strings.Cut(e.Test, "/")
	i := slices.IndexFunc(t.failures, func(f *failure) bool { return f.pkg == e.Package && f.test == name })
	if i < 0 {
		i, t.failures = len(t.failures), append(t.failures, &failure{of: of, pkg: e.Package, test: name})
	}
	f := t.failures[i]
	f.failed = append(f.failed, e.Test)
	if below, _, _ = strings.Cut(below, "/"); below != "" && !slices.Contains(f.subtests, below) {
		f.subtests = append(f.subtests, below)
	}
	f.said = f.said || e.Test == name && len(words(output)) > 0
}

// unlucky is what failed, if that may be luck: at most so many tests, each in a package of
// which all tests came to their end. A test that fails beside its subtests, as for what one of
// them left behind, does so for one that may have passed.
func (t *tally) unlucky(most int) []*failure {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.grave || t.cut || len(t.failures) > most {
		return nil
	}
	for _, f := range t.failures {
		if !t.whole[f.pkg] || f.said && len(f.subtests) > 0 {
			return nil
		}
	}
	return slices.Clone(t.failures)
}

// forgive counts a test that failed as passed, since it passed alone.
func (t *tally) forgive(f *failure) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed -= len(f.failed)
	for _, name := range f.failed {
		t.good[f.pkg+" "+name] = true
	}
	t.unsteady = append(t.unsteady, f.pkg+" "+f.test)
}

// redeems reports whether what failed passed in it, each by its name.
func (t *tally) redeems(f *failure) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := t.failed == 0
	for _, name := range f.failed {
		all = all && t.good[f.pkg+" "+name]
	}
	return all
}

// say prints a text.
func (t *tally) say(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintln(t.out, strings.TrimSpace(text))
}

// show prints what a failed test, or a failed package outside its tests, said;
// what passes has nothing to say.
func (t *tally) show(key string) {
	for _, line := range t.output[key] {
		fmt.Fprint(t.out, line)
	}
	delete(t.output, key)
}

// cutOff counts what runs still as failed, and keeps its names for the end.
func (t *tally) cutOff(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cut = true
	for key, since := range t.running {
		t.hung = append(t.hung, fmt.Sprintf("%s, after %s", key, now.Sub(since).Round(time.Second)))
	}
	t.failed += max(1, len(t.hung))
	slices.Sort(t.hung)
}

// lost counts a `go test` that failed, though nothing did in it.
func (t *tally) lost(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cut {
		return
	}
	t.failed++
	t.grave = true
	fmt.Fprintf(t.out, "FAIL\tgo test: %v, though no test failed\n", err)
}

// close prints the skipped tests, the longest, what was cut off, and the count; it returns how many
// failed.
func (t *tally) close() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, line := range t.skips {
		fmt.Fprintln(t.out, "skip\t"+line)
	}
	if len(t.skips) > 0 {
		fmt.Fprintf(t.out, "%d skipped, see above\n", len(t.skips))
	}
	slices.SortFunc(t.long, func(a, b long) int { return cmp.Compare(b.seconds, a.seconds) })
	for _, l := range t.long[:min(longShow, len(t.long))] {
		fmt.Fprintf(t.out, "long\t%4.0fs %s\n", l.seconds, l.name)
	}
	for _, line := range t.unsteady {
		fmt.Fprintln(t.out, "unsteady\t"+line+" failed, see above, and passed alone: mend the test")
	}
	for _, line := range t.hung {
		fmt.Fprintln(t.out, "cut off\t"+line)
	}
	fmt.Fprintf(t.out, "%d passed, %d failed\n", len(t.good), t.failed)
	return t.failed
}

// closing tells the line with which `go test` ends a package.
func closing(line string) bool {
	return strings.HasPrefix(line, "ok  \t") || strings.HasPrefix(line, "FAIL\t") || strings.HasPrefix(line, "?   \t")
}

// reason is why a test was skipped.
func reason(output []string) string {
	return cmp.Or(strings.Join(words(output), " "), "no reason given")
}

// words are what a test said, without the frame around it.
func words(output []string) (said []string) {
	for _, line := range output {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- ") {
			said = append(said, line)
		}
	}
	return said
}
