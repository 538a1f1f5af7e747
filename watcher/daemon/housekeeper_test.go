package daemon

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/doctor"
	"github.com/umbra-vcs/umbra/scripts/patience"
	"github.com/umbra-vcs/umbra/watcher/client"
)

func quickly(o *Options) { o.HousekeepQuiet = 30 * time.Millisecond }

// busy runs what a test does as one call that writes: housekeeping for which it is a moment
// begins after all of it.
func busy(s *Server, do func()) {
	defer s.house.enter()()
	do()
}

// scatter gives a shadow repository n loose objects that no ref reaches.
func (b *bench) scatter(shadow string, n int) {
	b.Helper()
	dir := b.TempDir()
	var names bytes.Buffer
	for i := range n {
		name := filepath.Join(dir, fmt.Sprint(i))
		must(b, os.WriteFile(name, fmt.Appendf(nil, "object %d\n", i), 0o600))
		fmt.Fprintln(&names, name)
	}
	cmd := exec.Command("git", "--git-dir="+shadow, "hash-object", "-w", "--stdin-paths")
	cmd.Stdin = &names
	must(b, cmd.Run())
}

// packs gives a shadow repository n packs of one object each.
func (b *bench) packs(shadow string, n int) {
	b.Helper()
	git := func(input string, args ...string) string {
		b.Helper()
		cmd := exec.Command("git", append([]string{"--git-dir=" + shadow}, args...)...)
		cmd.Stdin = strings.NewReader(input)
		return output(b, cmd)
	}
	for i := range n {
		git(git(fmt.Sprint(i), "hash-object", "-w", "--stdin"), "pack-objects", filepath.Join(shadow, "objects", "pack", "pack"))
	}
}

func (b *bench) loose(shadow string) int {
	b.Helper()
	found, err := filepath.Glob(filepath.Join(shadow, "objects", "??", "*"))
	must(b, err)
	return len(found)
}

func (b *bench) housekeeping(svc missions.Service) []missions.Housekeeping {
	b.Helper()
	status, err := svc.Status(b.ctx(), missions.StatusRequest{Caller: b.caller()})
	must(b, err)
	return status.Daemon.Housekeeping
}

// TestHousekeeping packs what is scattered once nothing is to be done.
func TestHousekeeping(t *testing.T) {
	b := newBench(t)
	s := b.start(quickly)
	c := b.connect()
	b.write("a.txt", "one\n")
	shadow := b.mission(c, "work").ShadowRepo
	scatterAndSnapshot := func(n int, text string) {
		t.Helper()
		busy(s, func() {
			b.scatter(shadow, n)
			b.write("a.txt", text)
			_, err := c.Snapshot(b.ctx(), missions.SnapshotRequest{Caller: b.caller()})
			must(t, err)
		})
	}
	scatterAndSnapshot(2500, "two\n")
	b.until("it is packed", func() bool { return len(b.housekeeping(c)) > 0 })
	done := b.housekeeping(c)[0]
	if done.Packed < 2500 || done.Removed < 2500 || done.FreedBytes <= 0 || done.Problem != "" || done.Project != "work" {
		t.Errorf("%+v", done)
	}
	if n := b.loose(shadow); n != 0 {
		t.Errorf("%d objects are loose", n)
	}
	// In need again, it is helped again.
	scatterAndSnapshot(5000, "three\n") // the first half is in the pack
	b.until("it is packed again", func() bool { return b.loose(shadow) == 0 })
	if entries, err := c.Log(b.ctx(), missions.LogRequest{Caller: b.caller()}); err != nil || len(entries) != 3 {
		t.Errorf("%v %v", entries, err)
	}
	if out := output(t, exec.Command("git", "--git-dir="+shadow, "cat-file", "--batch-all-objects", "--batch-check")); strings.Count(out, "\n") < 2500 {
		t.Error("objects are gone")
	}
	output(t, exec.Command("git", "--git-dir="+shadow, "fsck", "--full", "--no-dangling"))
	doctor, err := c.Doctor(b.ctx(), missions.DoctorRequest{Caller: b.caller()})
	if err != nil || len(doctor.Problems) > 0 {
		t.Errorf("doctor: %+v %v", doctor.Problems, err)
	}
}

// TestHousekeepingBesideAnAgent packs what is scattered although an agent is there that
// waits for its user, and is looked at all the time.
func TestHousekeepingBesideAnAgent(t *testing.T) {
	for name, begin := range map[string]func(b *bench, c *client.Client) missions.Mission{
		"with hooks": func(b *bench, c *client.Client) missions.Mission {
			for _, event := range []string{"SessionStart", "UserPromptSubmit", "Stop"} {
				_, err := b.hook(c, event, map[string]any{"source": "startup", "prompt": "go", "prompt_id": "p1"})
				must(b, err)
			}
			list, err := c.Missions(b.ctx(), missions.MissionsRequest{Caller: b.caller()})
			must(b, err)
			return list[0]
		},
		"any command": func(b *bench, c *client.Client) missions.Mission {
			m := b.mission(c, "work")
			b.agent(c, m)
			return m
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := b.start(func(o *Options) { o.HousekeepQuiet = 6 * o.Tick })
			c := b.connect()
			b.write("a.txt", "one\n")
			m := begin(b, c)
			b.until("it is idle", func() bool { return b.state(c, m).State == missions.StateIdle })
			busy(s, func() {
				b.scatter(m.ShadowRepo, 2500)
				b.write("a.txt", "two\n")
				_, err := c.Snapshot(b.ctx(), missions.SnapshotRequest{Caller: b.caller()})
				must(t, err)
			})
			// Few may be loose: where the write was seen before the snapshot, the agent was at
			// work, and there is another snapshot when it is idle again.
			b.until("it is packed", func() bool { return b.loose(m.ShadowRepo) < 2500 })
			b.until("it is idle still", func() bool { return b.state(c, m).State == missions.StateIdle })
		})
	}
}

// TestOverdueHousekeeping packs what has become too much, though calls come all
// the time.
func TestOverdueHousekeeping(t *testing.T) {
	b := newBench(t)
	s := b.start(func(o *Options) { o.OverdueEvery = 100 * time.Millisecond }) // its quiet is longer than the test
	defer s.house.enter()()
	c := b.connect()
	b.write("a.txt", "one\n")
	shadow := b.mission(c, "work").ShadowRepo
	b.packs(shadow, 51)
	b.until("it is packed", func() bool {
		b.write("a.txt", fmt.Sprint(time.Now()))
		_, err := c.Snapshot(b.ctx(), missions.SnapshotRequest{Caller: b.caller()})
		must(t, err)
		return len(b.housekeeping(c)) > 0
	})
	if done := b.housekeeping(c)[0]; done.Problem != "" {
		t.Errorf("%+v", done)
	}
	if left, err := filepath.Glob(filepath.Join(shadow, "objects", "pack", "*.pack")); len(left) >= 50 || err != nil {
		t.Errorf("%d packs are left, %v", len(left), err)
	}
	output(t, exec.Command("git", "--git-dir="+shadow, "fsck", "--full", "--no-dangling"))
}

// TestIndexIsFilled knows snapshots before anybody lists them.
func TestIndexIsFilled(t *testing.T) {
	b := newBench(t)
	s := b.start(quickly)
	c := b.connect()
	b.mission(c, "work")
	for round := range 2 {
		for i := range 5 {
			b.write("a.txt", fmt.Sprint(round, i))
			_, err := c.Snapshot(b.ctx(), missions.SnapshotRequest{Caller: b.caller()})
			must(t, err)
		}
		b.until("the index is filled", func() bool {
			n, lined := 0, 0
			must(t, s.index.Each(func(_ string, value json.RawMessage) bool {
				n++
				if strings.Contains(string(value), `"lined":true`) {
					lined++
				}
				return true
			}))
			return n == 1+5*(round+1) && lined == n
		})
	}
}

// oddGit puts a git in the way that runs a script of its own when it is to repack.
func (b *bench) oddGit(repack string) {
	b.Helper()
	real, err := exec.LookPath("git")
	must(b, err)
	dir := b.TempDir()
	script := fmt.Sprintf("#!/bin/sh\ncase \"$*\" in *repack*) %s;; esac\nexec %s \"$@\"\n", repack, real)
	must(b, os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o700))
	b.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// started waits for the slow git, and returns its process id.
func (b *bench) started(note string) int {
	b.Helper()
	var pid int
	b.until("git is at work", func() bool {
		text, err := os.ReadFile(note)
		if err == nil {
			_, err = fmt.Sscan(string(text), &pid)
		}
		return err == nil
	})
	return pid
}

// TestCallStopsHousekeeping gives it up when a call comes that writes, and when
// the process stops.
func TestCallStopsHousekeeping(t *testing.T) {
	b := newBench(t)
	note := filepath.Join(t.TempDir(), "note")
	b.oddGit(fmt.Sprintf("echo $$ > %[1]s.new; mv %[1]s.new %[1]s; exec sleep 300", note))
	s := b.start(quickly)
	c := b.connect()
	b.write("a.txt", "one\n")
	shadow := b.mission(c, "work").ShadowRepo
	snapshot := func() {
		t.Helper()
		_, err := c.Snapshot(b.ctx(), missions.SnapshotRequest{Caller: b.caller()})
		must(t, err)
	}
	busy(s, func() {
		b.scatter(shadow, 2500)
		snapshot()
	})
	pid := b.started(note)
	b.until("its priority is low", func() bool { // it is given it when it runs already
		n, err := unix.Getpriority(unix.PRIO_PROCESS, pid)
		return err == nil && 20-n == 10
	})
	must(t, os.Remove(note))
	snapshot()
	b.until("git is gone", func() bool { return unix.Kill(pid, 0) != nil })
	pid = b.started(note) // again, when it is quiet
	began := time.Now()
	must(t, s.Close())
	if took := time.Since(began); took > 4*time.Minute { // git would go on for five
		t.Errorf("the process stopped after %s", took)
	}
	if unix.Kill(pid, 0) == nil {
		t.Error("git goes on")
	}
	if left, err := filepath.Glob(filepath.Join(shadow, "umbra", "repack", "*")); len(left) > 0 || err != nil {
		t.Errorf("left %v %v", left, err)
	}
	output(t, exec.Command("git", "--git-dir="+shadow, "fsck", "--full", "--no-dangling"))
}

// TestHousekeepingFails says so, and is not tried all the time.
func TestHousekeepingFails(t *testing.T) {
	b := newBench(t)
	b.oddGit("echo no memory >&2; exit 128")
	s := b.start(quickly)
	c := b.connect()
	b.write("a.txt", "one\n")
	shadow := b.mission(c, "work").ShadowRepo
	snapshot := func() {
		t.Helper()
		_, err := c.Snapshot(b.ctx(), missions.SnapshotRequest{Caller: b.caller()})
		must(t, err)
	}
	busy(s, func() {
		b.scatter(shadow, 2500)
		snapshot()
	})
	b.until("it has failed", func() bool { return len(b.housekeeping(c)) > 0 })
	status, err := c.Status(b.ctx(), missions.StatusRequest{Caller: b.caller()})
	must(t, err)
	if len(status.Problems) != 1 || !strings.Contains(status.Problems[0].Message, "no memory") {
		t.Errorf("%+v", status.Problems)
	}
	at := status.Daemon.Housekeeping[0].At
	snapshot()
	b.until("it was looked at again", func() bool {
		s.house.mu.Lock()
		defer s.house.mu.Unlock()
		return s.house.looked[doctor.Due].After(s.house.last.time()) && s.house.stop == nil
	})
	if again := b.housekeeping(c)[0].At; !again.Equal(at) {
		t.Error("tried again at once")
	}
}

// TestPruningIsStarted: what is to be pruned by itself is, by another process, once nothing is
// to be done here.
func TestPruningIsStarted(t *testing.T) {
	b := newBench(t)
	b.configure("retention:\n  auto: true\n")
	started := make(chan string, 10)
	s := b.start(quickly, func(o *Options) {
		o.StartHousekeeper = func(dir string) error {
			started <- dir
			return nil
		}
	})
	c := b.connect()
	b.write("a.txt", "one\n")
	var shadow string
	busy(s, func() {
		shadow = b.mission(c, "work").ShadowRepo
		old := time.Now().Add(-60 * 24 * time.Hour)
		must(t, os.Chtimes(filepath.Join(shadow, "HEAD"), old, old))
	})
	select {
	case dir := <-started:
		if dir != filepath.Dir(shadow) {
			t.Errorf("started for %s, and not for %s", dir, shadow)
		}
	case <-time.After(patience.Of(time.Minute)):
		t.Fatal("nothing was started")
	}
}
