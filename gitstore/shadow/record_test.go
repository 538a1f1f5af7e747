package shadow_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
)

func TestCommitterTimeNeverGoesBack(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	a, ra := storetest.SnapshotWithRecord(t, s, 1, gitstore.ID{}, gitstore.ID{})
	b, _ := storetest.SnapshotWithRecord(t, s, 2, a, ra)
	first, second := storetest.Must[*gitstore.Snapshot](t)(s.Snapshot(a)), storetest.Must[*gitstore.Snapshot](t)(s.Snapshot(b))
	if second.At.Before(first.At) {
		t.Errorf("%v before %v", second.At, first.At)
	}
}

func TestRepairRecords(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	ref := gitstore.RecordRef(storetest.Mission)
	path := func(s *shadow.Store) string { return filepath.Join(s.Dir(), string(ref)) }
	for name, c := range map[string]struct {
		damage func(t *testing.T, s *shadow.Store, first, second gitstore.ID)
		moved  bool
	}{
		"right": {func(t *testing.T, s *shadow.Store, _, r gitstore.ID) {
			storetest.NoErr(t, s.UpdateRef(ctx, ref, gitstore.ID{}, r, gitstore.Derived))
		}, false},
		"absent": {func(*testing.T, *shadow.Store, gitstore.ID, gitstore.ID) {}, true},
		"behind": {func(t *testing.T, s *shadow.Store, r, _ gitstore.ID) {
			storetest.NoErr(t, s.UpdateRef(ctx, ref, gitstore.ID{}, r, gitstore.Derived))
		}, true},
		"empty": {func(t *testing.T, s *shadow.Store, _, _ gitstore.ID) {
			storetest.NoErr(t, os.WriteFile(path(s), nil, 0o600))
		}, true},
		"torn": {func(t *testing.T, s *shadow.Store, _, r gitstore.ID) {
			storetest.NoErr(t, os.WriteFile(path(s), []byte(r.String()[:20]), 0o600))
		}, true},
		"unknown": {func(t *testing.T, s *shadow.Store, _, _ gitstore.ID) {
			storetest.NoErr(t, os.WriteFile(path(s), []byte(storetest.ID(9).String()), 0o600))
		}, true},
		"meta on top": {func(t *testing.T, s *shadow.Store, _, r gitstore.ID) {
			b := s.NewBatch()
			defer b.Discard()
			tree := storetest.Must[gitstore.ID](t)(b.Tree(nil))
			meta := storetest.Must[gitstore.ID](t)(s.WriteRecord(b, &gitstore.Record{Tree: tree, Parents: []gitstore.ID{r}, Kind: gitstore.KindMeta, Mission: storetest.Mission, Author: storetest.Signature(5), At: time.Unix(0, 0)}))
			storetest.NoErr(t, b.Flush(ctx))
			storetest.NoErr(t, s.UpdateRef(ctx, ref, gitstore.ID{}, meta, gitstore.Durable))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := storetest.New(t)
			snap, r1 := storetest.SnapshotWithRecord(t, s, 1, gitstore.ID{}, gitstore.ID{})
			_, r2 := storetest.SnapshotWithRecord(t, s, 2, snap, r1)
			c.damage(t, s, r1, r2)
			repaired := storetest.Must[[]shadow.RepairedRef](t)(s.RepairRecords(ctx))
			if moved := len(repaired) == 1; moved != c.moved {
				t.Fatalf("repaired %v", repaired)
			}
			at := storetest.Must[gitstore.ID](t)(s.Ref(ref))
			if ok := storetest.Must[bool](t)(s.IsAncestor(r2, at)); !ok {
				t.Errorf("ref is at %s, which does not hold %s", at, r2)
			}
			if again := storetest.Must[[]shadow.RepairedRef](t)(s.RepairRecords(ctx)); len(again) != 0 {
				t.Errorf("repaired again: %v", again)
			}
		})
	}
}

func TestRepairRecordsWithoutRecord(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	ctx := context.Background()
	b := s.NewBatch()
	defer b.Discard()
	tree := storetest.Must[gitstore.ID](t)(b.Tree(nil))
	snap := storetest.Must[gitstore.ID](t)(s.WriteSnapshot(b, &gitstore.Snapshot{Tree: tree, Author: storetest.Signature(1), At: storetest.Signature(1).When,
		State: "idle", Trailers: gitstore.Trailers{Mission: storetest.Mission, Record: storetest.ID(7)}}))
	storetest.NoErr(t, b.Flush(ctx))
	storetest.NoErr(t, s.UpdateRef(ctx, gitstore.AgentRef(storetest.Mission), gitstore.ID{}, snap, gitstore.Durable))
	if _, err := s.RepairRecords(ctx); !errors.Is(err, gitstore.ErrMissing) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Ref(gitstore.RecordRef(storetest.Mission)); !errors.Is(err, gitstore.ErrRefNotFound) {
		t.Errorf("ref: %v", err)
	}
}
