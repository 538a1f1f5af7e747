package shadow_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

func gitRef(t testing.TB, s *shadow.Store, name gitstore.RefName) string {
	t.Helper()
	out, err := s.Git(context.Background(), "rev-parse", "--verify", "-q", string(name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

func TestRefNames(t *testing.T) {
	t.Parallel()
	good := []gitstore.RefName{gitstore.AgentRef(storetest.Mission), gitstore.RecordRef(storetest.Mission), gitstore.HeadRef("fix-login"), gitstore.HeadRef("0.a_b"), gitstore.PinRef("v1"),
		gitstore.KeepRef(storetest.ID(1)), gitstore.TrashAgentRef(storetest.Mission), gitstore.TrashRecordRef(storetest.Mission)}
	for _, name := range good {
		if got, err := gitstore.ParseRefName(string(name)); err != nil || got != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := gitstore.TrashAgentRef(storetest.Mission).Mission(); got != storetest.Mission {
		t.Errorf("mission %q", got)
	}
	for _, bad := range []string{"", "refs/", "refs/heads/", "refs/heads/_none", "refs/heads/a/b", "refs/heads/a..b", "refs/heads/a.lock",
		"refs/heads/-a", "refs/heads/a b", "refs/heads/ä", "refs/tags/v1", "refs/agents/x", "refs/agents/" + strings.ToUpper(storetest.Mission),
		"refs/agents/" + storetest.Mission + "/x", "refs/keep/1234", "refs/trash/" + storetest.Mission, "refs/heads/" + strings.Repeat("a", 201), "HEAD"} {
		if _, err := gitstore.ParseRefName(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestUpdateRefComparesAndSwaps(t *testing.T) {
	t.Parallel()
	s, ctx, ref := storetest.New(t), context.Background(), gitstore.AgentRef(storetest.Mission)
	c := storetest.Commits(t, s, 3)
	if _, err := s.Ref(ref); !errors.Is(err, gitstore.ErrRefNotFound) {
		t.Fatalf("unborn: %v", err)
	}
	before := s.Fsyncs()
	storetest.NoErr(t, s.UpdateRef(ctx, ref, gitstore.ID{}, c[0], gitstore.Durable))
	if n := s.Fsyncs() - before; n != 2 {
		t.Errorf("durable update: %d fsyncs", n)
	}
	before = s.Fsyncs()
	storetest.NoErr(t, s.UpdateRef(ctx, gitstore.RecordRef(storetest.Mission), gitstore.ID{}, c[0], gitstore.Derived))
	if n := s.Fsyncs() - before; n != 0 {
		t.Errorf("derived update: %d fsyncs", n)
	}
	var moved *gitstore.RefMovedError
	for _, old := range []gitstore.ID{{}, c[1]} {
		if err := s.UpdateRef(ctx, ref, old, c[2], gitstore.Durable); !errors.Is(err, gitstore.ErrRefMoved) || !errors.As(err, &moved) || moved.Have != c[0].String() {
			t.Errorf("old %s: %v", old, err)
		}
	}
	storetest.NoErr(t, s.UpdateRef(ctx, ref, c[0], c[1], gitstore.Durable))
	if got := gitRef(t, s, ref); got != c[1].String() {
		t.Errorf("git reads %s", got)
	}
	if err := s.UpdateRef(ctx, ref, c[1], storetest.ID(1), gitstore.Durable); !errors.Is(err, gitstore.ErrMissing) {
		t.Errorf("to a missing commit: %v", err)
	}
	tree := storetest.Must[*gitstore.Commit](t)(s.Commit(c[1])).Tree
	if err := s.UpdateRef(ctx, ref, c[1], tree, gitstore.Durable); !errors.Is(err, gitstore.ErrWrongType) {
		t.Errorf("to a tree: %v", err)
	}
	var invalid *gitstore.InvalidRefNameError
	if err := s.UpdateRef(ctx, "refs/tags/x", gitstore.ID{}, c[0], gitstore.Durable); !errors.As(err, &invalid) {
		t.Errorf("foreign name: %v", err)
	}
	storetest.NoErr(t, s.DeleteRef(ctx, ref, c[1]))
	if err := s.DeleteRef(ctx, ref, c[1]); !errors.Is(err, gitstore.ErrRefMoved) {
		t.Errorf("delete twice: %v", err)
	}
	storetest.Fsck(t, s)
}

func TestPackedRefs(t *testing.T) {
	t.Parallel()
	s, ctx, ref := storetest.New(t), context.Background(), gitstore.AgentRef(storetest.Mission)
	c := storetest.Commits(t, s, 3)
	storetest.NoErr(t, s.UpdateRef(ctx, ref, gitstore.ID{}, c[0], gitstore.Durable))
	storetest.NoErr(t, s.UpdateRef(ctx, gitstore.AgentRef(storetest.Other), gitstore.ID{}, c[0], gitstore.Durable))
	storetest.NoErr(t, s.SetSymbolic(ctx, gitstore.HeadRef("name"), "", ref, gitstore.Durable))
	_, err := s.Git(ctx, "pack-refs", "--all", "--prune")
	storetest.NoErr(t, err)
	if got := storetest.Must[gitstore.ID](t)(s.Ref(gitstore.HeadRef("name"))); got != c[0] {
		t.Errorf("through packed: %s", got)
	}
	storetest.NoErr(t, s.UpdateRef(ctx, ref, c[0], c[1], gitstore.Durable))
	storetest.NoErr(t, s.DeleteRef(ctx, ref, c[1]))
	if _, err := s.Ref(ref); !errors.Is(err, gitstore.ErrRefNotFound) {
		t.Errorf("the packed value came back: %v", err)
	}
	if got := storetest.Must[gitstore.ID](t)(s.Ref(gitstore.AgentRef(storetest.Other))); got != c[0] {
		t.Errorf("the other packed ref: %s", got)
	}
	list := storetest.Must[*gitstore.RefList](t)(s.Refs(""))
	if len(list.Refs) != 1 || len(list.Bad) != 1 || list.Bad[0].Ref != "refs/heads/name" {
		t.Errorf("list: %+v", list)
	}
	storetest.NoErr(t, s.DeleteSymbolic(ctx, gitstore.HeadRef("name"), ref))
	storetest.Fsck(t, s)
}

func TestSymbolic(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	c := storetest.Commits(t, s, 1)
	storetest.NoErr(t, s.UpdateRef(ctx, gitstore.AgentRef(storetest.Mission), gitstore.ID{}, c[0], gitstore.Durable))
	storetest.NoErr(t, s.SetSymbolic(ctx, gitstore.HeadRef("fix-login"), "", gitstore.AgentRef(storetest.Mission), gitstore.Durable))
	if err := s.SetSymbolic(ctx, gitstore.HeadRef("fix-login"), "", gitstore.AgentRef(storetest.Other), gitstore.Durable); !errors.Is(err, gitstore.ErrRefMoved) {
		t.Errorf("a name in use was taken: %v", err)
	}
	if got := gitRef(t, s, gitstore.HeadRef("fix-login")); got != c[0].String() {
		t.Errorf("git reads %q", got)
	}
	if got := storetest.Must[gitstore.RefName](t)(s.Symbolic(gitstore.HeadRef("fix-login"))); got != gitstore.AgentRef(storetest.Mission) {
		t.Errorf("leads to %s", got)
	}
	out := storetest.Must[[]byte](t)(s.Git(ctx, "log", "--format=%s", "fix-login"))
	if strings.TrimSpace(string(out)) != "commit 0" {
		t.Errorf("git log: %q", out)
	}
	storetest.Fsck(t, s)
}

func TestBadRefHidesNothing(t *testing.T) {
	hazards.Held(t, hazards.H31, "a broken ref is listed as broken, and hides no other")
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	c := storetest.Commits(t, s, 1)
	storetest.NoErr(t, s.UpdateRef(ctx, gitstore.AgentRef(storetest.Mission), gitstore.ID{}, c[0], gitstore.Durable))
	write := func(name, data string) {
		path := filepath.Join(s.Dir(), name)
		storetest.NoErr(t, os.MkdirAll(filepath.Dir(path), 0o700))
		storetest.NoErr(t, os.WriteFile(path, []byte(data), 0o600))
	}
	write(string(gitstore.AgentRef(storetest.Other)), "")
	write("refs/tags/foreign", c[0].String()+"\n")
	write(string(gitstore.PinRef("p")), c[0].String()[:39]+"\n")
	write("packed-refs", "# pack-refs with: peeled fully-peeled sorted \nnonsense "+string(gitstore.RecordRef(storetest.Other))+"\n"+c[0].String()+" "+string(gitstore.RecordRef(storetest.Mission))+"\n")
	list := storetest.Must[*gitstore.RefList](t)(s.Refs(""))
	if len(list.Refs) != 2 || len(list.Bad) != 4 {
		t.Fatalf("%+v", list)
	}
	if _, err := s.Ref(gitstore.RecordRef(storetest.Other)); !errors.Is(err, gitstore.ErrRefBroken) {
		t.Errorf("broken packed line: %v", err)
	}
	if err := s.UpdateRef(ctx, gitstore.AgentRef(storetest.Other), gitstore.ID{}, c[0], gitstore.Durable); !errors.Is(err, gitstore.ErrRefBroken) {
		t.Errorf("an unreadable ref was taken for none: %v", err)
	}
}

func TestRefConflicts(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	c := storetest.Commits(t, s, 1)
	dir := filepath.Join(s.Dir(), string(gitstore.PinRef("p")))
	storetest.NoErr(t, os.MkdirAll(filepath.Join(dir, "empty"), 0o700))
	storetest.NoErr(t, s.UpdateRef(ctx, gitstore.PinRef("p"), gitstore.ID{}, c[0], gitstore.Durable))
	storetest.NoErr(t, os.MkdirAll(filepath.Join(s.Dir(), string(gitstore.PinRef("q"))), 0o700))
	storetest.NoErr(t, os.WriteFile(filepath.Join(s.Dir(), string(gitstore.PinRef("q")), "child"), []byte(c[0].String()), 0o600))
	var conflict *gitstore.RefConflictError
	if err := s.UpdateRef(ctx, gitstore.PinRef("q"), gitstore.ID{}, c[0], gitstore.Durable); !errors.As(err, &conflict) || conflict.With != "refs/pins/q/child" {
		t.Errorf("with a child: %v", err)
	}
	storetest.NoErr(t, os.WriteFile(filepath.Join(s.Dir(), "packed-refs"), []byte(c[0].String()+" refs/pins/r/child\n"), 0o600))
	if err := s.UpdateRef(ctx, gitstore.PinRef("r"), gitstore.ID{}, c[0], gitstore.Durable); !errors.As(err, &conflict) || conflict.With != "refs/pins/r/child" {
		t.Errorf("with a packed child: %v", err)
	}
	storetest.NoErr(t, os.Remove(filepath.Join(s.Dir(), "refs/keep")))
	storetest.NoErr(t, os.WriteFile(filepath.Join(s.Dir(), "refs/keep"), []byte(c[0].String()), 0o600))
	if err := s.UpdateRef(ctx, gitstore.KeepRef(c[0]), gitstore.ID{}, c[0], gitstore.Durable); !errors.As(err, &conflict) || conflict.With != "refs/keep" {
		t.Errorf("below a ref: %v", err)
	}
}

func TestConcurrentSwapsLoseNothing(t *testing.T) {
	t.Parallel()
	s, ctx, ref := storetest.New(t), context.Background(), gitstore.AgentRef(storetest.Mission)
	root := storetest.Commits(t, s, 1)[0]
	storetest.NoErr(t, s.UpdateRef(ctx, ref, gitstore.ID{}, root, gitstore.Durable))
	const workers, each = 4, 10
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				if err := storetest.AppendCommit(ctx, s, ref, fmt.Sprintf("%d-%d", w, i), gitstore.Derived); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	n := 0
	for _, err := range s.History(storetest.Must[gitstore.ID](t)(s.Ref(ref)), shadow.HistoryOptions{}) {
		storetest.NoErr(t, err)
		n++
	}
	if n != 1+workers*each {
		t.Errorf("%d commits", n)
	}
	storetest.Fsck(t, s)
}
