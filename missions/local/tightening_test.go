package local

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/prunes"
)

// filling is a bench with a snapshot of each of twelve days, none of which the policy drops, and
// each with as much that nothing else has.
func filling(t *testing.T) (b *testBench, clock *clockwork, m missions.Mission) {
	b = newBench(t)
	clock = &clockwork{time.Now().Add(-12 * day)}
	b.local.Clock, b.local.Space.Clock = clock.time, clock.time
	m = b.mission("work")
	random := rand.New(rand.NewPCG(23, 1))
	for range 12 {
		text := make([]byte, 200_000)
		for i := range text {
			text[i] = "0123456789abcdef"[random.IntN(16)]
		}
		b.write("a.txt", string(text))
		b.snapshot("more")
		clock.now = clock.now.Add(day)
	}
	b.local.Config.Retention.Auto = true // as a process that began with it
	return b, clock, m
}

// limit has config.yml allow so many bytes more, or less, than the home takes.
func (b *testBench) limit(more int64, auto string) {
	b.Helper()
	if err := b.local.Space.Measure(); err != nil {
		b.Fatal(err)
	}
	most := max(b.local.Space.LastUsage.Bytes+more, 100_000)
	b.local.Space.Limits.MaxBytes = most
	b.put(b.local.Home.ConfigFile(), "retention:\n  keep_last: 2\n  auto: "+auto+"\nstorage:\n  max_bytes: "+missions.Itoa(int(most))+"\n")
}

// tightening is what status and du say.
func (b *testBench) tightening() (t missions.Tightening) {
	b.Helper()
	s, err := b.local.Status(b.Context(), missions.StatusRequest{Caller: b.caller()})
	if err != nil {
		b.Fatal(err)
	}
	u, err := b.local.Usage(b.Context(), missions.UsageRequest{Caller: b.caller()})
	if err != nil || (s.Tightening == nil) != (u.Tightening == nil) || s.Tightening != nil && *s.Tightening != *u.Tightening {
		b.Errorf("du says %+v, and status %+v, %v", u.Tightening, s.Tightening, err)
	}
	if s.Tightening != nil {
		t = *s.Tightening
	}
	return t
}

// TestFullHomeIsPruned: once the home takes more than it may, old snapshots go by themselves as
// far as it takes, a day after it could be said, and never beyond the last turns; what is pinned
// and where it began stay.
func TestFullHomeIsPruned(t *testing.T) {
	t.Parallel()
	b, clock, m := filling(t)
	if _, err := b.local.Pin(b.Context(), missions.PinRequest{Caller: b.caller(), Moment: b.line("work")[9], Name: "good"}); err != nil {
		t.Fatal(err)
	}
	ids := b.line("work")
	b.limit(-300_000, "true")
	if b.local.Space.CheckRoom() == nil || !b.local.MayKeepHouse() {
		t.Fatal("the home is not full, or nothing is begun")
	}
	said := clock.now
	b.quiet()
	if r := b.tightening(); !r.From.Equal(said.Add(prunes.Notice)) || r.Policy != "the last 2 turns" || r.Dropped > 0 {
		t.Errorf("it is said: %+v", r)
	}
	clock.now = said.Add(prunes.Notice - time.Minute)
	if b.quiet(); len(b.line("work")) != len(ids) || b.local.MayKeepHouse() {
		t.Errorf("%d of %d snapshots stayed before it could be said for a day", len(b.line("work")), len(ids))
	}
	clock.now = said.Add(prunes.Notice)
	b.quiet()
	left := b.line("work")
	r := b.tightening()
	if !strings.Contains(r.Kept, "the last 7d") || len(left) != len(ids)-r.Dropped || r.Dropped < 2 || len(left) < 7 || !r.PrunedAt.Equal(clock.now) || r.Bytes < 300_000 || r.Problem != "" {
		t.Errorf("of %d snapshots stayed %d: %+v", len(ids), len(left), r)
	}
	if err := b.local.Space.CheckRoom(); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	if b.daily(clock, 1); len(b.line("work")) != len(left) {
		t.Error("more went where there is room")
	}

	b.limit(-10_000_000, "true") // more than the last turns can give back
	b.quiet()
	b.daily(clock, 1)
	last := b.line("work")
	if want := []string{ids[0], ids[1], ids[9], ids[len(ids)-1]}; !slices.Equal(last, want) {
		t.Errorf("%q stayed, not %q", last, want)
	}
	err := b.local.Space.CheckRoom()
	if e := missions.AsError(err); err == nil || !strings.Contains(e.Hint, "umbra du") {
		t.Errorf("what is to be typed: %v", err)
	}
	if b.local.IsTighteningDue() {
		t.Error("it is tried again at once")
	}
	b.limit(1<<40, "true")
	b.fscked(m)
}

// TestFullHomeStays: nothing goes for want of room unless the file of the configuration asks for
// it now, nor for a limit of a shell's own, nor while an agent is in a turn, nor at once in a copy
// of the home.
func TestFullHomeStays(t *testing.T) {
	t.Parallel()
	b, clock, m := filling(t)
	all := len(b.line("work"))
	b.limit(-300_000, "true")
	b.quiet()
	clock.now = clock.now.Add(prunes.Notice)
	said := b.local.Home.Path("tightening.json")
	for what, hinder := range map[string]func() (mend func()){
		"not asked": func() func() { b.limit(-300_000, "false"); return func() { b.limit(-300_000, "true") } },
		"broken": func() func() {
			b.put(b.local.Home.ConfigFile(), "retention: [\n")
			return func() { b.limit(-300_000, "true") }
		},
		"a shell's limit": func() func() {
			b.put(b.local.Home.ConfigFile(), "retention:\n  keep_last: 2\n  auto: true\n")
			return func() { b.limit(-300_000, "true") }
		},
		"a variable": func() func() {
			b.local.Config.Retention.Auto = false
			return func() { b.local.Config.Retention.Auto = true }
		},
		"a copy": func() func() {
			if err := os.Chtimes(said, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
				t.Fatal(err)
			}
			return func() {}
		},
		"a full disk": func() func() {
			free := b.local.Space.FreeBytes
			b.local.Space.FreeBytes = func(string) (uint64, error) { return home.MinFreeBytes - 1, nil }
			return func() { b.local.Space.FreeBytes = free }
		},
		"a turn": func() func() {
			b.local.Space.Limits.MaxBytes = 1 << 40
			b.submit(m.ID, missions.PromptSubmitted{Text: "go", ID: "p"})
			b.limit(-300_000, "true")
			return func() {
				b.local.Space.Limits.MaxBytes = 1 << 40
				b.submit(m.ID, missions.TurnEnded{})
				b.limit(-300_000, "true")
			}
		},
	} {
		before, err := os.ReadFile(said)
		if err != nil {
			t.Fatal(err)
		}
		mend := hinder()
		_, _ = b.local.HousekeepWhenQuiet(context.Background(), b.project().Dir, time.Millisecond)
		mend()
		if left := len(b.line("work")); left < all {
			t.Fatalf("%s: %d of %d snapshots stayed", what, left, all)
		}
		b.put(said, string(before))
	}
	b.quiet()
	if left := len(b.line("work")); left >= all {
		t.Errorf("%d of %d snapshots stayed where nothing is in the way", left, all)
	}
	b.fscked(m)
}

// TestFullHomeGivesBackFirst: what a pruning that was killed had dropped is given back before
// anything more goes.
func TestFullHomeGivesBackFirst(t *testing.T) {
	t.Parallel()
	b, clock, m := filling(t)
	all := len(b.line("work"))
	random := rand.New(rand.NewPCG(23, 2))
	text := make([]byte, 900_000)
	for i := range text {
		text[i] = "0123456789abcdef"[random.IntN(16)]
	}
	b.put(filepath.Join(b.user, "dropped"), string(text))
	b.git("--git-dir="+m.ShadowRepo, "hash-object", "-w", filepath.Join(b.user, "dropped"))
	b.put(filepath.Join(m.ShadowRepo, "umbra", "owed"), "")
	b.limit(-200_000, "true")
	b.quiet()
	b.daily(clock, 1)
	if left, err := len(b.line("work")), b.local.Space.CheckRoom(); left != all || err != nil {
		t.Errorf("%d of %d snapshots stayed, %v", left, all, err)
	}
	b.fscked(m)
}
