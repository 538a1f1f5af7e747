package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/settings"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/scripts/hazards"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// history reads a mission's snapshots and checks that they are one line.
func (b *testBench) history(name string) []missions.Entry {
	b.Helper()
	entries, err := b.local.Log(context.Background(), missions.LogRequest{Caller: b.caller(), Mission: name})
	if err != nil {
		b.Fatal(err)
	}
	for i, e := range entries {
		if i+1 < len(entries) && e.Parent != entries[i+1].ID {
			b.Errorf("snapshot %s is on %s, not on %s", e.Address, e.Parent, entries[i+1].ID)
		}
	}
	return entries
}

const childHome, childWork = "UMBRA_TEST_CHILD_HOME", "UMBRA_TEST_CHILD_WORK"

// TestSnapshotChild is the other process of TestManyAtOnce: it takes snapshots
// if it was started for that.
func TestSnapshotChild(t *testing.T) {
	t.Parallel()
	dir := os.Getenv(childHome)
	if dir == "" {
		return
	}
	home, err := home.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	local, err := New(Options{Home: home, Config: settings.Default()})
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	b := &testBench{T: t, local: local, user: filepath.Dir(dir), home: dir, dir: os.Getenv(childWork)}
	for _, err := range b.rounds("child", 2, 4) {
		t.Error(err)
	}
}

// rounds snapshots from several goroutines at once, each after a write of its
// own, which the snapshot must hold.
func (b *testBench) rounds(who string, goroutines, rounds int) []error {
	var wg sync.WaitGroup
	errs := make(chan error, goroutines*rounds)
	for g := range goroutines {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for r := range rounds {
				name, content := fmt.Sprintf("%s-%d", who, g), fmt.Sprint(r)
				if err := os.WriteFile(filepath.Join(b.dir, name), []byte(content), 0o644); err != nil {
					errs <- err
					continue
				}
				e, err := b.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: b.caller(), Mission: "work", Message: name})
				if err != nil {
					errs <- err
					continue
				}
				got, err := b.local.Cat(context.Background(), missions.CatRequest{Caller: b.caller(), Moment: e.ID, Path: name})
				if err != nil || string(got) != content {
					errs <- fmt.Errorf("round %d of %s: snapshot %s holds %q: %w", r, name, e.ID, got, errors.Join(err))
				}
			}
		}()
	}
	wg.Wait()
	close(errs)
	var all []error
	for err := range errs {
		all = append(all, err)
	}
	return all
}

// TestManyAtOnce snapshots one workspace from many goroutines and from two
// processes: all succeed (H26).
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.git("init", "-q")
	b.write("a.txt", "one\n")
	b.mission("work")
	naive := hazards.NewNaive(t, b.twin().dir)
	var failures atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 8 {
				_, add := naive.Try("add", "-A")
				_, commit := naive.Try("commit", "-q", "--allow-empty", "-m", "snapshot")
				if add != nil || commit != nil {
					failures.Add(1)
				}
			}
		})
	}
	all.Wait()
	hazards.Shown(t, hazards.H26, failures.Load() > 0, "eight at once that `git add` and `git commit` in one shadow repository fail at its locks")
	hazards.Held(t, hazards.H26, "eight by eight in one process and in another: none fails, and the history is linear")
	child := exec.Command(os.Args[0], "-test.run=^TestSnapshotChild$", "-test.v")
	child.Env = append(os.Environ(), childHome+"="+b.home, childWork+"="+b.dir)
	var said strings.Builder
	child.Stdout, child.Stderr = &said, &said
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	for _, err := range b.rounds("parent", 8, 8) {
		t.Error(err)
	}
	if err := child.Wait(); err != nil || !strings.Contains(said.String(), "--- PASS: TestSnapshotChild") {
		t.Errorf("the other process: %v\n%s", err, said.String())
	}
	entries := b.history("work")
	if len(entries) < 9 {
		t.Errorf("%d snapshots", len(entries))
	}
	b.healthy()
}

// TestManyMissionsInOneWorkspace has their captures take turns.
func TestManyMissionsInOneWorkspace(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			name := fmt.Sprintf("worker-%d", g)
			if _, err := b.local.NewMission(context.Background(), missions.NewMissionRequest{Caller: b.caller(), Name: name, Command: []string{"sh"}}); err != nil {
				t.Error(err)
				return
			}
			for range 3 {
				if _, err := b.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: b.caller(), Mission: name}); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
	list, err := b.local.Missions(context.Background(), missions.MissionsRequest{Caller: b.caller()})
	if err != nil || len(list) != 8 {
		t.Errorf("%d missions, %v", len(list), err)
	}
	projects, err := b.local.Projects(context.Background(), missions.ProjectsRequest{Caller: b.caller()})
	if err != nil || len(projects) != 1 {
		t.Errorf("%d projects, %v", len(projects), err)
	}
	b.healthy()
}

// TestHooksAndSnapshotsAtOnce mixes an agent's turns with snapshots by hand.
func TestHooksAndSnapshotsAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "zero\n")
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := b.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: b.caller()}); err != nil {
					t.Error(err)
					return
				}
				if _, err := b.local.Missions(context.Background(), missions.MissionsRequest{Caller: b.caller()}); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	for n := range 4 {
		c.takeTurn("turn", "a.txt", fmt.Sprint(n))
	}
	close(stop)
	wg.Wait()
	entries := b.history("")
	if entries[0].Turn != 4 {
		t.Errorf("the last turn is %d", entries[0].Turn)
	}
	for n := 1; n <= 4; n++ {
		if got := b.cat(fmt.Sprintf("@%d", n), "a.txt"); got != fmt.Sprint(n-1) {
			t.Errorf("turn %d ended with %q", n, got)
		}
	}
	b.healthy()
}

// TestJoin answers requests that wait together by one snapshot with all their
// triggers, and keeps changes of state apart.
func TestJoin(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	created := b.mission("work")
	m, err := b.local.MissionByID(created.ID)
	if err != nil {
		t.Fatal(err)
	}
	manual := func(what string) *snapshots.Request {
		return &snapshots.Request{Take: &missions.TakeSnapshot{Trigger: missions.TriggerManual, Message: what}}
	}
	tool := &snapshots.Request{Event: missions.ToolStarting{Tool: missions.ToolUse{Name: "Edit"}, Writes: true}}
	batch := []*snapshots.Request{manual("one"), manual("two"), {Event: missions.PromptSubmitted{Text: "go", ID: "p"}}, tool, manual("three"), {Event: missions.TurnEnded{}}}
	b.write("a.txt", "two\n")
	b.local.RunRequests(context.Background(), m.Project, m.ID, batch)
	var heads []string
	for i, r := range batch {
		taken, ok := r.Answer.LastSnapshot()
		if r.Err != nil || !ok {
			t.Fatalf("request %d: %v", i, r.Err)
		}
		heads = append(heads, taken.Snapshot.ID.String())
	}
	if heads[0] != heads[1] || heads[2] != heads[3] || heads[3] != heads[4] || heads[1] == heads[2] || heads[4] == heads[5] {
		t.Errorf("the answers are %v", heads)
	}
	var triggers []string
	for _, e := range b.history("work") {
		triggers = append(triggers, strings.Join(e.Triggers, "+"))
	}
	if got := strings.Join(triggers, " "); got != "idle prompt+tool+manual manual manual" {
		t.Errorf("the triggers are %s", got)
	}
}

// TestCallerGivesUp carries a request out although its caller has left.
func TestCallerGivesUp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.mission("work")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := b.local.Snapshot(ctx, missions.SnapshotRequest{Caller: b.caller(), Message: "left"}); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	b.local.Workers.Wait()
	if entries := b.history("work"); len(entries) != 2 || entries[0].Message != "left" {
		t.Errorf("the request was dropped: %+v", entries)
	}
}

// TestClose ends a request that waits for another process, which the next one
// makes up for.
func TestClose(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	m := b.mission("work")
	held, err := lock.WaitTree(context.Background(), b.home, b.dir, lock.Self("other"))
	if err != nil {
		t.Fatal(err)
	}
	answered := make(chan error, 1)
	go func() {
		_, err := b.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: b.caller(), Message: "asked"})
		answered <- err
	}()
	waiting := func() bool {
		list, _, err := b.local.Journal.Requests(m.ID)
		return err == nil && len(list) == 1 && list[0].Status == journal.InProgress
	}
	if !patience.Until(time.Minute, waiting) {
		t.Fatal("the request is not in the journal")
	}
	if err := b.local.Close(); err != nil {
		t.Fatal(err)
	}
	b.fails("the request", <-answered, missions.KindInterrupted)
	if err := held.Release(); err != nil {
		t.Fatal(err)
	}
	_, err = b.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: b.caller()})
	b.fails("a request after the end", err, missions.KindInterrupted)
}

// TestProgressIsTheCallers tells progress on the goroutine that called.
func TestProgressIsTheCallers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for n := range home.ProgressMinFiles + 1 {
		b.write(fmt.Sprintf("d/%d", n), "x")
	}
	b.mission("work")
	for n := range home.ProgressMinFiles + 1 {
		b.write(fmt.Sprintf("d/%d", n), "y")
	}
	told := 0 // no lock: the race detector sees another goroutine
	ctx := missions.WithNotify(context.Background(), func(missions.Notice) { told++ })
	if _, err := b.local.Snapshot(ctx, missions.SnapshotRequest{Caller: b.caller()}); err != nil {
		t.Fatal(err)
	}
	if told == 0 {
		t.Error("nothing was told")
	}
}

// TestRequestGoesOnFromWhatIsThere gives a request the mission as it was some
// snapshots ago: that only says where to look.
func TestRequestGoesOnFromWhatIsThere(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	old, err := b.local.MissionByID(b.mission("work").ID)
	if err != nil {
		t.Fatal(err)
	}
	b.write("a.txt", "two\n")
	newest := b.snapshot("second").ID
	b.write("a.txt", "three\n")
	answer, err := b.local.SubmitRequest(context.Background(), old.Project, old.ID, &snapshots.Request{RecentMission: old, Take: &missions.TakeSnapshot{Trigger: missions.TriggerManual, Message: "third"}})
	if err != nil {
		t.Fatal(err)
	}
	made, ok := answer.LastSnapshot()
	if !ok || made.Snapshot.Parent().String() != newest {
		t.Errorf("%+v does not follow %s", made.Snapshot, newest)
	}
}
