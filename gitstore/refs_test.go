package gitstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// commits writes n commits in a row.
func commits(t testing.TB, s *Store, n int) []ID {
	t.Helper()
	b := s.NewBatch()
	defer b.Discard()
	var out []ID
	for i := range n {
		var parents []ID
		if i > 0 {
			parents = out[i-1:]
		}
		out = append(out, commitFiles(t, b, i, map[string]string{"f": fmt.Sprint(i)}, parents...))
	}
	noErr(t, b.Flush(context.Background()))
	return out
}

func gitRef(t testing.TB, s *Store, name RefName) string {
	t.Helper()
	out, err := s.Git(context.Background(), "rev-parse", "--verify", "-q", string(name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

func TestRefNames(t *testing.T) {
	t.Parallel()
	good := []RefName{AgentRef(testMission), RecordRef(testMission), HeadRef("fix-login"), HeadRef("0.a_b"), PinRef("v1"),
		KeepRef(testID(1)), TrashAgentRef(testMission), TrashRecordRef(testMission)}
	for _, name := range good {
		if got, err := ParseRefName(string(name)); err != nil || got != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := TrashAgentRef(testMission).Mission(); got != testMission {
		t.Errorf("mission %q", got)
	}
	for _, bad := range []string{"", "refs/", "refs/heads/", "refs/heads/_none", "refs/heads/a/b", "refs/heads/a..b", "refs/heads/a.lock",
		"refs/heads/-a", "refs/heads/a b", "refs/heads/ä", "refs/tags/v1", "refs/agents/x", "refs/agents/" + strings.ToUpper(testMission),
		"refs/agents/" + testMission + "/x", "refs/keep/1234", "refs/trash/" + testMission, "refs/heads/" + strings.Repeat("a", 201), "HEAD"} {
		if _, err := ParseRefName(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestUpdateRefComparesAndSwaps(t *testing.T) {
	t.Parallel()
	s, ctx, ref := newStore(t), context.Background(), AgentRef(testMission)
	c := commits(t, s, 3)
	if _, err := s.Ref(ref); !errors.Is(err, ErrRefNotFound) {
		t.Fatalf("unborn: %v", err)
	}
	before := s.Fsyncs()
	noErr(t, s.UpdateRef(ctx, ref, ID{}, c[0], Durable))
	if n := s.Fsyncs() - before; n != 2 {
		t.Errorf("durable update: %d fsyncs", n)
	}
	before = s.Fsyncs()
	noErr(t, s.UpdateRef(ctx, RecordRef(testMission), ID{}, c[0], Derived))
	if n := s.Fsyncs() - before; n != 0 {
		t.Errorf("derived update: %d fsyncs", n)
	}
	var moved *RefMovedError
	for _, old := range []ID{{}, c[1]} {
		if err := s.UpdateRef(ctx, ref, old, c[2], Durable); !errors.Is(err, ErrRefMoved) || !errors.As(err, &moved) || moved.Have != c[0].String() {
			t.Errorf("old %s: %v", old, err)
		}
	}
	noErr(t, s.UpdateRef(ctx, ref, c[0], c[1], Durable))
	if got := gitRef(t, s, ref); got != c[1].String() {
		t.Errorf("git reads %s", got)
	}
	if err := s.UpdateRef(ctx, ref, c[1], testID(1), Durable); !errors.Is(err, ErrMissing) {
		t.Errorf("to a missing commit: %v", err)
	}
	tree := must[*Commit](t)(s.Commit(c[1])).Tree
	if err := s.UpdateRef(ctx, ref, c[1], tree, Durable); !errors.Is(err, ErrWrongType) {
		t.Errorf("to a tree: %v", err)
	}
	var invalid *InvalidRefNameError
	if err := s.UpdateRef(ctx, "refs/tags/x", ID{}, c[0], Durable); !errors.As(err, &invalid) {
		t.Errorf("foreign name: %v", err)
	}
	noErr(t, s.DeleteRef(ctx, ref, c[1]))
	if err := s.DeleteRef(ctx, ref, c[1]); !errors.Is(err, ErrRefMoved) {
		t.Errorf("delete twice: %v", err)
	}
	fsck(t, s)
}

func TestPackedRefs(t *testing.T) {
	t.Parallel()
	s, ctx, ref := newStore(t), context.Background(), AgentRef(testMission)
	c := commits(t, s, 3)
	noErr(t, s.UpdateRef(ctx, ref, ID{}, c[0], Durable))
	noErr(t, s.UpdateRef(ctx, AgentRef(testOther), ID{}, c[0], Durable))
	noErr(t, s.SetSymbolic(ctx, HeadRef("name"), "", ref, Durable))
	_, err := s.Git(ctx, "pack-refs", "--all", "--prune")
	noErr(t, err)
	if got := must[ID](t)(s.Ref(HeadRef("name"))); got != c[0] {
		t.Errorf("through packed: %s", got)
	}
	noErr(t, s.UpdateRef(ctx, ref, c[0], c[1], Durable))
	noErr(t, s.DeleteRef(ctx, ref, c[1]))
	if _, err := s.Ref(ref); !errors.Is(err, ErrRefNotFound) {
		t.Errorf("the packed value came back: %v", err)
	}
	if got := must[ID](t)(s.Ref(AgentRef(testOther))); got != c[0] {
		t.Errorf("the other packed ref: %s", got)
	}
	list := must[*RefList](t)(s.Refs(""))
	if len(list.Refs) != 1 || len(list.Bad) != 1 || list.Bad[0].Ref != "refs/heads/name" {
		t.Errorf("list: %+v", list)
	}
	noErr(t, s.DeleteSymbolic(ctx, HeadRef("name"), ref))
	fsck(t, s)
}

func TestSymbolic(t *testing.T) {
	t.Parallel()
	s, ctx := newStore(t), context.Background()
	c := commits(t, s, 1)
	noErr(t, s.UpdateRef(ctx, AgentRef(testMission), ID{}, c[0], Durable))
	noErr(t, s.SetSymbolic(ctx, HeadRef("fix-login"), "", AgentRef(testMission), Durable))
	if err := s.SetSymbolic(ctx, HeadRef("fix-login"), "", AgentRef(testOther), Durable); !errors.Is(err, ErrRefMoved) {
		t.Errorf("a name in use was taken: %v", err)
	}
	if got := gitRef(t, s, HeadRef("fix-login")); got != c[0].String() {
		t.Errorf("git reads %q", got)
	}
	if got := must[RefName](t)(s.Symbolic(HeadRef("fix-login"))); got != AgentRef(testMission) {
		t.Errorf("leads to %s", got)
	}
	out := must[[]byte](t)(s.Git(ctx, "log", "--format=%s", "fix-login"))
	if strings.TrimSpace(string(out)) != "idle: commit 0" {
		t.Errorf("git log: %q", out)
	}
	fsck(t, s)
}

func TestBadRefHidesNothing(t *testing.T) {
	hazards.Held(t, hazards.H31, "a broken ref is listed as broken, and hides no other")
	t.Parallel()
	s, ctx := newStore(t), context.Background()
	c := commits(t, s, 1)
	noErr(t, s.UpdateRef(ctx, AgentRef(testMission), ID{}, c[0], Durable))
	write := func(name, data string) {
		path := filepath.Join(s.Dir(), name)
		noErr(t, os.MkdirAll(filepath.Dir(path), 0o700))
		noErr(t, os.WriteFile(path, []byte(data), 0o600))
	}
	write(string(AgentRef(testOther)), "")
	write("refs/tags/foreign", c[0].String()+"\n")
	write(string(PinRef("p")), c[0].String()[:39]+"\n")
	write("packed-refs", "# pack-refs with: peeled fully-peeled sorted \nnonsense "+string(RecordRef(testOther))+"\n"+c[0].String()+" "+string(RecordRef(testMission))+"\n")
	list := must[*RefList](t)(s.Refs(""))
	if len(list.Refs) != 2 || len(list.Bad) != 4 {
		t.Fatalf("%+v", list)
	}
	if _, err := s.Ref(RecordRef(testOther)); !errors.Is(err, ErrRefBroken) {
		t.Errorf("broken packed line: %v", err)
	}
	if err := s.UpdateRef(ctx, AgentRef(testOther), ID{}, c[0], Durable); !errors.Is(err, ErrRefBroken) {
		t.Errorf("an unreadable ref was taken for none: %v", err)
	}
}

func TestRefConflicts(t *testing.T) {
	t.Parallel()
	s, ctx := newStore(t), context.Background()
	c := commits(t, s, 1)
	dir := filepath.Join(s.Dir(), string(PinRef("p")))
	noErr(t, os.MkdirAll(filepath.Join(dir, "empty"), 0o700))
	noErr(t, s.UpdateRef(ctx, PinRef("p"), ID{}, c[0], Durable))
	noErr(t, os.MkdirAll(filepath.Join(s.Dir(), string(PinRef("q"))), 0o700))
	noErr(t, os.WriteFile(filepath.Join(s.Dir(), string(PinRef("q")), "child"), []byte(c[0].String()), 0o600))
	var conflict *RefConflictError
	if err := s.UpdateRef(ctx, PinRef("q"), ID{}, c[0], Durable); !errors.As(err, &conflict) || conflict.With != "refs/pins/q/child" {
		t.Errorf("with a child: %v", err)
	}
	noErr(t, os.WriteFile(filepath.Join(s.Dir(), "packed-refs"), []byte(c[0].String()+" refs/pins/r/child\n"), 0o600))
	if err := s.UpdateRef(ctx, PinRef("r"), ID{}, c[0], Durable); !errors.As(err, &conflict) || conflict.With != "refs/pins/r/child" {
		t.Errorf("with a packed child: %v", err)
	}
	noErr(t, os.Remove(filepath.Join(s.Dir(), "refs/keep")))
	noErr(t, os.WriteFile(filepath.Join(s.Dir(), "refs/keep"), []byte(c[0].String()), 0o600))
	if err := s.UpdateRef(ctx, KeepRef(c[0]), ID{}, c[0], Durable); !errors.As(err, &conflict) || conflict.With != "refs/keep" {
		t.Errorf("below a ref: %v", err)
	}
}

func TestForeignLockIsReportedNotRemoved(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	c := commits(t, s, 1)
	path := filepath.Join(s.Dir(), string(AgentRef(testMission))) + ".lock"
	noErr(t, os.WriteFile(path, nil, 0o600))
	noErr(t, os.Chtimes(path, time.Now(), time.Now().Add(-time.Hour)))
	if err := s.UpdateRef(ctx, AgentRef(testMission), ID{}, c[0], Durable); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	var locked *RefLockedError
	if err := s.inspectLock("x", path); !errors.As(err, &locked) || locked.Live || locked.Path != path {
		t.Errorf("got %v", err)
	}
	if _, err := s.Sweep(context.Background()); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("the lock is gone: %v", err)
	}
	problems := must[[]Problem](t)(s.Check(context.Background()))
	if len(problems) != 1 || problems[0].Invariant != "I6" || problems[0].Fix != "rm "+path {
		t.Errorf("%+v", problems)
	}
}

// TestDeadOwnersName: a lock whose process died after it had moved the ref is
// said, and swept.
func TestDeadOwnersName(t *testing.T) {
	t.Parallel()
	s, ctx := newStore(t), context.Background()
	c := commits(t, s, 1)
	l, err := s.lockRef(ctx, string(PinRef("p")), refValue{id: c[0]}.encode(), Durable)
	noErr(t, err)
	noErr(t, l.publish())
	held := must[[]Problem](t)(s.Check(ctx))
	l.file.Close()
	left := must[[]Problem](t)(s.Check(ctx))
	said := func(list []Problem) bool {
		return slices.ContainsFunc(list, func(p Problem) bool { return p.Invariant == "I6" && p.Fix == fixCommand })
	}
	if said(held) || !said(left) {
		t.Errorf("held: %+v; left: %+v", held, left)
	}
	_, err = s.Sweep(ctx)
	noErr(t, err)
	if said(must[[]Problem](t)(s.Check(ctx))) {
		t.Error("not swept")
	}
}

func TestDeadOwnersLockIsTakenOver(t *testing.T) {
	t.Parallel()
	naive := hazards.NewNaive(t, t.TempDir())
	killed := exec.Command("sh", "-c", `: >index.lock; kill -9 $$`) // as git does, killed while it holds it
	killed.Dir = naive.Dir
	_ = killed.Run()
	_, first := naive.Try("add", "-A")
	_, second := naive.Try("add", "-A")
	hazards.Shown(t, hazards.H25, first != nil && second != nil, "an `index.lock` that a killed git left makes every later `git add` fail")
	hazards.Held(t, hazards.H25, "a lock of a process that is known to be dead is taken over; that of another program is reported")
	s, ctx := newStore(t), context.Background()
	c := commits(t, s, 2)
	leave := func() {
		l, err := s.lockRef(ctx, string(AgentRef(testMission)), refValue{id: c[1]}.encode(), Durable)
		noErr(t, err)
		l.file.Close()
	}
	leave()
	noErr(t, s.UpdateRef(ctx, AgentRef(testMission), ID{}, c[0], Durable))
	leave()
	stats := must[SweepStats](t)(s.Sweep(ctx))
	if stats.Locks != 1 {
		t.Errorf("swept %+v", stats)
	}
	noErr(t, s.UpdateRef(ctx, AgentRef(testMission), c[0], c[1], Durable))
	if left := must[[]os.DirEntry](t)(os.ReadDir(filepath.Join(s.Dir(), refLockDir))); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

func TestLiveOwnersLockIsWaitedFor(t *testing.T) {
	t.Parallel()
	s, ctx := newStore(t), context.Background()
	c := commits(t, s, 1)
	l, err := s.lockRef(ctx, string(AgentRef(testMission)), nil, Derived)
	noErr(t, err)
	var locked *RefLockedError
	if err := s.inspectLock("x", l.path); !errors.As(err, &locked) || !locked.Live {
		t.Errorf("got %v", err)
	}
	stats := must[SweepStats](t)(s.Sweep(ctx))
	if stats.Locks != 0 {
		t.Errorf("swept %+v", stats)
	}
	done := make(chan error)
	go func() { done <- s.UpdateRef(ctx, AgentRef(testMission), ID{}, c[0], Durable) }()
	select {
	case err := <-done:
		t.Fatalf("did not wait: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	l.release()
	noErr(t, <-done)
}

func TestConcurrentSwapsLoseNothing(t *testing.T) {
	t.Parallel()
	s, ctx, ref := newStore(t), context.Background(), AgentRef(testMission)
	root := commits(t, s, 1)[0]
	noErr(t, s.UpdateRef(ctx, ref, ID{}, root, Durable))
	const workers, each = 4, 10
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				if err := appendCommit(ctx, s, ref, fmt.Sprintf("%d-%d", w, i), Derived); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	n := 0
	for _, err := range s.History(must[ID](t)(s.Ref(ref)), HistoryOptions{}) {
		noErr(t, err)
		n++
	}
	if n != 1+workers*each {
		t.Errorf("%d commits", n)
	}
	fsck(t, s)
}

// appendCommit adds a commit on top of a ref, however often it moves meanwhile.
func appendCommit(ctx context.Context, s *Store, ref RefName, data string, d Durability) error {
	for {
		tip, err := s.Ref(ref)
		if err != nil && !errors.Is(err, ErrRefNotFound) {
			return err
		}
		b := s.NewBatch()
		defer b.Discard()
		blob, err := b.Blob([]byte(data))
		if err != nil {
			return err
		}
		tree, err := b.Tree([]TreeEntry{{Name: "data", Mode: ModeFile, ID: blob}})
		if err != nil {
			return err
		}
		snap := &Snapshot{Tree: tree, Author: testSignature(1), At: testSignature(1).When, State: "idle", Message: data, Trailers: Trailers{Mission: testMission}}
		parent := ID{}
		if !tip.IsZero() {
			snap.Parents = []ID{tip}
			c, err := s.Commit(tip)
			if err != nil {
				return err
			}
			parent = c.Tree
		}
		id, err := s.WriteSnapshot(b, snap)
		if err != nil {
			return err
		}
		if err := b.Flush(ctx); err != nil {
			return err
		}
		if err := errors.Join(b.ProveTree(tree, parent), b.Prove(id)); err != nil {
			return err
		}
		if err := s.UpdateRef(ctx, ref, tip, id, d); !errors.Is(err, ErrRefMoved) {
			return err
		}
	}
}
