package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/restores"
	"github.com/umbra-vcs/umbra/missions/settings"
)

const day = 24 * time.Hour

// emptying is a bench whose trash is to be emptied by itself, with a mission in it that was
// removed now, and a file of it that is nowhere else.
func emptying(t *testing.T) (b *testBench, clock *clockwork, fork missions.Mission, kept string) {
	b = newBench(t)
	b.askToEmpty("30d")
	clock = &clockwork{time.Now()}
	b.local.Clock = clock.time
	b.versioned()
	b.mission("work")
	fork, kept = b.trashed("work", "fix")
	clock.now = time.Now() // no file can be given an earlier time of change
	return b, clock, fork, kept
}

// askToEmpty has config.yml ask for it.
func (b *testBench) askToEmpty(after string) {
	b.Helper()
	b.put(b.local.Home.ConfigFile(), "retention:\n  trash: "+after+"\n")
	b.local.Config.Retention.Trash = settings.Duration(30 * day) // as a process that began with it
}

// daily has what is due done on so many days, one after the other.
func (b *testBench) daily(clock *clockwork, days int) {
	b.Helper()
	for range days {
		clock.now = clock.now.Add(day)
		b.quiet()
	}
}

// expiry is what status and du say of the trash.
func (b *testBench) expiry() missions.TrashExpiry {
	b.Helper()
	s, err := b.local.Status(context.Background(), missions.StatusRequest{Caller: b.caller()})
	u, uerr := b.local.Usage(context.Background(), missions.UsageRequest{Caller: b.caller()})
	if err = errors.Join(err, uerr); err != nil {
		b.Fatal(err)
	}
	if s.TrashExpiry == nil || u.TrashExpiry == nil {
		if s.TrashExpiry != u.TrashExpiry {
			b.Errorf("du says %+v, and status %+v", u.TrashExpiry, s.TrashExpiry)
		}
		return missions.TrashExpiry{}
	}
	if *s.TrashExpiry != *u.TrashExpiry {
		b.Errorf("du says %+v, and status %+v", u.TrashExpiry, s.TrashExpiry)
	}
	return *s.TrashExpiry
}

// goesAt is when the trash is said to go by umbra trash ls.
func (b *testBench) goesAt() (at []time.Time) {
	b.Helper()
	in, err := b.trash(false)
	if err != nil {
		b.Fatal(err)
	}
	for _, m := range in.Removed {
		at = append(at, m.GoesAt)
	}
	return at
}

// TestTrashGoesBySelf: what was removed goes for good once it was in the trash for as long as
// the configuration says, daily looked at; it is said for a week before; the mission comes back
// with its snapshots all the same.
func TestTrashGoesBySelf(t *testing.T) {
	t.Parallel()
	b, clock, fork, kept := emptying(t)
	started := 0
	start := func(string) error { started++; return nil }
	b.local.StartDaily(start)
	b.quiet()
	if b.local.StartDaily(start); started != 1 {
		t.Errorf("%d processes were started to look", started)
	}
	first := clock.now
	if at := b.goesAt(); len(at) != 1 || !at[0].Equal(first.Add(30*day)) {
		t.Errorf("it is said to go: %v", at)
	}
	if e := b.expiry(); e.Keep != "30d" || e.Waiting != 0 || !e.NextAt.Equal(first.Add(day)) || b.local.IsExpiryDue() {
		t.Errorf("it is said: %+v", e)
	}
	if b.daily(clock, 22); b.expiry().Waiting != 0 {
		t.Errorf("it is said: %+v", b.expiry())
	}
	b.daily(clock, 1)
	if e := b.expiry(); e.Waiting != 1 || !e.GoesAt.Equal(first.Add(30*day)) {
		t.Errorf("a week before it is said: %+v", e)
	}
	b.daily(clock, 6)
	b.stands(kept, true)
	_, late := b.trashed("work", "late")
	b.daily(clock, 1)
	b.stands(kept, false)
	b.stands(late, true)
	b.stands(filepath.Join(b.home, "trash", fork.ID), false)
	b.stands(filepath.Join(b.home, home.ErasedDir), false)
	if e := b.expiry(); e.Waiting != 0 || e.Emptied != 1 || e.Bytes <= 0 || !e.EmptiedAt.Equal(clock.now) || e.Problem != "" {
		t.Errorf("afterwards it is said: %+v", e)
	}
	b.healthy()
	if b.unremove("fix"); len(b.line("fix")) == 0 {
		t.Error("its snapshots are gone")
	}
}

// TestTrashStaysUnasked: of a user who has not asked for it nothing goes, nor by a file that is
// broken or gone, nor by a variable alone.
func TestTrashStaysUnasked(t *testing.T) {
	t.Parallel()
	if settings.Default().Retention.Trash != 0 {
		t.Error("the trash is emptied of a user who has not asked for it")
	}
	b, clock, _, kept := emptying(t)
	b.daily(clock, 29)
	for what, text := range map[string]string{"broken": "retention: [\n", "empty": "", "never": "retention:\n  trash: never\n", "none": "retention:\n  trash: 0s\n"} {
		b.put(b.local.Home.ConfigFile(), text)
		clock.now = clock.now.Add(day)
		if b.quiet(); b.local.IsExpiryDue() || b.expiry().Keep != "" || !b.goesAt()[0].IsZero() {
			t.Errorf("%s: %+v", what, b.expiry())
		}
		b.stands(kept, true)
	}
	if err := os.Remove(b.local.Home.ConfigFile()); err != nil {
		t.Fatal(err)
	}
	b.daily(clock, 1)
	b.stands(kept, true)
	b.askToEmpty("30d")
	b.local.Config.Retention.Trash = 0
	b.daily(clock, 2)
	b.stands(kept, true)
	b.askToEmpty("40d")
	b.daily(clock, 1)
	if e := b.expiry(); e.Keep != "40d" || e.Waiting != 0 {
		t.Errorf("by another policy it is said: %+v", e)
	}
	b.stands(kept, true)
}

// TestTrashStaysInDoubt: where anything can't be read, an operation is not over, or the mission
// is being brought back or was brought back, nothing goes; and what goes later is whole.
func TestTrashStaysInDoubt(t *testing.T) {
	t.Parallel()
	b, clock, fork, kept := emptying(t)
	b.quiet()
	b.daily(clock, 29)

	torn := filepath.Join(b.project().ShadowRepo(), "refs", "trash", "agents", "0c9c58c3-4a4e-4e6f-8a80-4d4c2b1f0a11")
	b.put(torn, "half an id\n")
	b.daily(clock, 2)
	b.stands(kept, true)
	if e := b.expiry(); e.Problem == "" || e.Fix == "" || e.Emptied > 0 {
		t.Errorf("beside a torn ref: %+v", e)
	}
	if err := os.Remove(torn); err != nil {
		t.Fatal(err)
	}

	op, err := b.local.Journal.Begin(b.local.NewID(), restores.JournalKind, map[string]string{"mission": fork.ID})
	if err != nil {
		t.Fatal(err)
	}
	b.daily(clock, 2)
	b.stands(kept, true)
	if err := os.RemoveAll(filepath.Join(b.home, "journal", op.ID())); err != nil {
		t.Fatal(err)
	}

	coming, err := lock.Try(filepath.Join(b.home, "locks", "trash"), lock.Shared, b.local.Self)
	if err != nil {
		t.Fatal(err)
	}
	b.daily(clock, 2)
	b.stands(kept, true)
	if err := coming.Release(); err != nil {
		t.Fatal(err)
	}
	taking, err := lock.Try(filepath.Join(b.home, "locks", "trash"), lock.Exclusive, b.local.Self)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	_, err = b.local.Unremove(ctx, missions.UnremoveRequest{Caller: b.caller(), Mission: "fix"})
	b.fails("bringing back what is being taken", err, missions.KindInterrupted)
	if err := taking.Release(); err != nil {
		t.Fatal(err)
	}
	held, err := lock.Try(filepath.Join(b.home, "locks", "emptying"), lock.Exclusive, b.local.Self)
	if err != nil {
		t.Fatal(err)
	}
	b.daily(clock, 1)
	b.stands(kept, true)
	if err := held.Release(); err != nil {
		t.Fatal(err)
	}

	b.unremove("fix")
	b.daily(clock, 1)
	b.stands(filepath.Join(fork.Workspace, "notes.log"), true)
	if _, err := b.local.Remove(context.Background(), missions.RemoveRequest{Caller: b.caller(), Missions: []string{"fix"}, Workspace: true}); err != nil {
		t.Fatal(err)
	}
	b.daily(clock, 29)
	b.stands(kept, true)
	if at := b.goesAt(); len(at) != 1 || !at[0].After(clock.now) {
		t.Errorf("removed anew, it is said to go: %v, now %s", at, clock.now)
	}
	b.daily(clock, 3)
	b.stands(kept, false)
}

// TestTrashStaysAfterAJump: a clock that jumps, a long absence and a home from a backup leave a
// week at least in which it is said.
func TestTrashStaysAfterAJump(t *testing.T) {
	t.Parallel()
	b, clock, _, kept := emptying(t)
	said := filepath.Join(b.home, "trash.json")
	b.quiet()
	b.daily(clock, 29)
	for what, jump := range map[string]func(){
		"ahead":       func() { clock.now = clock.now.Add(1000 * day) },
		"back":        func() { clock.now = clock.now.Add(-900 * day); b.quiet(); clock.now = clock.now.Add(901 * day) },
		"nobody came": func() { clock.now = clock.now.Add(8 * day) },
	} {
		jump()
		b.quiet()
		b.stands(kept, true)
		if e := b.expiry(); e.Waiting != 1 || e.GoesAt.Before(clock.now.Add(6*day)) {
			t.Errorf("%s: it is said %+v", what, e)
		}
		b.daily(clock, 5)
		b.stands(kept, true)
	}
	for what, copied := range map[string]func(){
		"a copy that kept its times": func() {
			if err := os.Chtimes(said, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
				t.Fatal(err)
			}
		},
		"a copy elsewhere": func() { b.edit(said, b.local.Home.Dir, "/elsewhere") },
		"damaged":          func() { b.put(said, "{") },
		"lost":             func() { _ = os.Remove(said) },
	} {
		copied()
		b.daily(clock, 2)
		b.stands(kept, true)
		if e := b.expiry(); e.Waiting != 0 || !b.goesAt()[0].After(clock.now.Add(28*day)) {
			t.Errorf("%s: it is said %+v", what, e)
		}
		b.daily(clock, 5)
	}
	b.stands(kept, true)
}

// TestTrashThatIsTheUsersToEmpty: what is left of a mission that is back, of nobody, or on
// another disk never goes by itself; what was changed there counts anew.
func TestTrashThatIsTheUsersToEmpty(t *testing.T) {
	t.Parallel()
	b, clock, fork, kept := emptying(t)
	back, _ := b.trashed("work", "back")
	b.unremove("back")
	left := b.place(filepath.Join(b.home, "trash", back.ID, "conversation", "a.log"))
	nobodys := b.place(filepath.Join(b.home, "trash", b.local.NewID(), "some", "a.log"))
	away, _ := b.trashed("work", "away")
	if err := os.Symlink(filepath.Join(b.home, "disk", ".umbra-"+away.ID+"-0"), filepath.Join(b.home, "trash", away.ID, "more")); err != nil {
		t.Fatal(err)
	}
	b.quiet()
	b.daily(clock, 20)
	added := b.place(filepath.Join(filepath.Dir(kept), "mine.txt"))
	b.daily(clock, 29)
	in, err := b.trash(false)
	for _, m := range in.Removed {
		if m.GoesAt.IsZero() != (m.ID != fork.ID) || err != nil {
			t.Errorf("%s is said to go on %s, %v", m.Name, m.GoesAt, err)
		}
	}
	for _, path := range []string{kept, added, left, nobodys, filepath.Join(b.home, "trash", away.ID)} {
		b.stands(path, true)
	}
	b.daily(clock, 2)
	b.stands(kept, false)
	b.stands(added, false)
	for _, path := range []string{left, nobodys, filepath.Join(b.home, "trash", away.ID)} {
		b.stands(path, true)
	}
	if e := b.expiry(); e.Emptied != 1 || e.Problem != "" {
		t.Errorf("it is said: %+v", e)
	}
}

// TestTrashThatIsWrittenTo: where an agent that works in there still writes, however deep, the
// whole counts anew.
func TestTrashThatIsWrittenTo(t *testing.T) {
	t.Parallel()
	b, clock, _, kept := emptying(t)
	deep := b.place(filepath.Join(filepath.Dir(kept), "some", "where", "work.txt"))
	clock.now = time.Now()
	b.quiet()
	b.daily(clock, 29)
	b.put(deep, "an hour's work\n")
	b.daily(clock, 2)
	b.stands(deep, true)
	if at := b.goesAt(); len(at) != 1 || !at[0].After(clock.now.Add(28*day)) {
		t.Errorf("it is said to go on %s, now %s", at, clock.now)
	}
	b.daily(clock, 27)
	b.stands(deep, true)
	b.daily(clock, 3)
	b.stands(kept, false)
}

// place makes a file and says where it is.
func (b *testBench) place(path string) string {
	b.Helper()
	b.put(path, "only here\n")
	return path
}

// TestTrashKilled: what a process that was killed has left in the middle is removed by the next
// look and said; nothing of it comes back as if it were whole; an uninstallation's is not its.
func TestTrashKilled(t *testing.T) {
	t.Parallel()
	b, clock, fork, kept := emptying(t)
	b.quiet()
	b.daily(clock, 3)
	taken := filepath.Join(b.home, home.ErasedDir, fork.ID+".0")
	others := b.place(filepath.Join(b.home, home.ErasedDir, "projects.0", "of.txt"))
	if err := os.Rename(filepath.Join(b.home, "trash", fork.ID), taken); err != nil { // killed once it was taken
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(taken, filepath.Base(filepath.Dir(kept)), "notes.log")); err != nil { // or in the middle
		t.Fatal(err)
	}
	b.unremove("fix")
	if _, err := os.Lstat(fork.Workspace); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("half a workspace is back: %v", err)
	}
	b.daily(clock, 1)
	b.stands(taken, false)
	b.stands(others, true)
	if e := b.expiry(); e.Emptied != 1 || e.Bytes <= 0 || !e.EmptiedAt.Equal(clock.now) {
		t.Errorf("it is said: %+v", e)
	}

	// So it is by its user, once nothing goes by itself any more.
	taken = filepath.Dir(b.place(filepath.Join(b.home, home.ErasedDir, fork.ID+".1", "of.txt")))
	b.local.Config.Retention.Trash = 0
	b.daily(clock, 1)
	b.stands(taken, true)
	if in, err := b.trash(false); in.Unfinished != 1 || err != nil {
		t.Errorf("in the trash is %+v, %v", in, err)
	}
	b.stands(taken, true)
	if in, err := b.trash(true); in.Unfinished != 1 || in.Bytes <= 0 || len(in.Left) > 0 || err != nil {
		t.Errorf("emptied was %+v, %v", in, err)
	}
	b.stands(taken, false)
	b.stands(others, true)
	b.askToEmpty("30d")

	// Killed before it was taken: it is tried after a rest, and not at once.
	clock.now = clock.now.Add(day)
	if err := b.local.NoteExpiryBegun(); err != nil || b.local.IsExpiryDue() {
		t.Errorf("due at once: %v", err)
	}
	clock.now = clock.now.Add(time.Hour)
	if !b.local.IsExpiryDue() {
		t.Error("not due after a rest")
	}
}
