package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
)

// TestWatchLimit takes complete snapshots of what can't be watched, and says so
// with what to type.
func TestWatchLimit(t *testing.T) {
	b := newBench(t)
	s := b.start(func(o *Options) { o.MaxWatches = 10 })
	c := b.connect()
	for n := range 30 {
		b.write(fmt.Sprintf("d%d/f", n), "zero\n")
	}
	m := b.mission(c, "work")
	b.agent(c, m)
	b.until("the limit is met", func() bool { return b.watched(s) && s.watch.stats().LimitReached })
	for n := range 3 {
		name := fmt.Sprintf("d%d/f", 7*n)
		b.write(name, fmt.Sprint(n))
		_, err := c.Snapshot(b.ctx(), missions.SnapshotRequest{Caller: b.caller()})
		must(t, err)
		got, err := c.Cat(b.ctx(), missions.CatRequest{Caller: b.caller(), Moment: "work", Path: name})
		must(t, err)
		if string(got) != fmt.Sprint(n) {
			t.Errorf("%s is %q in the snapshot", name, got)
		}
	}
	status, err := c.Status(b.ctx(), missions.StatusRequest{Caller: b.caller()})
	must(t, err)
	said := slices.ContainsFunc(status.Problems, func(p missions.Problem) bool {
		return strings.Contains(p.Message, "walks all its files") &&
			(runtime.GOOS != "linux" || strings.HasPrefix(p.Fix, "sudo sysctl fs.inotify.max_user_watches="))
	})
	if !said {
		t.Errorf("status says %+v", status.Problems)
	}
	// What is not watched, no event should have told of.
	if len(status.Walks) != 1 || status.Walks[0].Count == 0 || status.Walks[0].Corrected != 0 {
		t.Errorf("status says of walks: %+v", status.Walks)
	}
}

// TestRests writes the stat cache when nobody asks for anything, so that a
// process that is killed leaves it to the next, and drops a workspace in which no
// agent works any more.
func TestRests(t *testing.T) {
	b := newBench(t)
	s := b.start(func(o *Options) { o.RestAfter = time.Millisecond })
	c := b.connect()
	b.write("a.txt", "one\n")
	m := b.mission(c, "work")
	agent := b.agent(c, m)
	caches := func() int {
		files, err := os.ReadDir(filepath.Join(b.home.Dir, "statcache"))
		must(t, err)
		return len(files)
	}
	b.until("the stat cache is written", func() bool { return caches() == 1 })
	must(t, agent.Process.Kill())
	_ = agent.Wait()
	b.until("not watched any more", func() bool { return !b.watched(s) })
	if caches() != 1 {
		t.Errorf("%d stat caches", caches())
	}
	b.write("a.txt", "two\n")
	_, err := c.Snapshot(b.ctx(), missions.SnapshotRequest{Caller: b.caller(), Mission: m.ID})
	must(t, err)
}

// TestNothingCanBeWatched takes complete snapshots without any watch, says so,
// and watches as soon as that can be done again.
func TestNothingCanBeWatched(t *testing.T) {
	b := newBench(t)
	must(t, os.Remove(b.home.CookieDir()))
	must(t, os.WriteFile(b.home.CookieDir(), nil, 0o600)) // in its place
	s := b.start()
	c := b.connect()
	m := b.mission(c, "work")
	b.agent(c, m)
	problem := func() string {
		status, err := c.Status(b.ctx(), missions.StatusRequest{Caller: b.caller()})
		must(t, err)
		for _, p := range status.Problems {
			if strings.Contains(p.Message, "nothing can be watched") {
				return p.Message
			}
		}
		return ""
	}
	if said := problem(); !strings.Contains(said, b.home.CookieDir()) {
		t.Errorf("status says %q", said)
	}
	b.write("a.txt", "one\n")
	_, err := c.Snapshot(b.ctx(), missions.SnapshotRequest{Caller: b.caller()})
	must(t, err)
	if got, err := c.Cat(b.ctx(), missions.CatRequest{Caller: b.caller(), Moment: "work", Path: "a.txt"}); err != nil || string(got) != "one\n" {
		t.Errorf("the snapshot holds %q, %v", got, err)
	}
	must(t, os.Remove(b.home.CookieDir()))
	s.watch.mu.Lock()
	s.watch.tried = time.Now().Add(-reopenEvery)
	s.watch.mu.Unlock()
	b.until("watched", func() bool { return b.watched(s) })
	if said := problem(); said != "" {
		t.Errorf("status still says %q", said)
	}
}
