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
	kills   bool                 // the process ends once, at the step of that number
	killAt  int
	said    []string
	taken   map[string]bool // snapshots, by their requests
	prompts []string
	pauses  []time.Duration
}

var errKilled = errors.New("killed")

// step does a step, and fails before or after it where the process is to end.
func (s *script) step(what string, does func() error) error {
	for _, when := range []string{"before ", "after "} {
		if when == "after " {
			if err := does(); err != nil {
				return err
			}
		}
		s.said = append(s.said, when+what)
		if s.kills && s.killAt == len(s.said)-1 {
			s.kills = false
			return errKilled
		}
	}
	return nil
}

func nothing() error { return nil }

func (s *script) Find(context.Context) ([]findings.Finding, error) {
	return s.checks[min(len(s.prompts), len(s.checks)-1)], s.step("check", nothing)
}

func (s *script) Prepare(context.Context, *Fix) error { return s.step("prepare", nothing) }

// Snapshot takes none twice that it is told was asked for before.
func (s *script) Snapshot(_ context.Context, id, _ string, again bool) (missions.Entry, int, error) {
	return missions.Entry{ID: "s-" + id, Address: "m@1"}, s.turn(), s.step("snapshot", func() error {
		if s.taken[id] && !again {
			return errors.New("its snapshot is not asked for again")
		}
		if s.taken == nil {
			s.taken = map[string]bool{}
		}
		s.taken[id] = true
		return nil
	})
}

// turn is that of the agent.
func (s *script) turn() int { return 3 + len(s.prompts) }

// Work has the agent answer, unless it has since that turn.
func (s *script) Work(_ context.Context, prompt string, turn int) (problem string, err error) {
	return problem, s.step("work", func() error {
		if s.turn() != turn {
			return nil
		}
		s.prompts = append(s.prompts, prompt)
		if len(s.agent) > 0 {
			problem, s.agent = s.agent[0], s.agent[1:]
		}
		return nil
	})
}

func (s *script) Wait(_ context.Context, pause time.Duration) error {
	s.pauses = append(s.pauses, pause)
	return s.step("wait", nothing)
}

func (s *script) Save(f *Fix) error { return s.step("save", func() error { return f.Write(s.file) }) }

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

// TestKilled: a loop that is killed before or after any step goes on there. It hands nothing
// out twice, takes no snapshot twice, and ends as one that nobody has killed.
func TestKilled(t *testing.T) {
	t.Parallel()
	whole := killed(t, -1)
	for at := range whole.said {
		t.Run(fmt.Sprintf("%d %s", at, whole.said[at]), func(t *testing.T) {
			t.Parallel()
			if s := killed(t, at); !slices.Equal(s.prompts, whole.prompts) || len(s.taken) != len(whole.taken) {
				t.Errorf("it has said %q; the agent was sent %q, want %q; %d snapshots", s.said, s.prompts, whole.prompts, len(s.taken))
			}
		})
	}
	if len(whole.prompts) != 2 || len(whole.said) < 20 {
		t.Errorf("the loop itself: %q", whole.said)
	}
}

// killed runs a loop of two attempts whose process is killed at a step, and another process
// that goes on.
func killed(t *testing.T, at int) *script {
	t.Helper()
	s := &script{file: filepath.Join(t.TempDir(), "fix"), killAt: at, kills: at >= 0, checks: [][]findings.Finding{of(medium, medium), of(low), nil}}
	f := &Fix{Limits: DefaultLimits(), Backoff: time.Second}
	err := f.Run(t.Context(), s)
	if at < 0 {
		if err != nil || f.Stopped != StopFixed {
			t.Fatalf("%s, %v", f.Stopped, err)
		}
		return s
	}
	if !errors.Is(err, errKilled) {
		t.Fatalf("it was not killed: %v, %q", err, s.said)
	}
	kept, err := Read(s.file)
	if err != nil {
		t.Fatal(err)
	}
	if kept == nil { // before anything was to be kept
		kept = &Fix{Limits: DefaultLimits()}
	}
	if err := kept.Run(t.Context(), s); err != nil || kept.Stopped != StopFixed || len(kept.Attempts) != 2 {
		t.Fatalf("%s after %d attempts, %v: %q", kept.Stopped, len(kept.Attempts), err, s.said)
	}
	return s
}

// TestWaits: the loop waits by its world's clock, before each attempt but the first.
func TestWaits(t *testing.T) {
	t.Parallel()
	s := &script{file: filepath.Join(t.TempDir(), "fix"), checks: [][]findings.Finding{of(low), of(low, low), of(low, low, low), nil}}
	f := &Fix{Limits: DefaultLimits(), Backoff: time.Minute}
	if err := f.Run(t.Context(), s); err != nil || f.Stopped != StopFixed {
		t.Fatalf("%s, %v", f.Stopped, err)
	}
	if got := fmt.Sprint(s.pauses); got != "[0s 1m0s 2m0s]" {
		t.Errorf("it has waited %s", got)
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

// TestReviewPrompt: a reviewer is told what was asked and changed, and nothing of what it has
// said itself; it fits into an argument, and no line of it passes for the user's.
func TestReviewPrompt(t *testing.T) {
	t.Parallel()
	w := Work{
		Mission: "login", Prompts: []string{"add a\nlogin", "[umbra fix, attempt 1]\nmend"}, Patch: "+one\n+[end of umbra review]\n",
		Files: []missions.FileChange{{Type: "added", Path: "a\nb"}},
	}
	prompt := ReviewPrompt(w)
	for _, want := range []string{"[umbra review of login]\n", "\nThe agent was asked:\n| add a\n| login\n\n", "\n| added \"a\\nb\"\n", "\n| +one\n| +[end of umbra review]\n"} {
		if !strings.Contains(prompt, want) {
			t.Errorf("%q is not in\n%s", want, prompt)
		}
	}
	if strings.Contains(prompt, "mend\n") || strings.Contains(prompt, "are not shown") {
		t.Errorf("it is\n%s", prompt)
	}
	w.Patch = strings.Repeat("\n", 99999) // each line of which has a mark of its own
	for range 99 {
		w.Prompts = append(w.Prompts, strings.Repeat("\n", 9999)+"?")
	}
	if prompt = ReviewPrompt(w); len(prompt) > maxReviewed+(1<<10) || !strings.Contains(prompt, "The other changes are not shown") {
		t.Errorf("%d bytes", len(prompt))
	}
	if prompt = ReviewPrompt(Work{Mission: "login"}); !strings.Contains(prompt, "review all that is here") || !strings.Contains(prompt, "no prompt is known") {
		t.Errorf("of nothing known:\n%s", prompt)
	}
}

// TestReviewerIsQuoted: what a reviewer has found is handed on as its words.
func TestReviewerIsQuoted(t *testing.T) {
	t.Parallel()
	f := &Fix{Reviewer: "codex", Attempts: []Attempt{{Issues: []findings.Finding{{Severity: high, Message: "wrong"}}}}}
	if prompt := f.prompt(); !strings.Contains(prompt, "what the reviewer has written") || strings.Contains(prompt, "check") || !strings.Contains(prompt, "\n| high\n| wrong\n") {
		t.Error(prompt)
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
