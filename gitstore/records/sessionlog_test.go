package records

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
)

// sessionLog keeps a mission's records while a test's session file changes.
type sessionLog struct {
	t      testing.TB
	s      *shadow.Store
	record gitstore.ID
	known  map[gitstore.ID]bool
	stored int64
}

// append records the file as it is and returns the meta.
func (l *sessionLog) append(src SessionSource) (SessionMeta, error) {
	l.t.Helper()
	base, parents := gitstore.ID{}, []gitstore.ID(nil)
	if !l.record.IsZero() {
		base, parents = storetest.Must[*gitstore.Record](l.t)(l.s.Record(l.record)).Tree, []gitstore.ID{l.record}
	}
	b := l.s.NewBatch()
	defer b.Discard()
	tree := NewTree(l.s, base)
	meta, err := tree.AppendSession(b, src)
	if err != nil {
		return meta, err
	}
	id := storetest.Must[gitstore.ID](l.t)(tree.Write(b))
	l.record = storetest.Must[gitstore.ID](l.t)(l.s.WriteRecord(b, &gitstore.Record{Tree: id, Parents: parents, Author: storetest.Signature(0), At: storetest.Signature(0).When, Kind: gitstore.KindSnapshot, Mission: storetest.Mission, Message: "test"}))
	storetest.NoErr(l.t, b.Flush(context.Background()))
	l.count(id)
	return meta, nil
}

// count adds up the objects of a record that none before it held.
func (l *sessionLog) count(tree gitstore.ID) {
	if l.known == nil {
		l.known = map[gitstore.ID]bool{}
	}
	add := func(id gitstore.ID) bool {
		if l.known[id] {
			return false
		}
		l.known[id] = true
		_, data, err := l.s.Object(id)
		storetest.NoErr(l.t, err)
		l.stored += int64(len(data))
		return true
	}
	add(tree)
	storetest.NoErr(l.t, l.s.WalkTree(tree, func(_ string, e gitstore.TreeEntry) error {
		if !add(e.ID) && e.Mode.IsDir() {
			return gitstore.SkipTree
		}
		return nil
	}))
}

func (l *sessionLog) check(want []byte) SessionMeta {
	l.t.Helper()
	r := storetest.Must[*SessionReader](l.t)(OpenSession(l.s, l.record))
	got := storetest.Must[[]byte](l.t)(io.ReadAll(r))
	if !bytes.Equal(got, want) {
		l.t.Fatalf("read back %d bytes, want %d; first difference at %d", len(got), len(want), firstDifference(got, want))
	}
	return r.Meta
}

func firstDifference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

func source(data []byte, same bool) SessionSource {
	return SessionSource{Agent: "claude", SessionID: "s1", File: bytes.NewReader(data), Length: int64(len(data)), SameFile: same, Idle: true}
}

func line(rnd *rand.Rand, n int) []byte {
	out := bytes.Repeat(fmt.Appendf(nil, "%016x", rnd.Uint64()), n/16+1)[:n]
	return append(out, '\n')
}
