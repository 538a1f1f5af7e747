package local

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// pruned prunes all but the last n turns, whatever their age.
func (b *testBench) pruned(n int, names ...string) missions.PruneResult {
	b.Helper()
	within := time.Duration(0)
	r, err := b.local.Prune(context.Background(), missions.PruneRequest{
		Caller: b.caller(), Missions: names, Policy: missions.PrunePolicy{KeepLast: &n, KeepWithin: &within},
	})
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// numbered takes n snapshots of a file that is large enough to be missed.
func (b *testBench) numbered(from, n int) (ids []string) {
	b.Helper()
	for i := range n {
		b.write("a.txt", fmt.Sprintf("%d\n%s", from+i, strings.Repeat(fmt.Sprint(from+i), 4000)))
		ids = append(ids, b.snapshot(fmt.Sprint(from+i)).ID)
	}
	return ids
}

// line lists a mission's snapshots, newest first.
func (b *testBench) line(name string) (ids []string) {
	b.Helper()
	list, err := b.local.Log(context.Background(), missions.LogRequest{Caller: b.caller(), Mission: name})
	if err != nil {
		b.Fatal(err)
	}
	for _, e := range list {
		ids = append(ids, e.ID)
	}
	return ids
}

// fscked proves that git finds nothing wrong, and doctor neither.
func (b *testBench) fscked(m missions.Mission) {
	b.Helper()
	if out, err := exec.Command("git", "-C", m.ShadowRepo, "fsck", "--full", "--strict").CombinedOutput(); err != nil {
		b.Errorf("git fsck: %v\n%s", err, out)
	}
	b.healthy()
}

// TestPrune drops what the policy does not keep: pins, the first snapshot and what undo
// needs stay, each as it was, and under its address.
func TestPrune(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newBench(t)
	m := b.mission("work")
	ids := append([]string{m.Head}, b.numbered(1, 20)...)
	if _, err := b.local.Pin(ctx, missions.PinRequest{Caller: b.caller(), Moment: ids[7], Name: "mark"}); err != nil {
		t.Fatal(err)
	}
	restored := b.restore(ids[12], func(r *missions.RestoreRequest) { r.Force = true })
	ids = append(ids, b.numbered(30, 5)...)
	addresses := map[string]string{}
	before, err := b.local.Log(ctx, missions.LogRequest{Caller: b.caller()})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range before {
		addresses[e.ID] = e.Address
	}
	preview, err := b.local.Prune(ctx, missions.PruneRequest{Caller: b.caller(), Preview: true})
	if err != nil || preview.Pruned() != 0 {
		t.Errorf("by default all of today stays: %+v %v", preview, err)
	}
	if u := b.usage(); len(u.Freeable) > 0 {
		t.Errorf("du would give back %+v", u.Freeable)
	}
	r := b.pruned(3)
	if len(r.Missions) != 1 || r.Pruned() == 0 || r.Missions[0].Kept+r.Pruned() != len(before) || r.Bytes <= 0 {
		t.Errorf("%+v", r)
	}
	listed := r.Missions[0].Moments
	if len(listed) != r.Pruned() || listed[0].Address != addresses[listed[0].Snapshot] || listed[0].TurnsBack < 3 || listed[0].At.IsZero() {
		t.Errorf("%d moments are listed, of %d: %+v", len(listed), r.Pruned(), listed)
	}
	b.fscked(m)
	again := b.again()
	left := again.line("work")
	for _, gone := range listed {
		if slices.Contains(left, gone.Snapshot) {
			t.Errorf("%s was said to go", gone.Address)
		}
	}
	if len(left) != r.Missions[0].Kept {
		t.Errorf("%d snapshots are left, of %d that were said to stay", len(left), r.Missions[0].Kept)
	}
	for _, id := range []string{ids[0], ids[7], ids[12], restored.SafetySnapshot, ids[len(ids)-1], ids[len(ids)-3]} {
		if !strings.Contains(strings.Join(left, " "), id) {
			t.Errorf("%s is gone, which was %s", id, addresses[id])
		}
	}
	after, err := again.local.Log(ctx, missions.LogRequest{Caller: b.caller()})
	if err != nil {
		t.Fatal(err)
	}
	gaps := 0
	for _, e := range after {
		if e.Address != addresses[e.ID] {
			t.Errorf("%s is %s now", addresses[e.ID], e.Address)
		}
		if got := again.resolves(b.caller(), e.Address); got != e.ID {
			t.Errorf("%s leads to %s", e.Address, got)
		}
		if !e.PrunedAt.IsZero() {
			gaps++
		}
	}
	if gaps == 0 {
		t.Error("the log shows no gap")
	}
	if got := again.cat("mark", "a.txt"); !strings.HasPrefix(got, "7\n") {
		t.Errorf("the pin has %.10q", got)
	}
	_, err = again.local.Cat(ctx, missions.CatRequest{Caller: b.caller(), Moment: ids[3], Path: "a.txt"})
	again.fails("what was pruned", err, missions.KindNotFound)
	if err == nil || !strings.Contains(missions.AsError(err).Hint, "pruned") {
		t.Errorf("it is not said why: %v", err)
	}
	// Undo still takes the restore back, and there is nothing more to prune.
	if _, err := again.local.Undo(ctx, missions.UndoRequest{Caller: b.caller(), Force: true}); err != nil {
		t.Errorf("undo: %v", err)
	}
	again.numbered(50, 1)
	again.fscked(m)
	if r := again.pruned(5); r.Owed {
		t.Errorf("%+v", r)
	}
	again.pruned(1)
	again.fscked(m)
}

// TestPruneOfForks: a fork keeps the moment that it was made at, and both go on.
func TestPruneOfForks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	m := b.mission("work")
	ids := b.numbered(1, 6)
	f, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: ids[2], Name: "beside"})
	if err != nil {
		t.Fatal(err)
	}
	b.numbered(10, 6)
	beside := *b
	beside.dir = f.Missions[0].Workspace
	beside.numbered(20, 6)
	b.pruned(1)
	b.fscked(m)
	again := b.again()
	if got := again.cat("beside@fork", "a.txt"); !strings.HasPrefix(got, "3\n") {
		t.Errorf("the fork point has %.10q", got)
	}
	line := strings.Join(again.line("work"), " ")
	if !strings.Contains(line, ids[2]) || strings.Contains(line, ids[3]) {
		t.Errorf("left: %s", line)
	}
	again.numbered(40, 1)
	promoted, err := again.local.Promote(context.Background(), missions.PromoteRequest{Caller: b.caller(), Fork: f.Missions[0].Name, All: true, Force: true})
	if err != nil {
		t.Fatalf("promote: %+v %v", promoted, err)
	}
	again.pruned(1)
	again.fscked(m)
	if _, err := again.local.Undo(context.Background(), missions.UndoRequest{Caller: b.caller(), Force: true}); err != nil {
		t.Errorf("undo of the promotion: %v", err)
	}
	again.fscked(m)
}

// TestPruneOfOneOfTwo: what a fork shares with its source goes once both are pruned, and
// the result names the fork until then.
func TestPruneOfOneOfTwo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.mission("work")
	b.numbered(1, 6)
	if _, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: "work", Name: "beside"}); err != nil {
		t.Fatal(err)
	}
	r := b.pruned(1, "work")
	if r.Pruned() != 0 || len(r.Missions) != 1 || fmt.Sprint(r.Missions[0].SharedWith) != "[beside]" || r.Missions[0].Why["shared"] != 7 {
		t.Errorf("one: %+v", r)
	}
	if r = b.pruned(1, "work", "beside"); r.Pruned() != 5 || len(r.Missions) != 2 || r.Missions[0].SharedWith != nil {
		t.Errorf("both: %+v", r)
	}
}

// TestPruneKeepsWhatFilesName: an operation, a merge that waits, a landing: what they name
// stays, and while an operation is not over nothing goes.
func TestPruneKeepsWhatFilesName(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newBench(t)
	m := b.mission("work")
	ids := b.numbered(1, 12)
	b.put(filepath.Join(b.home, "agents", "landed", m.ID), `{"steps":["1:`+b.treeOf(m, ids[1])+`:x"]}`)
	b.put(filepath.Join(filepath.Dir(m.ShadowRepo), "merges", m.ID+".json"), `{"sides":[{"snapshot":"`+ids[3]+`"}]}`)
	op, err := b.local.Journal.Begin("0c9c58c3-4a4e-4e6f-8a80-4d4c2b1f0a11", "fork", map[string]string{"snapshot": ids[5]})
	if err != nil {
		t.Fatal(err)
	}
	one, none := 1, time.Duration(0)
	request := missions.PruneRequest{Caller: b.caller(), Policy: missions.PrunePolicy{KeepLast: &one, KeepWithin: &none}}
	_, err = b.local.Prune(ctx, request)
	b.fails("while an operation is not over", err, missions.KindBusy)
	if err := op.Advance(journal.Done); err != nil {
		t.Fatal(err)
	}
	if line := strings.Join(b.line("work"), " "); !strings.Contains(line, ids[8]) {
		t.Error("something is gone already")
	}
	if _, err := b.local.Prune(ctx, request); err != nil {
		t.Fatal(err)
	}
	line := strings.Join(b.line("work"), " ")
	for _, i := range []int{1, 3, 5} {
		if !strings.Contains(line, ids[i]) {
			t.Errorf("%d is gone", i+1)
		}
	}
	if strings.Contains(line, ids[8]) {
		t.Error("nothing was pruned")
	}
}

func (b *testBench) treeOf(m missions.Mission, snapshot string) string {
	b.Helper()
	out, err := exec.Command("git", "-C", m.ShadowRepo, "rev-parse", snapshot+"^{tree}").Output()
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// TestPruneIsInUsage: du says what pruning would give back, and by which command.
func TestPruneIsInUsage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.mission("work")
	b.numbered(1, 9)
	clock := &clockwork{time.Now().Add(60 * 24 * time.Hour)}
	b.local.Clock = clock.time
	would, err := b.local.Prune(context.Background(), missions.PruneRequest{Caller: b.caller(), Preview: true})
	if err != nil || would.Pruned() != 4 {
		t.Fatalf("%+v %v", would, err)
	}
	u := b.usage()
	if len(u.Freeable) != 1 || u.Freeable[0].Bytes != would.Bytes || !strings.HasPrefix(u.Freeable[0].What, "4 old snapshots of ") || u.Freeable[0].Fix != "umbra prune --all" {
		t.Errorf("%+v", u.Freeable)
	}
}

// TestPruneDropsNothingInDoubt: a ref or a file that can't be read may say that a snapshot
// is needed.
func TestPruneDropsNothingInDoubt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	m := b.mission("work")
	ids := b.numbered(1, 8)
	one, none := 1, time.Duration(0)
	request := missions.PruneRequest{Caller: b.caller(), Policy: missions.PrunePolicy{KeepLast: &one, KeepWithin: &none}}
	for name, path := range map[string]string{
		"a pin":                  filepath.Join(m.ShadowRepo, "refs", "pins", "torn"),
		"another mission":        filepath.Join(m.ShadowRepo, "refs", "agents", "0c9c58c3-4a4e-4e6f-8a80-4d4c2b1f0a11"),
		"the boundaries":         filepath.Join(m.ShadowRepo, "shallow"),
		"what was pruned before": filepath.Join(m.ShadowRepo, "shallow", "x"), // a directory where a file belongs
	} {
		b.put(path, "half an id\n")
		_, err := b.local.Prune(context.Background(), request)
		b.fails(name, err, missions.KindDamaged)
		if err := os.RemoveAll(filepath.Join(m.ShadowRepo, "shallow")); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(path)
	}
	if got := len(b.line("work")); got != len(ids)+1 {
		t.Errorf("%d snapshots are left", got)
	}
	b.fscked(m)
}

// TestPruneWithRemotes: what came after the last push stays, so that it can be pushed; what
// was fetched is another home's to prune.
func TestPruneWithRemotes(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newBench(t)
	m := b.mission("work")
	url := filepath.Join(t.TempDir(), "remote.git")
	b.git("init", "-q", "--bare", url)
	add := func(b *testBench) {
		t.Helper()
		if _, err := b.local.AddRemote(ctx, missions.AddRemoteRequest{Caller: b.caller(), Name: "office", URL: url}); err != nil {
			t.Fatal(err)
		}
	}
	add(b)
	before := b.numbered(1, 6)
	b.push("work")
	after := b.numbered(10, 6)
	if r := b.pruned(1); r.Pruned() != len(before)-1 || r.Missions[0].Why["unpushed"] != len(after)+1 {
		t.Errorf("%+v", r)
	}
	b.fscked(m)
	b.push("work")
	if r := b.pruned(1); r.Pruned() != len(after) {
		t.Errorf("after the push: %+v", r)
	}
	b.fscked(m)
	b.numbered(20, 2)
	b.push("work")

	other := newBench(t)
	add(other)
	other.fetch()
	mine := other.mission("mine")
	other.numbered(1, 4)
	other.pruned(1)
	if got := len(other.line("office/work")); got != 1+len(before)+len(after)+2 {
		t.Errorf("%d snapshots are left of what was fetched", got)
	}
	other.fscked(mine)
}

// snapshotLine is a mission with so many snapshots after its first, and the ids of all.
func (b *testBench) snapshotLine(more int) (missions.Mission, *projects.Mission, []gitstore.ID) {
	b.Helper()
	m := b.mission("work")
	line := append([]string{m.Head}, b.numbered(1, more)...)
	work, err := b.local.MissionByID(m.ID)
	if err != nil {
		b.Fatal(err)
	}
	ids := make([]gitstore.ID, len(line))
	for i, text := range line {
		if ids[i], err = gitstore.ParseID(text); err != nil {
			b.Fatal(err)
		}
	}
	return m, work, ids
}

// cut prunes the snapshots from the first to before the end, and leaves their objects.
func (b *testBench) cut(m *projects.Mission, ids []gitstore.ID, first, end int) {
	b.Helper()
	cutting := shadow.Cutting{
		Before: map[gitstore.ID]gitstore.ID{ids[end]: ids[first-1]}, At: b.local.Now(),
		Stays: func(id gitstore.ID) bool { return !slices.Contains(ids[first:end], id) },
	}
	if err := shadow.Cut(context.Background(), m.Project.Store, cutting); err != nil {
		b.Fatal(err)
	}
}

// TestPruneAfterKill: a pruning was killed before it had dropped the refs of records that
// nothing needs any more. The next drops them, though no snapshot is left to go.
func TestPruneAfterKill(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newBench(t)
	m, work, ids := b.snapshotLine(3)
	b.pruned(1)
	tip, err := work.Project.Store.Snapshot(ids[3])
	if err != nil {
		t.Fatal(err)
	}
	if err := work.Project.Store.UpdateRef(ctx, gitstore.KeepRef(tip.Record), gitstore.ID{}, tip.Record, gitstore.Durable); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(work.Project.Store.Dir(), "umbra", "owed"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b.pruned(1)
	if refs, err := work.Project.Store.Refs(gitstore.RefKeep); err != nil || len(refs.Refs) > 0 {
		t.Errorf("after it %v are left (%v)", refs, err)
	}
	b.fscked(m)
}

// TestForkOfWhatWasPruned: a fork found its moment, and then that was pruned. It is refused
// while the objects are still there: they may go at any moment.
func TestForkOfWhatWasPruned(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newBench(t)
	m, work, ids := b.snapshotLine(8)
	b.cut(work, ids, 2, 6)
	_, err := b.local.ForkAtRest(ctx, work, ids[3], missions.ForkRequest{Caller: b.caller(), Name: "late"})
	b.fails("a fork of what was pruned", err, missions.KindNotFound)
	if err != nil && !strings.Contains(err.Error(), "was pruned just now") {
		t.Errorf("it is not said why: %v", err)
	}
	for name, id := range map[string]gitstore.ID{"before": ids[1], "after": ids[7]} {
		if _, err := b.local.ForkAtRest(ctx, work, id, missions.ForkRequest{Caller: b.caller(), Name: name}); err != nil {
			t.Errorf("a fork %s: %v", name, err)
		}
	}
	b.pruned(1) // no operation is left over
	b.fscked(m)
}

// TestRestoreOfWhatWasPruned: a restore has found its moment and is planned, and then that is
// pruned. The restore is refused and changes nothing.
func TestRestoreOfWhatWasPruned(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newBench(t)
	m, work, ids := b.snapshotLine(8)
	restoreTo := func(id gitstore.ID, meanwhile func()) error {
		return b.local.WithWorkspaceLock(ctx, work, func(m *projects.Mission) error {
			target, err := m.Project.Store.Snapshot(id)
			if err != nil {
				return err
			}
			j, err := b.local.PlanRestore(ctx, m, target, missions.RestoreRequest{Caller: b.caller(), Moment: id.String(), FilesOnly: true})
			if err != nil {
				return err
			}
			meanwhile()
			_, err = b.local.RunRestore(ctx, m, j, b.caller())
			return err
		})
	}
	before := b.read("a.txt")
	err := restoreTo(ids[3], func() { b.cut(work, ids, 2, 6) })
	b.fails("a restore of what was pruned", err, missions.KindNotFound)
	if err != nil && !strings.Contains(err.Error(), "was pruned just now") {
		t.Errorf("it is not said why: %v", err)
	}
	if b.read("a.txt") != before {
		t.Error("the file was changed")
	}
	if err := restoreTo(ids[7], func() {}); err != nil {
		t.Errorf("a restore of what stays: %v", err)
	}
	b.pruned(1) // no operation is left over
	b.fscked(m)
}

// TestPruneAroundLosses: what is lost for good, and the user was told of, is no reason to let
// a store grow for ever. What is lost and nobody was told of is one.
func TestPruneAroundLosses(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newBench(t)
	m := b.mission("work")
	b.write("lost.txt", "lost\n")
	ids := b.numbered(1, 12)
	if _, err := b.local.Pin(ctx, missions.PinRequest{Caller: b.caller(), Moment: ids[6], Name: "mark"}); err != nil {
		t.Fatal(err)
	}
	b.remove("lost.txt")
	ids = append(ids, b.numbered(20, 2)...)
	b.loseObject(m, strings.TrimSpace(b.git("--git-dir", m.ShadowRepo, "rev-parse", ids[6]+":lost.txt")))
	b = b.again()
	one, none := 1, time.Duration(0)
	request := missions.PruneRequest{Caller: b.caller(), Policy: missions.PrunePolicy{KeepLast: &one, KeepWithin: &none}}
	_, err := b.local.Prune(ctx, request)
	b.fails("before anybody was told", err, missions.KindDamaged)
	b.said(missions.DoctorRequest{Fix: true})
	b = b.again()
	r := b.pruned(1)
	if r.Lost != 1 || r.Pruned() == 0 || r.Bytes <= 0 {
		t.Errorf("%+v", r)
	}
	if left := b.line("work"); strings.Contains(strings.Join(left, " "), ids[3]) || !strings.Contains(strings.Join(left, " "), ids[6]) {
		t.Errorf("left: %v", left)
	}
	if got := b.cat("mark", "a.txt"); !strings.HasPrefix(got, "7\n") {
		t.Errorf("beside what is lost: %.10q", got)
	}
	b.knownLost(ids[6])
}
