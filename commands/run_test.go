package commands

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/calltest"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// fake is a Service of which a test gives the methods it needs.
type fake struct {
	missions.Service
	wait    func(context.Context, missions.WaitRequest) ([]missions.Mission, error)
	restore func(context.Context, missions.RestoreRequest) (missions.RestoreResult, error)
	diff    func(context.Context, missions.DiffRequest) (missions.Difference, error)
	log     func(context.Context, missions.LogRequest) ([]missions.Entry, error)
	list    func(context.Context, missions.MissionsRequest) ([]missions.Mission, error)
	hook    func(context.Context, missions.HookRequest) (missions.HookResult, error)
	begin   func(context.Context, missions.NewMissionRequest) (missions.Mission, error)
}

func (f fake) NewMission(ctx context.Context, r missions.NewMissionRequest) (missions.Mission, error) {
	return f.begin(ctx, r)
}

func (f fake) Wait(ctx context.Context, r missions.WaitRequest) ([]missions.Mission, error) {
	return f.wait(ctx, r)
}

func (f fake) Restore(ctx context.Context, r missions.RestoreRequest) (missions.RestoreResult, error) {
	return f.restore(ctx, r)
}

func (f fake) Diff(ctx context.Context, r missions.DiffRequest) (missions.Difference, error) {
	return f.diff(ctx, r)
}

func (f fake) Log(ctx context.Context, r missions.LogRequest) ([]missions.Entry, error) {
	return f.log(ctx, r)
}

func (f fake) Missions(ctx context.Context, r missions.MissionsRequest) ([]missions.Mission, error) {
	return f.list(ctx, r)
}

func (f fake) Hook(ctx context.Context, r missions.HookRequest) (missions.HookResult, error) {
	return f.hook(ctx, r)
}

// bench runs umbra in this process.
type bench struct{ *calltest.Bench }

func newBench(t *testing.T, svc missions.Service) bench {
	t.Helper()
	return bench{calltest.New(t, svc)}
}

func (b bench) run(args ...string) int {
	b.Stdout.Reset()
	b.Stderr.Reset()
	b.Env.Args = args
	return Run(b.Env)
}

func TestRunInterrupted(t *testing.T) {
	t.Parallel()
	var b bench
	b = newBench(t, fake{wait: func(ctx context.Context, _ missions.WaitRequest) ([]missions.Mission, error) {
		b.Signals <- os.Interrupt
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	if code := b.run("mission", "wait", "one"); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
	if got := b.Stderr.String(); got != "umbra: interrupted\n" {
		t.Errorf("stderr %q", got)
	}
	if b.Closed != 1 {
		t.Errorf("the Service was closed %d times", b.Closed)
	}
}

// TestInterruptedFirstSnapshot says how to go on.
func TestInterruptedFirstSnapshot(t *testing.T) {
	t.Parallel()
	var b bench
	b = newBench(t, fake{begin: func(ctx context.Context, _ missions.NewMissionRequest) (missions.Mission, error) {
		b.Signals <- os.Interrupt
		<-ctx.Done()
		return missions.Mission{}, ctx.Err()
	}})
	if code := b.run("mission", "new", "--no-launch"); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
	if got := b.Stderr.String(); !strings.HasPrefix(got, "umbra: interrupted during the first snapshot") || !strings.Contains(got, "begins anew") {
		t.Errorf("stderr %q", got)
	}
}

func TestRunExitCodes(t *testing.T) {
	t.Parallel()
	for kind, want := range map[missions.Kind]int{
		missions.KindFailed: 1, missions.KindUsage: 2, missions.KindNotFound: 10, missions.KindAmbiguous: 10, missions.KindBusy: 11,
		missions.KindConflict: 12, missions.KindDamaged: 13, missions.KindNoDaemon: 14, missions.KindTimeout: 15, missions.KindInterrupted: 130,
	} {
		b := newBench(t, fake{wait: func(context.Context, missions.WaitRequest) ([]missions.Mission, error) {
			return nil, missions.Errorf(kind, "do this\nor that", "went\x1b[2J wrong")
		}})
		if code := b.run("mission", "wait", "one"); code != want {
			t.Errorf("%s: exit code %d, want %d", kind, code, want)
		}
		if got := b.Stderr.String(); got != "umbra: went\\x1b[2J wrong\n  do this\n  or that\n" {
			t.Errorf("%s: stderr %q", kind, got)
		}
		if code := b.run("mission", "wait", "one", "--json"); code != want {
			t.Errorf("%s --json: exit code %d, want %d", kind, code, want)
		}
		var said struct {
			Error struct {
				Kind, Message, Hint string
				ExitCode            int `json:"exit_code"`
			}
		}
		if err := json.Unmarshal(b.Stderr.Bytes(), &said); err != nil {
			t.Fatalf("%s: %v: %s", kind, err, b.Stderr.String())
		}
		if said.Error.Kind != string(kind) || said.Error.ExitCode != want || said.Error.Hint == "" {
			t.Errorf("%s: %s", kind, b.Stderr.String())
		}
	}
}

func TestRunTellsProgress(t *testing.T) {
	t.Parallel()
	b := newBench(t, fake{wait: func(ctx context.Context, _ missions.WaitRequest) ([]missions.Mission, error) {
		for range 3 {
			missions.Notify(ctx, missions.Notice{Text: "waiting for one: it is in turn 3"})
		}
		missions.Notify(ctx, missions.Notice{Text: "reading", Done: 1, Total: 9, Unit: "files"})
		return nil, nil
	}})
	if code := b.run("mission", "wait", "one"); code != 0 || b.Stderr.String() != "waiting for one: it is in turn 3\n" {
		t.Errorf("exit code %d, stderr %q", code, b.Stderr.String())
	}
	if b.run("mission", "wait", "one", "--quiet"); b.Stderr.Len() > 0 {
		t.Errorf("--quiet: stderr %q", b.Stderr.String())
	}
	// On a terminal, what takes more than a second shows a bar, and takes it away.
	now := b.Env.Now()
	b.Env.IsTerminal = func(stream any) bool { return stream == b.Env.Stderr }
	b.Env.Now = func() time.Time { now = now.Add(700 * time.Millisecond); return now }
	b.Env.Connect = func(context.Context, call.Env, call.Globals) (missions.Service, io.Closer, error) {
		return fake{wait: func(ctx context.Context, _ missions.WaitRequest) ([]missions.Mission, error) {
			for n := range int64(4) {
				missions.Notify(ctx, missions.Notice{Text: "copying", Done: n + 1, Total: 4, Unit: "bytes"})
			}
			return nil, nil
		}}, io.NopCloser(nil), nil
	}
	b.run("mission", "wait", "one")
	if got, want := b.Stderr.String(), "\r\x1b[Kcopying: 3 B of 4 B, 1 B/s [###############     ]\r\x1b[Kcopying: 4 B of 4 B, 1 B/s [####################]\r\x1b[K"; got != want {
		t.Errorf("bar %q, want %q", got, want)
	}
}

func TestRestoreAsksWhose(t *testing.T) {
	t.Parallel()
	var asked []missions.RestoreRequest
	plan := missions.RestoreResult{
		Target: strings.Repeat("a", 40), SafetySnapshot: "b", Workspace: "/w", Modify: []string{"mine"},
		Foreign: []missions.PathReason{{Path: "theirs\x1b", Reason: "mission two"}},
	}
	b := newBench(t, fake{restore: func(_ context.Context, r missions.RestoreRequest) (missions.RestoreResult, error) {
		asked = append(asked, r)
		if !r.KeepOthers && !r.All {
			e := missions.Errorf(missions.KindConflict, "--keep-others or --all", "1 path was changed by others")
			e.Details, _ = json.Marshal(plan)
			return missions.RestoreResult{}, e
		}
		done := plan
		done.Done, done.Foreign = true, nil
		return done, nil
	}, diff: func(_ context.Context, r missions.DiffRequest) (missions.Difference, error) {
		if r.From != plan.Target || r.To != plan.SafetySnapshot || len(r.Paths) != 1 || r.Paths[0] != plan.Foreign[0].Path || r.Caller.Cwd != "/w" {
			t.Errorf("asked for the difference %+v", r)
		}
		return missions.Difference{From: r.From, Patch: "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-then\n+the user's\n"}, nil
	}})
	if code := b.run("restore", "one@1", "--yes"); code != 12 || len(asked) != 1 {
		t.Errorf("off a terminal: exit code %d, asked %d times", code, len(asked))
	}
	b.Env.IsTerminal = func(any) bool { return true }
	for typed, want := range map[string]struct {
		code      int
		keep, all bool
	}{
		"k\n": {0, true, false}, "put these back too\n": {0, false, true}, "\n": {12, false, false}, "s\n": {12, false, false}, "": {12, false, false},
		"d\nk\n": {0, true, false}, "d\nd\n": {12, false, false},
	} {
		asked = nil
		b.Env.Stdin = iotest.OneByteReader(strings.NewReader(typed)) // as a terminal gives a line at a time
		b.Stderr.Reset()
		code := b.run("restore", "one@1")
		last := asked[len(asked)-1]
		if code != want.code || last.KeepOthers != want.keep || last.All != want.all {
			t.Errorf("typed %q: exit code %d, keep %t, all %t", typed, code, last.KeepOthers, last.All)
		}
		got := b.Stderr.String()
		if !strings.Contains(got, `"theirs\x1b"`) {
			t.Errorf("the plan: %q", got)
		}
		if strings.Contains(got, "+the user's") != strings.HasPrefix(typed, "d") {
			t.Errorf("typed %q, the differences: %q", typed, got)
		}
	}
}

func TestRestorePartly(t *testing.T) {
	t.Parallel()
	b := newBench(t, fake{restore: func(context.Context, missions.RestoreRequest) (missions.RestoreResult, error) {
		return missions.RestoreResult{Target: strings.Repeat("a", 40), Done: true, Displaced: []missions.PathReason{{Path: "a.txt", Reason: "saved meanwhile"}}}, nil
	}})
	if code := b.run("restore", "one@1"); code != 3 || !strings.Contains(b.Stdout.String(), "a.txt") {
		t.Errorf("exit code %d: %s", code, b.Stdout.String())
	}
}

func TestLogIsCutToTheTerminal(t *testing.T) {
	t.Parallel()
	b := newBench(t, fake{log: func(context.Context, missions.LogRequest) ([]missions.Entry, error) {
		return []missions.Entry{
			{ID: strings.Repeat("a", 40), Address: "one@2", Turn: 2, Mission: "m", State: missions.StateIdle, Message: "idle: " + strings.Repeat("世界\n", 40)},
			{ID: strings.Repeat("b", 40), Address: "one@1", Turn: 1, Mission: "m", State: missions.StateIdle, Message: "idle", Pins: []string{"good"}},
		}, nil
	}})
	b.run("log", "--color=never")
	if got := b.Stdout.String(); strings.Count(got, "turn") != 2 || !strings.Contains(got, strings.Repeat(`世界\n`, 40)) || !strings.Contains(got, "idle [good]") {
		t.Errorf("off a terminal: %s", got)
	}
	b.Env.IsTerminal = func(stream any) bool { return stream == b.Env.Stdout }
	b.run("log")
	for line := range strings.Lines(b.Stdout.String()) {
		bare := line
		for _, code := range []string{"\x1b[1m", "\x1b[2m", "\x1b[36m", "\x1b[33m", "\x1b[32m", "\x1b[0m"} {
			bare = strings.ReplaceAll(bare, code, "")
		}
		if n := print.Columns(strings.TrimSuffix(bare, "\n")); n > 80 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
}

func TestHookFailsOpen(t *testing.T) {
	t.Parallel()
	b := newBench(t, fake{hook: func(_ context.Context, r missions.HookRequest) (missions.HookResult, error) {
		switch r.Event {
		case "panic":
			var none []int
			_ = none[len(r.Payload)]
		case "error":
			return missions.HookResult{}, missions.Errorf(missions.KindDamaged, "", "all is broken")
		case "problem":
			return missions.HookResult{Output: []byte("{}"), Problem: "late"}, nil
		}
		return missions.HookResult{Output: []byte("{}")}, nil
	}})
	for _, event := range []string{"panic", "error", "problem", "fine"} {
		b.Env.Stdin = strings.NewReader(`{"x":1}`)
		if code := b.run("hook", "claude", "--event", event); code != 0 || b.Stderr.Len() > 0 {
			t.Errorf("%s: exit code %d, stderr %q", event, code, b.Stderr.String())
		}
	}
	b.Env.Stdin = strings.NewReader(`{"x":1}`)
	if code := b.run("hook", "claude", "--event", "error", "--strict"); code != 13 {
		t.Errorf("--strict: exit code %d, want 13", code)
	}
	b.Env.Stdin = strings.NewReader("")
	if code := b.run("hook", "claude", "--strict"); code != 2 || !strings.Contains(b.Stderr.String(), "the event is empty") {
		t.Errorf("no event: exit code %d, stderr %q", code, b.Stderr.String())
	}
}
