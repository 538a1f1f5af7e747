package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// SnapshotWithRecord publishes a snapshot, but leaves its records ref to the
// test.
func SnapshotWithRecord(t *testing.T, s *shadow.Store, n int, parent, lastRecord gitstore.ID) (snapshot, record gitstore.ID) {
	t.Helper()
	b := s.NewBatch()
	defer b.Discard()
	parents := func(id gitstore.ID) []gitstore.ID {
		if id.IsZero() {
			return nil
		}
		return []gitstore.ID{id}
	}
	file := Must[gitstore.ID](t)(b.Blob([]byte{byte('0' + n)}))
	rt := Must[gitstore.ID](t)(b.Tree([]gitstore.TreeEntry{{Name: "snapshot.json", Mode: gitstore.ModeFile, ID: file}}))
	record = Must[gitstore.ID](t)(s.WriteRecord(b, &gitstore.Record{Tree: rt, Parents: parents(lastRecord), Kind: gitstore.KindSnapshot,
		Mission: Mission, Author: Signature(n), At: Signature(n).When}))
	wt := Must[gitstore.ID](t)(b.Tree([]gitstore.TreeEntry{{Name: "f", Mode: gitstore.ModeFile, ID: Must[gitstore.ID](t)(b.Blob([]byte{byte(n)}))}}))
	snapshot = Must[gitstore.ID](t)(s.WriteSnapshot(b, &gitstore.Snapshot{Tree: wt, Parents: parents(parent), Author: Signature(n),
		At: Signature(-n).When, State: "idle", Message: "m", Trailers: gitstore.Trailers{Mission: Mission, Record: record, Turn: n}}))
	NoErr(t, b.Flush(context.Background()))
	NoErr(t, s.UpdateRef(context.Background(), gitstore.AgentRef(Mission), parent, snapshot, gitstore.Durable))
	return snapshot, record
}

// ID is an id of no object, another for each n.
func ID(n byte) gitstore.ID { return gitstore.HashObject(gitstore.TypeBlob, []byte{'t', n}) }

// Commits writes n commits in a row.
func Commits(t testing.TB, s *shadow.Store, n int) []gitstore.ID {
	t.Helper()
	b := s.NewBatch()
	defer b.Discard()
	var out []gitstore.ID
	for i := range n {
		var parents []gitstore.ID
		if i > 0 {
			parents = out[i-1:]
		}
		out = append(out, CommitFiles(t, b, i, map[string]string{"f": fmt.Sprint(i)}, parents...))
	}
	NoErr(t, b.Flush(context.Background()))
	return out
}

// AppendCommit adds a commit on top of a ref, however often it moves meanwhile.
func AppendCommit(ctx context.Context, s *shadow.Store, ref gitstore.RefName, data string, d gitstore.Durability) error {
	for {
		tip, err := s.Ref(ref)
		if err != nil && !errors.Is(err, gitstore.ErrRefNotFound) {
			return err
		}
		b := s.NewBatch()
		defer b.Discard()
		blob, err := b.Blob([]byte(data))
		if err != nil {
			return err
		}
		tree, err := b.Tree([]gitstore.TreeEntry{{Name: "data", Mode: gitstore.ModeFile, ID: blob}})
		if err != nil {
			return err
		}
		snap := &gitstore.Snapshot{Tree: tree, Author: Signature(1), At: Signature(1).When, State: "idle", Message: data,
			Trailers: gitstore.Trailers{Mission: Mission}}
		parent := gitstore.ID{}
		if !tip.IsZero() {
			snap.Parents = []gitstore.ID{tip}
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
		if err := s.UpdateRef(ctx, ref, tip, id, d); !errors.Is(err, gitstore.ErrRefMoved) {
			return err
		}
	}
}

// CommitFiles writes a snapshot of flat files on top of parents.
func CommitFiles(t testing.TB, b *shadow.Batch, n int, files map[string]string, parents ...gitstore.ID) gitstore.ID {
	t.Helper()
	var entries []gitstore.TreeEntry
	for _, name := range slices.Sorted(maps.Keys(files)) { // so that a pack is the same each time
		id := Must[gitstore.ID](t)(b.Blob([]byte(files[name])))
		entries = append(entries, gitstore.TreeEntry{Name: name, Mode: gitstore.ModeFile, ID: id})
	}
	tree := Must[gitstore.ID](t)(b.Tree(entries))
	snap := &gitstore.Snapshot{Tree: tree, Parents: parents, Author: Signature(n), At: Signature(n).When,
		State: "idle", Message: fmt.Sprintf("commit %d", n), Trailers: gitstore.Trailers{Mission: Mission, Turn: n}}
	return Must[gitstore.ID](t)(b.Commit(gitstore.FormatSnapshot(snap)))
}
