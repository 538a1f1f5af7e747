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

	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/prunes"
	"github.com/umbra-vcs/umbra/missions/settings"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// pruning is what status says of the project's pruning by itself.
func (b *testBench) pruning() missions.Pruning {
	b.Helper()
	s, err := b.local.Status(context.Background(), missions.StatusRequest{Caller: b.caller()})
	if err != nil || len(s.Prunings) > 1 {
		b.Fatalf("%+v %v", s.Prunings, err)
	}
	if u := b.usage(); !slices.Equal(u.Prunings, s.Prunings) {
		b.Errorf("du says %+v, and status %+v", u.Prunings, s.Prunings)
	}
	if len(s.Prunings) == 0 {
		return missions.Pruning{}
	}
	return s.Prunings[0]
}

// quiet has done what is to be done in an idle moment.
func (b *testBench) quiet() {
	b.Helper()
	done, err := b.local.HousekeepWhenQuiet(context.Background(), b.project().Dir, time.Millisecond)
	if err != nil || done.Problem != "" {
		b.Fatalf("%+v %v", done, err)
	}
}

// askToPrune has config.yml ask for pruning by itself, with what else is said of retention.
func (b *testBench) askToPrune(more string) {
	b.Helper()
	b.put(b.local.Home.ConfigFile(), "retention:\n  auto: true\n"+more)
	b.local.Config.Retention.Auto = true // as a process that begins now reads it
}

// TestPruningBySelf: old snapshots go by themselves a week after it was said, at idle points
// alone, once a day, and not where the user does not want it.
func TestPruningBySelf(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.askToPrune("")
	clock := &clockwork{time.Now()}
	b.local.Clock = clock.time
	var started []string
	b.local.StartHousekeeper = func(dir string) error {
		if b.local.IsDue(b.project()) { // else it is to be indexed
			started = append(started, dir)
		}
		return nil
	}
	m := b.mission("work")
	b.numbered(1, 9)
	p := b.project()
	if b.quiet(); b.local.IsDue(p) || len(started) > 0 || !b.pruning().NextAt.IsZero() {
		t.Errorf("all of it is young: %+v %v", b.pruning(), started)
	}

	clock.now = clock.now.Add(60 * 24 * time.Hour)
	if b.numbered(10, 1); len(started) != 1 {
		t.Fatalf("at an idle point was started: %v", started)
	}
	told := clock.now
	b.quiet()
	if r := b.pruning(); r.Waiting != 5 || !r.PrunedAt.IsZero() || !r.NextAt.Equal(told.Add(prunes.Warning)) {
		t.Errorf("it is said: %+v", r)
	}
	clock.now = told.Add(prunes.Warning - time.Minute)
	if b.numbered(11, 1); len(started) != 1 {
		t.Errorf("started although it was said just now: %v", started)
	}
	if b.quiet(); len(b.line("work")) != 12 {
		t.Errorf("%d snapshots are left before the week is over", len(b.line("work")))
	}

	clock.now = told.Add(prunes.Warning)
	b.submit(m.ID, missions.PromptSubmitted{Text: "go", ID: "p"})
	if b.quiet(); len(b.line("work")) < 12 || !b.local.IsDue(p) {
		t.Errorf("%d snapshots are left in a turn", len(b.line("work")))
	}
	b.submit(m.ID, missions.TurnEnded{})
	op, err := b.local.Journal.Begin("0c9c58c3-4a4e-4e6f-8a80-4d4c2b1f0a11", "fork", map[string]string{})
	if err != nil {
		t.Fatal(err)
	}
	if b.quiet(); len(b.line("work")) < 12 || !b.local.IsDue(p) {
		t.Errorf("%d snapshots are left while an operation is not over", len(b.line("work")))
	}
	if err := op.Advance(journal.Done); err != nil {
		t.Fatal(err)
	}
	before := len(b.line("work"))
	b.quiet()
	r := b.pruning()
	if r.Dropped == 0 || r.Bytes <= 0 || r.Waiting > 0 || !r.PrunedAt.Equal(clock.now) || !r.NextAt.Equal(clock.now.Add(prunes.Every)) || r.Problem != "" {
		t.Errorf("it is said: %+v", r)
	}
	if left := len(b.line("work")); left != before-r.Dropped {
		t.Errorf("%d snapshots are left of %d", left, before)
	}
	b.fscked(m)

	clock.now = clock.now.Add(prunes.Every - time.Second)
	if b.local.IsDue(p) {
		t.Error("it is due twice a day")
	}
	clock.now = clock.now.Add(time.Second)
	if !b.local.IsDue(p) {
		t.Error("it is not due after a day")
	}
	b.put(b.local.Home.ConfigFile(), "retention:\n  auto: false\n")
	if b.local.IsDue(p) || !b.pruning().NextAt.IsZero() {
		t.Errorf("it is switched off: %+v", b.pruning())
	}
}

// submit tells of an event.
func (b *testBench) submit(mission string, e missions.Event) {
	b.Helper()
	if _, err := b.local.SubmitRequest(context.Background(), b.project(), mission, &snapshots.Request{Event: e}); err != nil {
		b.Fatal(err)
	}
}

// TestPruningBySelfInDoubt: where something can't be read nothing goes, and it is said; where
// nobody knows whether it was said it is said again.
func TestPruningBySelfInDoubt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.askToPrune("")
	clock := &clockwork{time.Now()}
	b.local.Clock = clock.time
	m := b.mission("work")
	b.numbered(1, 9)
	clock.now = clock.now.Add(60 * 24 * time.Hour)
	b.quiet()
	torn := filepath.Join(m.ShadowRepo, "refs", "pins", "torn")
	b.put(torn, "half an id\n")
	clock.now = clock.now.Add(prunes.Warning)
	b.quiet()
	if r := b.pruning(); r.Problem == "" || r.Fix == "" || r.Dropped > 0 || len(b.line("work")) != 10 {
		t.Errorf("beside a torn ref: %+v", r)
	}
	if err := os.Remove(torn); err != nil {
		t.Fatal(err)
	}
	b.put(filepath.Join(b.project().Dir, "pruning.json"), "{")
	b.quiet()
	if r := b.pruning(); r.Problem != "" || r.Waiting != 4 || len(b.line("work")) != 10 {
		t.Errorf("what was said is not known: %+v", r)
	}
	clock.now = clock.now.Add(-20 * 24 * time.Hour)
	b.quiet()
	if r := b.pruning(); r.Waiting != 4 || !r.NextAt.Equal(clock.now.Add(prunes.Warning)) {
		t.Errorf("the clock was set back: %+v", r)
	}
	clock.now = clock.now.Add(prunes.Warning)
	if b.quiet(); len(b.line("work")) != 6 {
		t.Errorf("%d snapshots are left", len(b.line("work")))
	}
	b.fscked(m)
}

// TestPruningBySelfIsAskedFor: what was said for a week counts for that policy and that clock
// alone, and nothing goes for a configuration that is gone, broken or does not ask for it.
func TestPruningBySelfIsAskedFor(t *testing.T) {
	t.Parallel()
	if settings.Default().Retention.Auto {
		t.Error("snapshots go by themselves of a user who has not asked for it")
	}
	b := newBench(t)
	b.askToPrune("  keep_last: 7\n")
	clock := &clockwork{time.Now()}
	b.local.Clock = clock.time
	m := b.mission("work")
	b.numbered(1, 9)
	all := len(b.line("work"))
	stays := func(what string, waiting int) {
		t.Helper()
		b.quiet()
		if r := b.pruning(); len(b.line("work")) != all || r.Waiting != waiting || r.Dropped > 0 {
			t.Errorf("%s: %d snapshots of %d are left, and it is said: %+v", what, len(b.line("work")), all, r)
		}
	}
	clock.now = clock.now.Add(60 * 24 * time.Hour)
	stays("first", 2)
	clock.now = clock.now.Add(prunes.Warning)
	for what, text := range map[string]string{"broken": "retention: [\n", "empty": "", "of another": "retention:\n  keep_last: 7\n"} {
		b.put(b.local.Home.ConfigFile(), text)
		stays(what, 0)
	}
	if err := os.Remove(b.local.Home.ConfigFile()); err != nil {
		t.Fatal(err)
	}
	stays("gone", 0)
	b.askToPrune("  keep_last: 6\n")
	stays("another policy", 3)
	clock.now = clock.now.Add(prunes.Warning - time.Minute)
	stays("another policy, the week not over", 3)
	clock.now = clock.now.Add(3 * 365 * 24 * time.Hour)
	stays("the clock set ahead", 3)
	clock.now = clock.now.Add(-2 * 365 * 24 * time.Hour)
	stays("the clock set back", 3)
	clock.now = clock.now.Add(prunes.Warning)
	b.quiet()
	if left := len(b.line("work")); left != all-3 {
		t.Errorf("%d snapshots of %d are left after a week", left, all)
	}
	b.fscked(m)
}

// TestPruningBySelfIsHeldUp: a copy of a home says again what will go; a disk that could be
// filled, and a turn that begins meanwhile, put it off; what went before it was killed is said.
func TestPruningBySelfIsHeldUp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.askToPrune("")
	clock := &clockwork{time.Now()}
	b.local.Clock = clock.time
	m := b.mission("work")
	b.numbered(1, 9)
	clock.now = clock.now.Add(60 * 24 * time.Hour)
	b.quiet()
	p, said := b.project(), filepath.Join(b.project().Dir, "pruning.json")
	for what, copied := range map[string]func(){
		"a copy that kept its times": func() {
			if err := os.Chtimes(said, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
				t.Fatal(err)
			}
		},
		"a copy elsewhere": func() { b.edit(said, b.local.Home.Dir, "/elsewhere") },
	} {
		clock.now = clock.now.Add(prunes.Warning)
		copied()
		b.quiet()
		if r := b.pruning(); r.Waiting != 4 || !r.NextAt.Equal(clock.now.Add(prunes.Warning)) || len(b.line("work")) != 10 {
			t.Errorf("%s: %d snapshots are left, and it is said: %+v", what, len(b.line("work")), r)
		}
	}

	clock.now = clock.now.Add(prunes.Warning)
	full := func(string) (uint64, error) { return uint64(b.local.Space.Limits.KeepFree), nil }
	b.local.Space.FreeBytes = full
	b.quiet()
	if r := b.pruning(); !strings.Contains(r.Problem, "MiB are free") || len(b.line("work")) != 10 {
		t.Errorf("%d snapshots are left, and of a disk without room is said: %+v", len(b.line("work")), r)
	}

	turn := func(string) (uint64, error) { // it is asked when all is planned
		b.local.Space.FreeBytes = func(string) (uint64, error) { return 1 << 50, nil }
		b.submit(m.ID, missions.PromptSubmitted{Text: "go", ID: "p"})
		return 1 << 50, nil
	}
	clock.now = clock.now.Add(prunes.Every)
	b.local.Space.FreeBytes = turn
	b.quiet()
	if r := b.pruning(); r.Dropped > 0 || len(b.line("work")) < 10 || b.local.IsDue(p) {
		t.Errorf("a turn began before it was marked: %d snapshots are left, and it is said: %+v", len(b.line("work")), r)
	}
	b.submit(m.ID, missions.TurnEnded{})
	clock.now = clock.now.Add(prunes.Rest)
	b.quiet()
	if r := b.pruning(); r.Dropped != 5 || r.Problem != "" {
		t.Errorf("the turn is over, and it is said: %+v", r)
	}

	owed := filepath.Join(m.ShadowRepo, "umbra", "owed")
	b.put(owed, "")
	b.edit(said, `"dropped":5`, `"dropped":5,"marking":3`)
	clock.now = clock.now.Add(prunes.Every)
	b.local.Space.FreeBytes = turn
	b.quiet()
	if _, err := os.Stat(owed); err != nil || b.local.IsDue(p) {
		t.Errorf("a turn began while it packed: %v, due %v", err, b.local.IsDue(p))
	}
	if r := b.pruning(); r.Dropped != 3 || !r.PrunedAt.Equal(clock.now) {
		t.Errorf("it was killed before it could note what went: %+v", r)
	}
	b.submit(m.ID, missions.TurnEnded{})
	clock.now = clock.now.Add(prunes.Rest)
	b.quiet()
	if _, err := os.Stat(owed); err == nil {
		t.Errorf("the rest is still owed after the turn: %+v", b.pruning())
	}
	b.fscked(m)
}

// edit changes what a file says, as a copy of it does that is written anew.
func (b *testBench) edit(file, before, after string) {
	b.Helper()
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), before) {
		b.Fatalf("%s %v", text, err)
	}
	b.put(file, strings.Replace(string(text), before, after, 1))
}

// TestPruningBySelfAfterAJump: what is old only by a clock that was set ahead does not go at
// once, nor is all packed anew for little.
func TestPruningBySelfAfterAJump(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.askToPrune("")
	first := time.Now()
	clock := &clockwork{first}
	b.local.Clock = clock.time
	m := b.mission("work")
	b.numbered(1, 3)
	clock.now = first.Add(9 * day)
	b.numbered(4, 9)
	clock.now = first.Add(31 * day)
	b.quiet()
	all := b.pruning().Waiting
	if all == 0 {
		t.Fatal("nothing is old")
	}
	clock.now = first.Add(44 * day)
	if b.quiet(); b.pruning().Dropped != all {
		t.Errorf("%d were said to go: %+v", all, b.pruning())
	}
	noise := make([]byte, 1<<20)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(noise)
	b.write("large.bin", string(noise))
	b.numbered(13, 1)
	clock.now = clock.now.Add(prunes.Every)
	before := len(b.line("work"))
	if b.quiet(); len(b.line("work")) != before || b.pruning().Dropped != all || b.pruning().Problem != "" {
		t.Errorf("%d snapshots of %d are left, for little: %+v", len(b.line("work")), before, b.pruning())
	}
	b.put(b.local.Home.ConfigFile(), "retention:\n  auto: true\n  keep_last: 7\n")
	if r := b.pruning(); !r.NextAt.IsZero() || r.Waiting > 0 || r.Dropped != all {
		t.Errorf("nobody has looked by another policy yet: %+v", r)
	}
	b.fscked(m)
}
