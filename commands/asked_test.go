package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
)

// reason is the answer that an agent is given to show.
func reason(t *testing.T, out []byte) string {
	t.Helper()
	var said struct{ Decision, Reason string }
	if err := json.Unmarshal(out, &said); err != nil || said.Decision != "block" {
		t.Fatalf("the agent is told %q: %v", out, err)
	}
	return said.Reason
}

// asking is a Service whose hook was given words for Umbra.
func asking(words string, f fake) fake {
	f.hook = func(context.Context, missions.HookRequest) (missions.HookResult, error) {
		return missions.HookResult{Mission: "1234", Asked: &missions.AskedCommand{Words: words}, Output: []byte("old")}, nil
	}
	return f
}

// TestAskedIsAnswered: what is typed in an agent is carried out for its mission,
// also where that fails, and the agent is told nothing else.
func TestAskedIsAnswered(t *testing.T) {
	t.Parallel()
	ask := func(words string, f fake) string {
		t.Helper()
		b := newBench(t, asking(words, f))
		b.Env.Stdin = strings.NewReader("{}")
		if code := b.run("hook", "claude"); code != 0 || b.Stderr.Len() > 0 {
			t.Fatalf("%q ends with %d: %s", words, code, b.Stderr.String())
		}
		return reason(t, b.Stdout.Bytes())
	}
	log := fake{log: func(_ context.Context, r missions.LogRequest) ([]missions.Entry, error) {
		if r.Caller.Mission != "1234" {
			t.Errorf("asked for mission %q", r.Caller.Mission)
		}
		if r.Limit == 15 {
			return []missions.Entry{{Address: "m@2", MissionName: "m", Message: "turn ended " + strings.Repeat("x", 80), Pins: []string{"good"},
				At: time.Date(2026, 1, 31, 16, 30, 0, 0, time.UTC), Files: missions.FileCounts{Added: 1}}}, nil
		}
		return nil, missions.Errorf(missions.KindNotFound, "look again", "nothing there")
	}}
	if got, want := ask("list", log), "2  10m ago  1 file  [good] turn ended xxx"; !strings.HasPrefix(got, want) || len(got) > 100 {
		t.Errorf("list: %q", got)
	}
	if got, want := ask("list -n 2", log), "umbra: nothing there\n  look again"; got != want {
		t.Errorf("list -n 2: %q, want %q", got, want)
	}
	restore := fake{restore: func(_ context.Context, r missions.RestoreRequest) (missions.RestoreResult, error) {
		return missions.RestoreResult{}, fmt.Errorf("%s for %s", r.Moment, r.Caller.Mission)
	}}
	if got, want := ask("restore @2", restore), "umbra: @2 for 1234"; got != want {
		t.Errorf("restore: %q, want %q", got, want)
	}
	done := fake{restore: func(context.Context, missions.RestoreRequest) (missions.RestoreResult, error) {
		return missions.RestoreResult{MissionName: "login", Snapshot: "1234", Done: true}, nil
	}}
	if got := ask("restore 2", done); !strings.HasSuffix(got, "to take it back: /checkpoint undo login") {
		t.Errorf("what to type after a restore: %q", got)
	}
	refused := fake{restore: func(context.Context, missions.RestoreRequest) (missions.RestoreResult, error) {
		return missions.RestoreResult{}, missions.Errorf(missions.KindConflict, "umbra undo login --force, or umbra mission stop login", "no")
	}}
	if got, want := ask("restore 2", refused), "umbra: no\n  /checkpoint undo login --force, or umbra mission stop login"; got != want {
		t.Errorf("what to type after a refusal: %q, want %q", got, want)
	}
	if got := ask("show", fake{}); !strings.Contains(got, "usage: /checkpoint show") || strings.Contains(got, "umbra show") {
		t.Errorf("a verb without its argument: %q", got)
	}
	said := fake{log: func(context.Context, missions.LogRequest) ([]missions.Entry, error) {
		return []missions.Entry{{Address: "m@2", MissionName: "m", Message: "say umbra undo"}}, nil
	}}
	if got := ask("list", said); !strings.Contains(got, "say umbra undo") {
		t.Errorf("what an agent said is changed: %q", got)
	}
	if got := ask("help", fake{}); !strings.HasPrefix(got, "/checkpoint  ") || !strings.HasSuffix(got, "umbra help restore.") {
		t.Errorf("help: %q", got)
	}
	if got := ask("restore --nosuch", fake{}); !strings.Contains(got, "--nosuch") {
		t.Errorf("a flag that is not there: %q", got)
	}
}

// TestAskedTakesNoSignal: an agent that a restore ends may end its hook too.
func TestAskedTakesNoSignal(t *testing.T) {
	t.Parallel()
	var b bench
	b = newBench(t, asking("restore @2", fake{restore: func(ctx context.Context, _ missions.RestoreRequest) (missions.RestoreResult, error) {
		b.Signals <- os.Interrupt
		return missions.RestoreResult{Done: true}, ctx.Err()
	}}))
	b.Env.Stdin = strings.NewReader("{}")
	code := b.run("hook", "claude")
	if said := reason(t, b.Stdout.Bytes()); code != 0 || !strings.HasPrefix(said, "restore to") {
		t.Errorf("code %d, %q", code, said)
	}
}
