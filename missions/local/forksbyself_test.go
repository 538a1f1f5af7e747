package local

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/commits"
	"github.com/umbra-vcs/umbra/missions/settings"
)

// retiring is a bench whose forks are to go by themselves, with one whose agent has done some
// work and has ended.
func retiring(t *testing.T) (b *testBench, clock *clockwork, fork missions.Mission) {
	b = newBench(t)
	b.askToRetire("14d")
	clock = &clockwork{time.Now()}
	b.local.Clock = clock.time
	b.versioned()
	b.mission("work")
	fork = b.fork("fix")
	b.submit(fork.ID, missions.PromptSubmitted{Text: "go", ID: "p"})
	b.put(filepath.Join(fork.Workspace, "fixed.txt"), "fixed\n")
	b.put(filepath.Join(fork.Workspace, "notes.log"), "only here\n")
	b.submit(fork.ID, missions.TurnEnded{})
	b.submit(fork.ID, missions.SessionEnded{})
	return b, clock, fork
}

// askToRetire has config.yml ask for it.
func (b *testBench) askToRetire(after string) {
	b.Helper()
	b.put(b.local.Home.ConfigFile(), "retention:\n  forks: "+after+"\n")
	b.local.Config.Retention.Forks = settings.Duration(14 * day) // as a process that began with it
}

// forkExpiry is what status and du say of forks that are over.
func (b *testBench) forkExpiry() (e missions.ForkExpiry) {
	b.Helper()
	s, err := b.local.Status(b.Context(), missions.StatusRequest{Caller: b.caller()})
	if err != nil {
		b.Fatal(err)
	}
	said, err := json.Marshal(s.ForkExpiry)
	if err != nil {
		b.Fatal(err)
	}
	u, err := b.local.Usage(b.Context(), missions.UsageRequest{Caller: b.caller()})
	if err != nil {
		b.Fatal(err)
	}
	if other, err := json.Marshal(u.ForkExpiry); err != nil || string(other) != string(said) {
		b.Errorf("du says %s, and status %s, %v", other, said, err)
	}
	if s.ForkExpiry != nil {
		e = *s.ForkExpiry
	}
	return e
}

// TestForksGoBySelf: a fork that was promoted goes to the trash once its agent has ended for as
// long as the configuration says; it is said for a week before; it comes back as it was.
func TestForksGoBySelf(t *testing.T) {
	t.Parallel()
	b, clock, fork := retiring(t)
	b.promoted("fix")
	started := 0
	start := func(string) error { started++; return nil }
	b.local.StartDaily(start)
	b.quiet()
	first := clock.now
	if b.local.StartDaily(start); started != 1 || b.local.AreForksDue() {
		t.Errorf("%d processes were started to look", started)
	}
	if b.daily(clock, 6); len(b.forkExpiry().Waiting) > 0 {
		t.Errorf("it is said: %+v", b.forkExpiry())
	}
	b.daily(clock, 1)
	if e := b.forkExpiry(); e.Keep != "14d" || len(e.Waiting) != 1 || e.Waiting[0] != "fix" || !e.GoesAt.Equal(first.Add(14*day)) || !e.NextAt.Equal(clock.now.Add(day)) {
		t.Errorf("a week before it is said: %+v", e)
	}
	b.daily(clock, 6)
	b.stands(fork.Workspace, true)
	b.daily(clock, 1)
	b.stands(fork.Workspace, false)
	if e := b.forkExpiry(); e.Went != 1 || len(e.Waiting) > 0 || !e.WentAt.Equal(clock.now) || e.Problem != "" {
		t.Errorf("afterwards it is said: %+v", e)
	}
	b.healthy()
	if b.read("fixed.txt") != "fixed\n" {
		t.Error("the parent has lost what was promoted")
	}
	b.unremove("fix")
	for _, name := range []string{"fixed.txt", "notes.log"} {
		b.stands(filepath.Join(fork.Workspace, name), true)
	}
	if b.daily(clock, 7); len(b.line("fix")) == 0 {
		t.Error("what came back went at once")
	}
	b.healthy()
}

// TestForkWithARepositoryStays: commits of a nested repository, which no snapshot holds, keep
// their fork, though nothing has changed since the fork was promoted.
func TestForkWithARepositoryStays(t *testing.T) {
	t.Parallel()
	b, clock, fork := retiring(t)
	nested := filepath.Join(fork.Workspace, "nested")
	if out, err := exec.Command("git", "init", "-q", nested).CombinedOutput(); err != nil {
		t.Fatalf("%s %v", out, err)
	}
	b.put(filepath.Join(nested, "file"), "in it\n")
	b.commitIn(nested)
	b.submit(fork.ID, missions.PromptSubmitted{Text: "again", ID: "q"})
	b.submit(fork.ID, missions.TurnEnded{})
	b.submit(fork.ID, missions.SessionEnded{})
	b.promoted("fix")
	b.quiet()
	b.daily(clock, 28)
	b.stands(fork.Workspace, true)
	if e := b.forkExpiry(); len(e.Waiting) > 0 {
		t.Errorf("it is said to go: %+v", e)
	}
}

// TestForksStay: whatever else there is of a fork than what stands in its parent, it stays; so it
// does while anything may need it, and unless the configuration asks for it now. What goes once
// nothing of that is so is the same fork, at the same age.
func TestForksStay(t *testing.T) {
	t.Parallel()
	if settings.Default().Retention.Forks != 0 {
		t.Error("forks of a user go who has not asked for it")
	}
	b, clock, fork := retiring(t)
	b.quiet()
	b.daily(clock, 14)
	b.stands(fork.Workspace, true)
	if a := b.forkExpiry(); len(a.Waiting) > 0 {
		t.Errorf("of a fork with work of its own it is said: %+v", a)
	}
	b.promoted("fix")
	b.quiet()
	b.daily(clock, 14)
	aged, err := os.ReadFile(filepath.Join(b.home, "forks.json"))
	if err != nil || len(b.forkExpiry().Waiting) != 1 {
		t.Fatalf("%s %v", aged, err)
	}
	last := clock.now

	made := filepath.Join(fork.Workspace, "more.txt")
	named := func(below ...string) func() func() {
		return func() func() {
			file := b.place(filepath.Join(below...))
			b.put(file, `{"of":"`+fork.ID+`"}`)
			return func() { _ = os.Remove(file) }
		}
	}
	ask := func(after string) func() { return func() { b.askToRetire(after) } }
	for what, hinder := range map[string]func() (mend func()){
		"new work":     func() func() { b.put(made, "new\n"); return func() { _ = os.Remove(made) } },
		"a merge":      named(b.project().Dir, "merges", "one", "merge.json"),
		"an update":    named(b.project().Dir, "updates", "waiting", "one.json"),
		"a fix":        named(b.home, "agents", "fixes", "other.json"),
		"a bisect":     named(b.home, "agents", "bisect", fork.ID+".json"),
		"never":        func() func() { b.askToRetire("never"); return ask("14d") },
		"a broken one": func() func() { b.put(b.local.Home.ConfigFile(), "retention: [\n"); return ask("14d") },
		"a variable": func() func() {
			b.local.Config.Retention.Forks = 0
			return ask("14d")
		},
		"a torn ref": func() func() {
			torn := filepath.Join(b.project().ShadowRepo(), "refs", "agents", "0c9c58c3-4a4e-4e6f-8a80-4d4c2b1f0a11")
			b.put(torn, "half an id\n")
			return func() {
				if e := b.forkExpiry(); !strings.HasPrefix(e.Problem, "no fork goes while") || len(e.Waiting) != 1 {
					t.Errorf("it is said: %+v", e)
				}
				_ = os.Remove(torn)
			}
		},
		"an operation": func() func() {
			op, err := b.local.Journal.Begin(b.local.NewID(), "fork", map[string]string{})
			if err != nil {
				t.Fatal(err)
			}
			return func() { _ = op.Advance(journal.Done) }
		},
		"a pin": func() func() {
			pin := missions.PinRequest{Caller: b.caller(), Moment: "fix", Name: "good"}
			if _, err := b.local.Pin(t.Context(), pin); err != nil {
				t.Fatal(err)
			}
			return func() {
				if _, err := b.local.Unpin(t.Context(), missions.PinRequest{Caller: b.caller(), Name: "good"}); err != nil {
					t.Fatal(err)
				}
			}
		},
		"a fork of it": func() func() {
			b.forkAt("fix", "child")
			return func() {
				if _, err := b.local.Remove(t.Context(), missions.RemoveRequest{Caller: b.caller(), Missions: []string{"child"}, Workspace: true}); err != nil {
					t.Fatal(err)
				}
			}
		},
		"a commit": func() func() {
			b.commitIn(fork.Workspace)
			return func() { b.commitIn(fork.Workspace, "reset", "-q", "--soft", "HEAD^") }
		},
		"undone": func() func() {
			if _, err := b.local.Undo(t.Context(), missions.UndoRequest{Caller: b.caller(), Mission: "work"}); err != nil {
				t.Fatal(err)
			}
			return b.redo
		},
	} {
		clock.now = last
		b.put(filepath.Join(b.home, "forks.json"), string(aged))
		mend := hinder()
		clock.now = clock.now.Add(day)
		b.quiet()
		b.stands(filepath.Join(fork.Workspace, "fixed.txt"), true)
		mend()
		if t.Failed() {
			t.Fatalf("%s: it went", what)
		}
	}

	clock.now = last
	b.put(filepath.Join(b.home, "forks.json"), string(aged))
	b.submit(fork.ID, missions.SessionBegan{})
	clock.now = clock.now.Add(day)
	if b.quiet(); len(b.forkExpiry().Waiting) > 0 {
		t.Error("with an agent it is said to go")
	}
	b.stands(fork.Workspace, true)
	b.submit(fork.ID, missions.SessionEnded{})
	b.daily(clock, 14)
	b.stands(fork.Workspace, true)
	b.daily(clock, 1)
	b.stands(fork.Workspace, false)
	b.healthy()
}

// commitIn commits what is in a directory, or does something else there.
func (b *testBench) commitIn(dir string, args ...string) {
	b.Helper()
	if there := *b; len(args) > 0 {
		there.dir = dir
		there.git(args...)
		return
	}
	there := *b
	there.dir = dir
	there.git("add", ".")
	there.git("commit", "-qm", "mine")
}

// TestLandedForksGoBySelf: work that has landed on the fork's own branch alone goes with it, so
// it stays; its days are counted from when your branch has it.
func TestLandedForksGoBySelf(t *testing.T) {
	t.Parallel()
	b, clock, fork := retiring(t)
	b.git("config", "user.name", "T")
	b.git("config", "user.email", "t@t")
	plan, err := b.local.PlanLanding(t.Context(), missions.LandingRequest{Caller: b.caller(), Mission: "fix"})
	if err != nil {
		t.Fatal(err)
	}
	work, err := commits.Open(t.Context(), plan, commits.Options{Groups: commits.Whole(plan), Environ: append(os.Environ(), "HOME="+b.user)})
	if err != nil {
		t.Fatal(err)
	}
	result, err := work.Make()
	if cerr := work.Close(); err != nil || cerr != nil || len(result.Landed) == 0 {
		t.Fatalf("%+v %v %v", result, err, cerr)
	}
	var landed commits.Landed
	landed.Add(result)
	text, err := json.Marshal(landed)
	if err != nil {
		t.Fatal(err)
	}
	b.put(b.local.Home.LandedFile(fork.ID), string(text))
	b.quiet()
	b.daily(clock, 15)
	b.stands(fork.Workspace, true)
	if out, err := exec.Command("git", "-C", b.dir, "merge", "-q", "--ff-only", result.Branch).CombinedOutput(); err != nil {
		t.Fatalf("%s %v", out, err)
	}
	b.daily(clock, 15)
	b.stands(fork.Workspace, false)
	if e := b.forkExpiry(); e.Went != 1 || e.Problem != "" {
		t.Errorf("it is said: %+v", e)
	}
	b.healthy()
}
