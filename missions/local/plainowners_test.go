package local

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// TestTwoPlainCommands: two plain commands work in one workspace, one after the other,
// and the user does after both. A restore of one asks about what the others changed.
func TestTwoPlainCommands(t *testing.T) {
	t.Parallel()
	hazards.Held(t, hazards.H9, "of two plain commands, which have no turns, a restore of one asks about the other's work and the user's")
	b := newBench(t)
	clock := &clockwork{time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
	b.local.Clock = clock.time
	b.write("shared.txt", "zero\n")
	work := func(name, file string) {
		t.Helper()
		b.mission(name)
		b.tell(name, missions.AgentLaunched{})
		clock.now = clock.now.Add(time.Minute)
		b.write(file, "of "+name+"\n")
		clock.now = clock.now.Add(time.Minute)
		b.tell(name, missions.AgentExited{})
		clock.now = clock.now.Add(time.Minute)
	}
	work("one", "one.txt")
	work("two", "two.txt")
	b.write("shared.txt", "the user's\n")
	clock.now = clock.now.Add(time.Minute)
	_, err := b.local.Restore(t.Context(), missions.RestoreRequest{Caller: b.caller(), Mission: "one", Moment: "one@start"})
	b.fails("a restore of the first", err, missions.KindConflict)
	for path, asked := range map[string]bool{"one.txt": false, "two.txt": true, "shared.txt": true} {
		if strings.Contains(err.Error(), path+" (changed while this mission's command did not run)") != asked {
			t.Errorf("%s is asked about, want %v: %v", path, asked, err)
		}
	}
	b.restore("one@start", func(r *missions.RestoreRequest) { r.Mission, r.KeepOthers = "one", true })
	if b.exists("one.txt") || b.read("two.txt") != "of two\n" || b.read("shared.txt") != "the user's\n" {
		t.Errorf("one.txt is there: %v; the others are %q and %q", b.exists("one.txt"), b.read("two.txt"), b.read("shared.txt"))
	}
	b.healthy()
}

// TestPlainCommandsAtOnce: whose a change is that was made while both were there can't be
// told. One that is alone takes back all that changed, as before.
func TestPlainCommandsAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "zero\n")
	b.mission("one")
	b.write("a.txt", "one\n")
	b.restore("one@start")
	if got := b.read("a.txt"); got != "zero\n" {
		t.Errorf("alone: %q", got)
	}
	b.write("sub/b.txt", "zero\n")
	sub := &testBench{T: t, local: b.local, user: b.user, home: b.home, dir: filepath.Join(b.dir, "sub")}
	below, err := b.local.NewMission(t.Context(), missions.NewMissionRequest{Caller: sub.caller(), Name: "below", Workspace: ".", Command: []string{"sh"}})
	if err != nil {
		t.Fatal(err)
	}
	b.write("a.txt", "one again\n")
	b.restore("one@start", func(r *missions.RestoreRequest) { r.Paths = []string{"a.txt"} })
	if got := b.read("a.txt"); got != "zero\n" {
		t.Errorf("beside %s in another directory: %q", below.Name, got)
	}
	b.mission("two")
	b.write("a.txt", "two\n")
	_, err = b.local.Restore(t.Context(), missions.RestoreRequest{Caller: b.caller(), Mission: "one", Moment: "one@start"})
	b.fails("a restore beside another", err, missions.KindConflict)
	if !strings.Contains(err.Error(), "a.txt (mission two was at work here at the time)") || b.read("a.txt") != "two\n" {
		t.Errorf("%q: %v", b.read("a.txt"), err)
	}
	b.healthy()
}

// TestBesideUnlaunched: a mission whose command was never launched is not at work. Another's
// restore does not ask about it.
func TestBesideUnlaunched(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	clock := &clockwork{time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
	b.local.Clock = clock.time
	b.write("a.txt", "zero\n")
	b.mission("still")
	clock.now = clock.now.Add(time.Minute)
	b.mission("work")
	b.tell("work", missions.AgentLaunched{})
	b.write("a.txt", "one\n")
	clock.now = clock.now.Add(time.Minute)
	b.tell("work", missions.AgentExited{})
	b.restore("work@start", func(r *missions.RestoreRequest) { r.Mission = "work" })
	if got := b.read("a.txt"); got != "zero\n" {
		t.Errorf("beside a mission that was not launched: %q", got)
	}
	b.healthy()
}
