package gitstore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// snapshotWithRecord publishes a snapshot, but leaves its records ref to the
// test.
func snapshotWithRecord(t *testing.T, s *Store, n int, parent, lastRecord ID) (snapshot, record ID) {
	t.Helper()
	b := s.NewBatch()
	defer b.Discard()
	parents := func(id ID) []ID {
		if id.IsZero() {
			return nil
		}
		return []ID{id}
	}
	rt := must[ID](t)(b.Tree([]TreeEntry{{Name: "snapshot.json", Mode: ModeFile, ID: must[ID](t)(b.Blob([]byte{byte('0' + n)}))}}))
	record = must[ID](t)(s.WriteRecord(b, &Record{Tree: rt, Parents: parents(lastRecord), Kind: KindSnapshot,
		Mission: testMission, Author: testSignature(n), At: testSignature(n).When}))
	wt := must[ID](t)(b.Tree([]TreeEntry{{Name: "f", Mode: ModeFile, ID: must[ID](t)(b.Blob([]byte{byte(n)}))}}))
	snapshot = must[ID](t)(s.WriteSnapshot(b, &Snapshot{Tree: wt, Parents: parents(parent), Author: testSignature(n),
		At: testSignature(-n).When, State: "idle", Message: "m", Trailers: Trailers{Mission: testMission, Record: record, Turn: n}}))
	noErr(t, b.Flush(context.Background()))
	noErr(t, s.UpdateRef(context.Background(), AgentRef(testMission), parent, snapshot, Durable))
	return snapshot, record
}

func TestCommitterTimeNeverGoesBack(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	a, ra := snapshotWithRecord(t, s, 1, ID{}, ID{})
	b, _ := snapshotWithRecord(t, s, 2, a, ra)
	first, second := must[*Snapshot](t)(s.Snapshot(a)), must[*Snapshot](t)(s.Snapshot(b))
	if second.At.Before(first.At) {
		t.Errorf("%v before %v", second.At, first.At)
	}
}

func TestRepairRecords(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	ref := RecordRef(testMission)
	path := func(s *Store) string { return filepath.Join(s.Dir(), string(ref)) }
	for name, c := range map[string]struct {
		damage func(t *testing.T, s *Store, first, second ID)
		moved  bool
	}{
		"right":  {func(t *testing.T, s *Store, _, r ID) { noErr(t, s.UpdateRef(ctx, ref, ID{}, r, Derived)) }, false},
		"absent": {func(*testing.T, *Store, ID, ID) {}, true},
		"behind": {func(t *testing.T, s *Store, r, _ ID) { noErr(t, s.UpdateRef(ctx, ref, ID{}, r, Derived)) }, true},
		"empty":  {func(t *testing.T, s *Store, _, _ ID) { noErr(t, os.WriteFile(path(s), nil, 0o600)) }, true},
		"torn": {func(t *testing.T, s *Store, _, r ID) {
			noErr(t, os.WriteFile(path(s), []byte(r.String()[:20]), 0o600))
		}, true},
		"unknown": {func(t *testing.T, s *Store, _, _ ID) {
			noErr(t, os.WriteFile(path(s), []byte(testID(9).String()), 0o600))
		}, true},
		"meta on top": {func(t *testing.T, s *Store, _, r ID) {
			b := s.NewBatch()
			defer b.Discard()
			tree := must[ID](t)(b.Tree(nil))
			meta := must[ID](t)(s.WriteRecord(b, &Record{Tree: tree, Parents: []ID{r}, Kind: KindMeta, Mission: testMission, Author: testSignature(5), At: time.Unix(0, 0)}))
			noErr(t, b.Flush(ctx))
			noErr(t, s.UpdateRef(ctx, ref, ID{}, meta, Durable))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			snap, r1 := snapshotWithRecord(t, s, 1, ID{}, ID{})
			_, r2 := snapshotWithRecord(t, s, 2, snap, r1)
			c.damage(t, s, r1, r2)
			repaired := must[[]RepairedRef](t)(s.RepairRecords(ctx))
			if moved := len(repaired) == 1; moved != c.moved {
				t.Fatalf("repaired %v", repaired)
			}
			at := must[ID](t)(s.Ref(ref))
			if ok := must[bool](t)(s.IsAncestor(r2, at)); !ok {
				t.Errorf("ref is at %s, which does not hold %s", at, r2)
			}
			if again := must[[]RepairedRef](t)(s.RepairRecords(ctx)); len(again) != 0 {
				t.Errorf("repaired again: %v", again)
			}
		})
	}
}

func TestRepairRecordsWithoutRecord(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ctx := context.Background()
	b := s.NewBatch()
	defer b.Discard()
	tree := must[ID](t)(b.Tree(nil))
	snap := must[ID](t)(s.WriteSnapshot(b, &Snapshot{Tree: tree, Author: testSignature(1), At: testSignature(1).When,
		State: "idle", Trailers: Trailers{Mission: testMission, Record: testID(7)}}))
	noErr(t, b.Flush(ctx))
	noErr(t, s.UpdateRef(ctx, AgentRef(testMission), ID{}, snap, Durable))
	if _, err := s.RepairRecords(ctx); !errors.Is(err, ErrMissing) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Ref(RecordRef(testMission)); !errors.Is(err, ErrRefNotFound) {
		t.Errorf("ref: %v", err)
	}
}

func testID(n byte) ID { return HashObject(TypeBlob, []byte{'t', n}) }
