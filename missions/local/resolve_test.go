package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// resolves gives the snapshot that a moment names, or the kind of error.
func (b *testBench) resolves(c missions.Caller, moment string) string {
	r, err := b.local.Resolve(context.Background(), missions.ResolveRequest{Caller: c, Moment: moment})
	if err != nil {
		return string(missions.AsError(err).Kind)
	}
	return r.Snapshot
}

// clockwork is a clock that a test turns.
type clockwork struct{ now time.Time }

func (c *clockwork) time() time.Time { return c.now }

// TestMoments resolves every form of a moment over turns, a restore and a fork.
func TestMoments(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	clock := &clockwork{time.Now()}
	b.local.Clock = clock.time
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "zero\n")
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	clock.now = clock.now.Add(time.Hour)
	c.takeTurn("first", "a.txt", "one\n")
	clock.now = clock.now.Add(time.Hour)
	c.takeTurn("second", "a.txt", "two\n")
	entries, err := b.local.Log(context.Background(), missions.LogRequest{Caller: b.caller()})
	if err != nil || len(entries) != 5 {
		t.Fatalf("log: %+v %v", entries, err)
	}
	id := func(i int) string { return entries[len(entries)-1-i].ID } // oldest first
	m := entries[0].MissionName
	if _, err := b.local.Pin(context.Background(), missions.PinRequest{Caller: b.caller(), Moment: "@1", Name: "good"}); err != nil {
		t.Fatal(err)
	}
	for moment, want := range map[string]string{
		"": id(4), m: id(4), m + "~0": id(4), m + "~4": id(0), m + "~5": "not_found", "~1": id(3),
		m + "@1": id(2), "@2": id(4), "@-1": id(4), "@-2": id(2), "@-3": "not_found", "@3": "not_found",
		"@1.0": id(1), "@1.1": id(2), "@1.2": "not_found", "@2.0": id(3), "@0": id(0), "@0.0": id(0),
		"@start": id(0), "@fork": "not_found", "@{30m}": id(2), "@{90m}": id(0), "@{4h}": "not_found", "@{nonsense}": "usage",
		id(2): id(2), id(2)[:12]: id(2), id(2) + "~1": id(1), id(2) + "@1": "not_found", "good": id(2), "good~1": id(1), "good@1": "not_found",
		entries[0].Mission: id(4), entries[0].Mission[:9] + "@1": id(2),
		"nothing": "not_found", "0000": "not_found", "Bad Name": "not_found", m + "@": "not_found", m + "@1.x": "not_found", "~": "not_found",
		m + "~99999999999": "not_found", "@99999999999999999999": "not_found",
	} {
		if got := b.resolves(b.caller(), moment); got != want {
			t.Errorf("%q is %s, want %s", moment, got, want)
		}
	}
	fork, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: "@1", Name: "branch"})
	if err != nil {
		t.Fatal(err)
	}
	there := b.caller()
	there.Cwd = fork.Missions[0].Workspace
	for moment, want := range map[string]string{"branch": id(2), "@fork": id(2), "@start": id(0), "branch@1": id(2), "~1": id(1), "@2": "not_found", m + "@2": id(4)} {
		if got := b.resolves(there, moment); got != want {
			t.Errorf("in the fork %q is %s, want %s", moment, got, want)
		}
	}
}

// TestDefaultMission follows the order: $UMBRA_MISSION, the only live mission
// around the current directory, the most recently used one there.
func TestDefaultMission(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("sub/deep/x", "x\n")
	_, err := b.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: b.caller()})
	b.fails("no mission at all", err, missions.KindNotFound)
	outer := b.mission("outer")
	in := b.caller()
	in.Cwd = filepath.Join(b.dir, "sub")
	inner, err := b.local.NewMission(context.Background(), missions.NewMissionRequest{Caller: in, Name: "inner", Command: []string{"sh"}, Workspace: in.Cwd})
	if err != nil {
		t.Fatal(err)
	}
	name := func(c missions.Caller, r addresses.SearchScope) string {
		m, err := b.local.FindMission(context.Background(), c, "", r)
		if err != nil {
			return string(missions.AsError(err).Kind)
		}
		return m.Name
	}
	deep := in
	deep.Cwd = filepath.Join(in.Cwd, "deep")
	if got := name(deep, addresses.InProject); got != "inner" {
		t.Errorf("the most recently used is %s", got)
	}
	if got := name(b.caller(), addresses.InProject); got != "outer" {
		t.Errorf("in the outer workspace it is %s", got)
	}
	for _, id := range []string{outer.ID, inner.ID} {
		if _, err := b.local.Keep(context.Background(), missions.KeepRequest{Mission: id, KeeperPID: os.Getpid(), AgentPID: os.Getpid()}); err != nil {
			t.Fatal(err)
		}
	}
	if got := name(deep, addresses.InProject); got != string(missions.KindAmbiguous) {
		t.Errorf("two live ones: a writing verb takes %s", got)
	}
	if got := name(deep, addresses.InAnyProject); got != "inner" {
		t.Errorf("two live ones: a reading verb takes %s", got)
	}
	if got := name(b.caller(), addresses.InProject); got != "outer" {
		t.Errorf("above the inner workspace it is %s", got)
	}
	deep.Mission = outer.ID
	if got := name(deep, addresses.InProject); got != "outer" {
		t.Errorf("$UMBRA_MISSION gives %s", got)
	}
	for _, stale := range []string{"00000000-0000-4000-8000-000000000000", "outer", "../x"} {
		deep.Mission = stale
		if got := name(deep, addresses.InProject); got != string(missions.KindNotFound) {
			t.Errorf("$UMBRA_MISSION=%s gives %s", stale, got)
		}
	}
	for _, cwd := range []string{filepath.Join(b.dir, "none"), filepath.Join(b.dir, "sub/deep/x")} {
		gone := b.caller()
		gone.Cwd = cwd
		if got := name(gone, addresses.InAnyProject); got != string(missions.KindNotFound) && got != string(missions.KindUsage) {
			t.Errorf("in %s: %s", cwd, got)
		}
	}
}

// TestNamesElsewhere lets only reading verbs look in other projects.
func TestNamesElsewhere(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	m := b.mission("work")
	e := b.snapshot("x")
	other := b.caller()
	other.Cwd = t.TempDir()
	for _, moment := range []string{"work", m.ID, m.ID[:8], e.ID, e.ID[:10], "work@start"} {
		if got := b.resolves(other, moment); len(got) != 40 {
			t.Errorf("reading %s from elsewhere: %s", moment, got)
		}
	}
	_, err := b.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: other, Mission: "work"})
	b.fails("writing to another project's mission", err, missions.KindNotFound)
	if e := missions.AsError(err); !strings.Contains(e.Hint, b.dir) {
		t.Errorf("it does not say where the mission is: %+v", e)
	}
	second, err := b.local.NewMission(context.Background(), missions.NewMissionRequest{Caller: other, Name: "work", Command: []string{"sh"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := b.resolves(other, "work"); got != second.Head {
		t.Errorf("its own project's mission comes first: %s", got)
	}
	third := b.caller()
	third.Cwd = t.TempDir()
	if got := b.resolves(third, "work"); got != string(missions.KindAmbiguous) {
		t.Errorf("one name in two other projects: %s", got)
	}
	_, err = b.local.NewMission(context.Background(), missions.NewMissionRequest{Caller: other, Name: "work", Command: []string{"sh"}})
	b.fails("a name that is taken", err, missions.KindConflict)
	if _, err := b.local.Pin(context.Background(), missions.PinRequest{Caller: other, Moment: "work", Name: "keep"}); err != nil {
		t.Fatal(err)
	}
	_, err = b.local.NewMission(context.Background(), missions.NewMissionRequest{Caller: other, Name: "keep", Command: []string{"sh"}})
	b.fails("a mission named as a pin", err, missions.KindConflict)
	_, err = b.local.Pin(context.Background(), missions.PinRequest{Caller: other, Moment: "work", Name: "work"})
	b.fails("a pin named as a mission", err, missions.KindConflict)
}

// TestAddresses types what `umbra log` prints, over random histories with
// restores and forks: each address leads back to its snapshot.
func TestAddresses(t *testing.T) {
	t.Parallel()
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		if n > 2 && testing.Short() || n > 4 {
			return // each takes a tenth of a second and more
		}
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			b := newBench(t)
			b.local.Adapters = projects.Agents()
			b.write("a.txt", "zero\n")
			c := newTalker(b)
			c.hook("SessionStart", map[string]any{"source": "startup"})
			randomHistory(r, c)
			all, err := b.local.Missions(context.Background(), missions.MissionsRequest{Caller: b.caller()})
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range all {
				entries, err := b.local.Log(context.Background(), missions.LogRequest{Caller: b.caller(), Mission: m.Name})
				if err != nil {
					t.Fatal(err)
				}
				turn := 1 << 30
				for i, e := range entries {
					if got := b.resolves(b.caller(), e.Address); got != e.ID {
						t.Errorf("%s leads to %s, not %s", e.Address, got, e.ID)
					}
					if got := b.resolves(b.caller(), fmt.Sprintf("%s~%d", m.Name, i)); got != e.ID {
						t.Errorf("%s~%d leads to %s, not %s", m.Name, i, got, e.ID)
					}
					if e.Turn > turn {
						t.Errorf("%s: turn %d comes before turn %d", m.Name, e.Turn, turn)
					}
					turn = e.Turn
				}
			}
			b.healthy()
		})
	})
}

// randomHistory lets an agent and its user do what they do.
func randomHistory(r *rapid.T, c *talker) {
	main := ""
	for step := range rapid.IntRange(1, 7).Draw(r, "steps") {
		switch rapid.SampledFrom([]string{"turn", "turn", "manual", "unheard", "restore", "fork"}).Draw(r, "what") {
		case "turn":
			c.takeTurn("turn", "a.txt", fmt.Sprint("turn ", step))
		case "manual":
			c.write("b.txt", fmt.Sprint("by hand ", step))
			if _, err := c.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: c.caller(), Mission: main}); err != nil {
				c.Fatal(err)
			}
		case "unheard": // a prompt whose turn's end nobody hears of
			c.hook("UserPromptSubmit", map[string]any{"prompt": "x", "prompt_id": fmt.Sprintf("unheard-%d", step)})
			c.write("a.txt", fmt.Sprint("unheard ", step))
		case "restore":
			entries, err := c.local.Log(context.Background(), missions.LogRequest{Caller: c.caller(), Mission: main})
			if err != nil {
				c.Fatal(err)
			}
			to := rapid.SampledFrom(entries).Draw(r, "to")
			if _, err := c.local.Restore(context.Background(), missions.RestoreRequest{Caller: c.caller(), Moment: to.ID, FilesOnly: true, All: true, Force: true}); err != nil {
				c.Fatal(err)
			}
		case "fork":
			list, err := c.local.Missions(context.Background(), missions.MissionsRequest{Caller: c.caller()})
			if err != nil {
				c.Fatal(err)
			}
			from := rapid.SampledFrom(list).Draw(r, "from")
			if _, err := c.local.Fork(context.Background(), missions.ForkRequest{Caller: c.caller(), From: from.Name + "~0"}); err != nil {
				c.Fatal(err)
			}
		}
	}
}

// TestMissionsThatCannotBeListed: where the refs can't be read as a whole, a mission
// is found by its name and id all the same, and none is said to be missing.
func TestMissionsThatCannotBeListed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	m := b.mission("work")
	if err := os.Mkdir(filepath.Join(b.project().Store.Dir(), "packed-refs"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"work", m.ID} {
		if got, err := b.local.FindMissionIn(b.project(), name); err != nil || got == nil || got.ID != m.ID {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for _, name := range []string{"other", m.ID[:6]} {
		if got, err := b.local.FindMissionIn(b.project(), name); err == nil {
			t.Errorf("%s: %+v, and no error", name, got)
		}
	}
}
