package fixes

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/findings"
)

// script is a World in which everything is said beforehand.
type script struct {
	file    string
	checks  [][]findings.Finding // what the check finds after so many attempts; the last one from then on
	agent   []string             // how each agent ends, "" well
	kill    string               // the step at which the process ends
	said    []string
	prompts []string
	pauses  []time.Duration
}

var errKilled = errors.New("killed")

// step notes a step, and fails where the process is to end.
func (s *script) step(format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	s.said = append(s.said, text)
	if s.kill == text {
		s.kill = ""
		return errKilled
	}
	return nil
}

func (s *script) Find(context.Context) ([]findings.Finding, error) {
	return s.checks[min(len(s.prompts), len(s.checks)-1)], s.step("check")
}

func (s *script) Prepare(context.Context, *Fix) error { return nil }

func (s *script) Snapshot(_ context.Context, id, message string, again bool) (missions.Entry, int, error) {
	return missions.Entry{ID: "s-" + id, Address: "m@1"}, 3, s.step("%s, again %v", message, again)
}

func (s *script) Work(_ context.Context, prompt string, turn int) (problem string, err error) {
	if turn != 3 {
		return "", fmt.Errorf("turn %d", turn)
	}
	if err := s.step("work"); err != nil {
		return "", err
	}
	s.prompts = append(s.prompts, prompt)
	if len(s.agent) > 0 {
		problem, s.agent = s.agent[0], s.agent[1:]
	}
	return problem, nil
}

func (s *script) Wait(_ context.Context, pause time.Duration) error {
	s.pauses = append(s.pauses, pause)
	return nil
}

func (s *script) Save(f *Fix) error { return f.Write(s.file) }

func (s *script) Begins(int, Attempt) {}

// of are findings of severities, each another one.
func of(severities ...missions.Severity) (list []findings.Finding) {
	for i, severity := range severities {
		list = append(list, findings.Finding{Severity: severity, Message: fmt.Sprint(severity, i)})
	}
	return list
}

const (
	low, medium, high, critical = missions.SeverityLow, missions.SeverityMedium, missions.SeverityHigh, missions.SeverityCritical
)

func TestEnds(t *testing.T) {
	t.Parallel()
	two := Limits{Total: 2, Most: map[missions.Severity]int{low: 9, medium: 9, high: 9, critical: 9}}
	growing := [][]findings.Finding{of(low), of(low, low), of(low, low, low), of(low, low, low, low), of(low, medium), of(low, low, medium), of(medium)}
	for _, c := range []struct {
		name   string
		limits Limits
		script script
		ends   Stop
		tries  int
	}{
		{"nothing to fix", DefaultLimits(), script{checks: [][]findings.Finding{nil}}, StopFixed, 0},
		{"fixed", DefaultLimits(), script{checks: [][]findings.Finding{of(low, high), of(low), nil}}, StopFixed, 2},
		{"critical", DefaultLimits(), script{checks: [][]findings.Finding{of(critical, low)}}, StopLimit, 0},
		{"a second high", DefaultLimits(), script{checks: [][]findings.Finding{of(high), of(low, high)}}, StopLimit, 1},
		{"in all", two, script{checks: growing}, StopLimit, 2},
		{"no progress", DefaultLimits(), script{checks: [][]findings.Finding{of(medium)}}, StopNoProgress, 1},
		{"the agent fails", DefaultLimits(), script{checks: [][]findings.Finding{of(medium), of(low)}, agent: []string{"died"}}, StopAgent, 1},
		{"the agent fails and the check passes", DefaultLimits(), script{checks: [][]findings.Finding{of(medium), nil}, agent: []string{"died"}}, StopFixed, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.script.file = filepath.Join(t.TempDir(), "fix")
			f := &Fix{Limits: c.limits}
			if err := f.Run(t.Context(), &c.script); err != nil {
				t.Fatal(err)
			}
			if f.Stopped != c.ends || len(f.Attempts) != c.tries {
				t.Errorf("%s after %d attempts, want %s after %d: %q", f.Stopped, len(f.Attempts), c.ends, c.tries, c.script.said)
			}
			kept, err := Read(c.script.file)
			if err != nil || kept.Stopped != c.ends || len(kept.Left) != len(f.Left) {
				t.Errorf("kept is %+v, %v", kept, err)
			}
		})
	}
}

// TestOneMore: its user allows one attempt, whatever it has stopped for, and no second one.
func TestOneMore(t *testing.T) {
	t.Parallel()
	s := &script{file: filepath.Join(t.TempDir(), "fix"), checks: [][]findings.Finding{of(critical)}}
	f := &Fix{Limits: DefaultLimits()}
	for tries := range 3 {
		if err := f.Run(t.Context(), s); err != nil || len(f.Attempts) != tries || f.Stopped == StopFixed {
			t.Fatalf("%s after %d attempts, %v", f.Stopped, len(f.Attempts), err)
		}
		f.OneMore = true
	}
}

// TestKilled: a loop that is killed at any step goes on there, and hands nothing out twice.
func TestKilled(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"check", "fix attempt 1: 2 findings, again false", "work", "fix attempt 2: 1 finding, again false"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			s := &script{file: filepath.Join(t.TempDir(), "fix"), kill: at, checks: [][]findings.Finding{of(medium, medium), of(low), nil}}
			f := &Fix{Limits: DefaultLimits()}
			if err := f.Run(t.Context(), s); !errors.Is(err, errKilled) {
				t.Fatalf("it was not killed: %v, %q", err, s.said)
			}
			kept, err := Read(s.file)
			if err != nil {
				t.Fatal(err)
			}
			if kept == nil { // before anything was to be kept
				kept = &Fix{Limits: DefaultLimits()}
			}
			if err := kept.Run(t.Context(), s); err != nil || kept.Stopped != StopFixed {
				t.Fatalf("%s, %v: %q", kept.Stopped, err, s.said)
			}
			var firsts int
			for _, prompt := range s.prompts {
				if strings.HasPrefix(prompt, "[umbra fix, attempt 1]") {
					firsts++
				}
			}
			if firsts != 1 {
				t.Errorf("the first attempt was made %d times: %q", firsts, s.said)
			}
			again := strings.Replace(at, "again false", "again true", 1)
			if again != at && !slices.Contains(s.said, again) {
				t.Errorf("its snapshot was not asked for again: %q", s.said)
			}
		})
	}
}

// TestPauses: twice as long each time, and never longer than maxBackoff unless that was asked for.
func TestPauses(t *testing.T) {
	t.Parallel()
	pauses := func(backoff time.Duration, n int) (list []time.Duration) {
		f := &Fix{Backoff: backoff}
		for range n {
			list = append(list, f.pause())
			f.Attempts = append(f.Attempts, Attempt{})
		}
		return list
	}
	if got, want := fmt.Sprint(pauses(time.Minute, 6)), "[0s 1m0s 2m0s 4m0s 5m0s 5m0s]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := fmt.Sprint(pauses(time.Hour, 4)), "[0s 1h0m0s 1h0m0s 1h0m0s]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if last := slices.Max(pauses(time.Second, 500)); last != maxBackoff {
		t.Errorf("%s", last)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	l, err := DefaultLimits().With("high=2, low=0")
	if err != nil || l.Most[high] != 2 || l.Most[low] != 0 || l.Most[medium] != 3 || l.Total != 10 {
		t.Errorf("%+v, %v", l, err)
	}
	if DefaultLimits().Most[high] != 1 {
		t.Error("the defaults are changed")
	}
	for _, wrong := range []string{"", "high", "high=", "high=-1", "urgent=1", "high=1,"} {
		if _, err := DefaultLimits().With(wrong); missions.AsError(err).Kind != missions.KindUsage {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

// TestPrompt: whatever tools print is quoted, fits into an argument, and holds no NUL.
func TestPrompt(t *testing.T) {
	t.Parallel()
	list := []findings.Finding{{Severity: high, File: "a.go", Line: 3, Rule: "r", Message: "two\nlines\x00\x1b", Suggestion: "mend"}}
	f := &Fix{Check: "lint", Attempts: []Attempt{{}, {Issues: list}}}
	prompt := f.prompt()
	for _, want := range []string{"[umbra fix, attempt 2]\n", "is: lint\n", "\n| high a.go:3 r\n| two\n| lines\n| suggestion: mend\n", "\n[end of umbra fix: 1 finding]"} {
		if !strings.Contains(prompt, want) {
			t.Errorf("%q is not in\n%s", want, prompt)
		}
	}
	for range 1000 {
		list = append(list, findings.Finding{Severity: low, Message: strings.Repeat("x\n", 9000)})
	}
	f.Attempts[1].Issues = list
	if prompt = f.prompt(); len(prompt) > 100<<10 || !strings.Contains(prompt, "more, which are not listed") {
		t.Errorf("%d bytes", len(prompt))
	}
}

// TestHold: one process at a time has a loop.
func TestHold(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "fixes", "m")
	release, err := Hold(file, "login")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Hold(file, "login"); missions.AsError(err).Kind != missions.KindBusy {
		t.Errorf("held twice: %v", err)
	}
	release()
	if release, err = Hold(file, "login"); err != nil {
		t.Fatal(err)
	}
	release()
	if f, err := Read(file); f != nil || err != nil {
		t.Errorf("%+v, %v", f, err)
	}
	if err := Remove(file); err != nil {
		t.Error(err)
	}
}
