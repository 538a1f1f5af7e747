package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

func TestDurationsAndNumbersAsTheyAreWritten(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 µs", 1500 * time.Nanosecond: "1.5 µs", 999 * time.Microsecond: "999 µs", time.Millisecond: "1 ms",
		1230 * time.Microsecond: "1.2 ms", 123 * time.Millisecond: "123 ms", 1234 * time.Millisecond: "1.2 s", 75 * time.Second: "75 s",
	} {
		if got := duration(d); got != want {
			t.Errorf("duration(%d) = %q, want %q", d, got, want)
		}
	}
	for v, want := range map[float64]string{0: "0", 0.254: "0.25", 0.5: "0.5", 0.999: "1.0", 1: "1", 5: "5", 12.34: "12.3", 120: "120", 4321.5: "4322"} {
		if got := number(v); got != want {
			t.Errorf("number(%g) = %q, want %q", v, got, want)
		}
	}
}

func TestVerdict(t *testing.T) {
	f := &finding{}
	if got := f.verdict(); got != "not measured" {
		t.Errorf("without a check: %q", got)
	}
	f.within("p50", 9*time.Millisecond, 10*time.Millisecond)
	f.least("speed", 40, 40, "×")
	if got := f.verdict(); got != "met" {
		t.Errorf("with two that are met: %q", got)
	}
	f.most("memory", 101, 100, " MB")
	if got := f.verdict(); got != "missed in 1 of 3" {
		t.Errorf("with one that is missed: %q", got)
	}
	f.failed = errors.New("the rest failed")
	if got := f.verdict(); got != "measured in part" {
		t.Errorf("after a failure: %q", got)
	}
	missed := &finding{}
	missed.least("speed", 39, 40, "×")
	if got := missed.verdict(); got != "missed" {
		t.Errorf("with one, missed: %q", got)
	}
}

func TestRender(t *testing.T) {
	f := &finding{goal: goalOf("P1"), failed: errors.New("no\nluck")}
	f.add(line{"T1k", lab.Costs{{Wall: 2 * time.Millisecond, Peak: 5e6}}, []peer{{"git", lab.Costs{{Wall: 8 * time.Millisecond}}}, {"cp", nil}}})
	f.most("memory", 120, 100, " MB")
	text := render(about{date: "today"}, []*finding{f})
	for _, want := range []string{
		"Measured today", "| P1 | T1k | 2 ms | 0 µs | 5 MB | git | 8 ms | 0 µs | 4× |", "| P1 | T1k | 2 ms | 0 µs | 5 MB | cp |  |  |  |",
		"memory 120 MB **✗**", "P1, not measured: no luck\n", "measured in part",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text has no %q:\n%s", want, text)
		}
	}
}

func TestCalls(t *testing.T) {
	tree := &tree{files: &lab.Tree{Files: 40, Seed: 1}, count: 40}
	c := calls(strings.Split(`123 openat(AT_FDCWD, "/x/`+tree.files.Path(3)+`", O_RDONLY) = 5
123 openat(7, "`+filepath.Base(tree.files.Path(3))+`", O_RDONLY) = 5
124 openat2(7, "`+filepath.Base(tree.files.Path(39))+`", {flags=O_RDONLY}, 24) = 5
124 openat(AT_FDCWD, "/x/other", O_RDONLY) = -1 ENOENT
124 fsync(5) = 0
125 fdatasync(5 <unfinished ...>
125 <... fdatasync resumed>) = 0
fsync(7) = 0`, "\n"))
	if got := c.syncs(); got != 3 {
		t.Errorf("syncs = %d, want 3", got)
	}
	if got := c.opened(tree); got != 2 {
		t.Errorf("opened = %d, want 2", got)
	}
}

func TestArguments(t *testing.T) {
	o, err := parse([]string{"p1", "--quick", "P5"})
	if err != nil || !o.quick || strings.Join(o.only, " ") != "P1 P5" {
		t.Errorf("parse = %+v, %v", o, err)
	}
	if _, err := parse([]string{"P99"}); err == nil {
		t.Error("P99 is taken for a goal")
	}
}

// TestGoals: what can be asked for is measured by one experiment each.
func TestGoals(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range experiments() {
		for _, id := range e.goals {
			if seen[id] {
				t.Errorf("%s is measured twice", id)
			}
			seen[id] = true
			if goalOf(id).target == "" {
				t.Errorf("%s has no target", id)
			}
		}
	}
}
