package daemon

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

func TestVerifierSchedule(t *testing.T) {
	slept := time.Hour // before the daemon began
	v := newVerifier(Options{VerifyEvery: 10 * time.Minute, Asleep: func() time.Duration { return slept }})
	now := time.Unix(1e9, 0)
	walks := func(d time.Duration, busy bool) bool {
		t.Helper()
		now = now.Add(d)
		return v.due("/w", now, busy, v.woke()) != ""
	}
	for i, step := range []struct {
		after time.Duration
		busy  bool
		want  bool
	}{
		{0, false, false}, {9 * time.Minute, false, false}, {time.Minute, false, true},
		{19 * time.Minute, false, false}, {time.Minute, false, true}, // twice as long
		{time.Minute, true, false}, {9 * time.Minute, false, false}, {time.Minute, false, true}, // from then on
		{20 * time.Minute, false, true}, {40 * time.Minute, false, true}, {80 * time.Minute, false, true},
		{160 * time.Minute, false, true}, {320 * time.Minute, false, true}, {6 * time.Hour, false, true}, {6 * time.Hour, false, true},
		{time.Minute, false, false},
	} {
		if got := walks(step.after, step.busy); got != step.want {
			t.Errorf("step %d: walks %v, want %v", i, got, step.want)
		}
	}
	slept += longSleep - 1
	if walks(0, false) {
		t.Error("walks after a nap")
	}
	slept += longSleep
	if !walks(0, true) || walks(time.Minute, false) {
		t.Error("a long sleep is followed by no walk, or by two")
	}
	v.forget("/w")
	if walks(24*time.Hour, false) {
		t.Error("walks at once where it only begins to watch")
	}
	if asleep() < 0 {
		t.Errorf("the machine slept for %s", asleep())
	}
}

// TestVerifyFindsWhatNoEventTold writes through a hard link from outside the
// workspace and through a mapping, of which no event tells: the walk finds it, a
// snapshot holds it, and status counts it.
func TestVerifyFindsWhatNoEventTold(t *testing.T) {
	hazards.Held(t, hazards.H37, "a walk when nothing has happened for a while finds writes of which no event told, through an outside hard link and through a mapping")
	b := newBench(t)
	b.write("src/a.txt", "one\n")
	outside := filepath.Join(b.home.Dir, "outside.txt")
	s := b.start(func(o *Options) { o.VerifyEvery = 300 * time.Millisecond })
	c := b.connect()
	m := b.mission(c, "work")
	must(t, os.Link(filepath.Join(b.work, "src/a.txt"), outside))
	b.agent(c, m)
	b.until("watched", func() bool { return b.watched(s) })
	walks := func() missions.WorkspaceWalks {
		status, err := c.Status(b.ctx(), missions.StatusRequest{Caller: b.caller()})
		must(t, err)
		if len(status.Walks) != 1 {
			return missions.WorkspaceWalks{}
		}
		return status.Walks[0]
	}
	b.until("walked", func() bool { w := walks(); return w.LastWhy == "nothing happened for a while" && w.Corrected == 0 })
	must(t, os.WriteFile(outside, []byte("two\n"), 0o644))
	b.until("corrected", func() bool { return walks().Corrected == 1 })
	got, err := c.Cat(b.ctx(), missions.CatRequest{Caller: b.caller(), Moment: "work", Path: "src/a.txt"})
	if err != nil || string(got) != "two\n" {
		t.Errorf("the snapshot holds %q, %v", got, err)
	}
	mapped := b.mapped("src/a.txt")
	copy(mapped, "2wo")
	b.until("corrected again", func() bool { return walks().Corrected == 2 })
	if got, err = c.Cat(b.ctx(), missions.CatRequest{Caller: b.caller(), Moment: "work", Path: "src/a.txt"}); err != nil || string(got) != "2wo\n" {
		t.Errorf("the snapshot holds %q, %v", got, err)
	}
	if w := walks(); w.Workspace != b.work || w.Count < 2 || w.LastAt.IsZero() {
		t.Errorf("status says %+v", w)
	}
}

// mapped is a file's content, mapped to be written to.
func (b *bench) mapped(name string) []byte {
	b.Helper()
	f, err := os.OpenFile(filepath.Join(b.work, name), os.O_RDWR, 0)
	must(b, err)
	defer f.Close()
	fi, err := f.Stat()
	must(b, err)
	p, err := unix.Mmap(int(f.Fd()), 0, int(fi.Size()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	must(b, err)
	b.Cleanup(func() { _ = unix.Munmap(p) })
	return p
}
