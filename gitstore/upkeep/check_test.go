package upkeep

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
)

// missionStore holds one mission of three snapshots with records, each of which holds
// what the one before does, and a line more.
func missionStore(t *testing.T) (s *shadow.Store, snapshots, records []gitstore.ID) {
	t.Helper()
	s = storetest.New(t)
	ctx := context.Background()
	tip := gitstore.ID{}
	record := &gitstore.Record{Kind: gitstore.KindSnapshot, Mission: storetest.Mission}
	var lines []gitstore.TreeEntry
	for i := range 3 {
		b := s.NewBatch()
		lines = append(lines, gitstore.TreeEntry{Name: fmt.Sprint("line", i), Mode: gitstore.ModeFile, ID: storetest.Must[gitstore.ID](t)(b.Blob(fmt.Appendf(nil, "{\"line\":%d}\n", i)))})
		record.Tree, record.Author, record.At = storetest.Must[gitstore.ID](t)(b.Tree(lines)), storetest.Signature(i), storetest.Signature(i).When
		id := storetest.Must[gitstore.ID](t)(s.WriteRecord(b, record))
		record.Parents, records = []gitstore.ID{id}, append(records, id)
		tree := storetest.WriteTree(t, b, map[string]storetest.File{"f": {Mode: gitstore.ModeFile, Data: fmt.Sprint(i)}, "dir/g": {Mode: gitstore.ModeFile, Data: "g"}})
		snap := &gitstore.Snapshot{Tree: tree, Author: storetest.Signature(i), At: storetest.Signature(i).When, State: "idle", Trailers: gitstore.Trailers{Mission: storetest.Mission, Record: id}}
		if !tip.IsZero() {
			snap.Parents = []gitstore.ID{tip}
		}
		snapshot := storetest.Must[gitstore.ID](t)(s.WriteSnapshot(b, snap))
		storetest.NoErr(t, b.Flush(ctx))
		b.Discard()
		storetest.NoErr(t, s.UpdateRef(ctx, gitstore.AgentRef(storetest.Mission), tip, snapshot, gitstore.Durable))
		tip, snapshots = snapshot, append(snapshots, snapshot)
	}
	storetest.NoErr(t, s.UpdateRef(ctx, gitstore.RecordRef(storetest.Mission), gitstore.ID{}, records[2], gitstore.Durable))
	storetest.NoErr(t, s.SetSymbolic(ctx, gitstore.HeadRef("m"), "", gitstore.AgentRef(storetest.Mission), gitstore.Durable))
	return s, snapshots, records
}

func TestCheckFinds(t *testing.T) {
	ctx := context.Background()
	write := func(t *testing.T, s *shadow.Store, name, data string) {
		storetest.NoErr(t, os.WriteFile(filepath.Join(s.Dir(), name), []byte(data), 0o600))
	}
	publish := func(t *testing.T, s *shadow.Store, ref gitstore.RefName, old gitstore.ID, snap *gitstore.Snapshot) gitstore.ID {
		b := s.NewBatch()
		defer b.Discard()
		snap.Tree = storetest.Must[gitstore.ID](t)(b.Tree(nil))
		snap.Author, snap.State = storetest.Signature(9), "idle"
		id := storetest.Must[gitstore.ID](t)(s.WriteSnapshot(b, snap))
		storetest.NoErr(t, b.Flush(ctx))
		storetest.NoErr(t, s.UpdateRef(ctx, ref, old, id, gitstore.Durable))
		return id
	}
	for name, c := range map[string]struct {
		damage func(t *testing.T, s *shadow.Store, snapshots, records []gitstore.ID)
		want   string
	}{
		"nothing": {func(*testing.T, *shadow.Store, []gitstore.ID, []gitstore.ID) {}, ""},
		"empty ref": {func(t *testing.T, s *shadow.Store, _, _ []gitstore.ID) {
			write(t, s, string(gitstore.AgentRef(storetest.Other)), "")
		}, "I1"},
		"missing blob": {func(t *testing.T, s *shadow.Store, _, _ []gitstore.ID) {
			storetest.RemoveObject(t, s, gitstore.HashObject(gitstore.TypeBlob, []byte("g")))
		}, "I1"},
		"records ref": {func(t *testing.T, s *shadow.Store, _, r []gitstore.ID) {
			write(t, s, string(gitstore.RecordRef(storetest.Mission)), r[0].String()+"\n")
		}, "I3"},
		"missing chunk": {func(t *testing.T, s *shadow.Store, _, _ []gitstore.ID) {
			storetest.RemoveObject(t, s, gitstore.HashObject(gitstore.TypeBlob, []byte("{\"line\":1}\n")))
		}, "I1"},
		"pin not kept": {func(t *testing.T, s *shadow.Store, c, _ []gitstore.ID) {
			storetest.NoErr(t, s.UpdateRef(ctx, gitstore.PinRef("p"), gitstore.ID{}, c[1], gitstore.Durable))
		}, "I3"},
		"pin kept": {func(t *testing.T, s *shadow.Store, c, r []gitstore.ID) {
			storetest.NoErr(t, s.UpdateRef(ctx, gitstore.PinRef("p"), gitstore.ID{}, c[1], gitstore.Durable))
			storetest.NoErr(t, s.UpdateRef(ctx, gitstore.KeepRef(c[1]), gitstore.ID{}, r[1], gitstore.Durable))
		}, ""},
		"foreign history": {func(t *testing.T, s *shadow.Store, c, r []gitstore.ID) {
			publish(t, s, gitstore.AgentRef(storetest.Other), gitstore.ID{}, &gitstore.Snapshot{Parents: c[1:2], Trailers: gitstore.Trailers{Mission: storetest.Other, Record: r[1]}})
			storetest.NoErr(t, s.UpdateRef(ctx, gitstore.RecordRef(storetest.Other), gitstore.ID{}, r[1], gitstore.Durable))
		}, "I2"},
		"fork": {func(t *testing.T, s *shadow.Store, c, r []gitstore.ID) {
			publish(t, s, gitstore.AgentRef(storetest.Other), gitstore.ID{}, &gitstore.Snapshot{Parents: c[1:2], Trailers: gitstore.Trailers{Mission: storetest.Other, Record: r[1], ForkedFrom: c[1]}})
			storetest.NoErr(t, s.UpdateRef(ctx, gitstore.RecordRef(storetest.Other), gitstore.ID{}, r[1], gitstore.Durable))
		}, ""},
		"no record": {func(t *testing.T, s *shadow.Store, c, _ []gitstore.ID) {
			publish(t, s, gitstore.AgentRef(storetest.Mission), c[2], &gitstore.Snapshot{Parents: c[2:], Trailers: gitstore.Trailers{Mission: storetest.Mission, Record: storetest.ID(8)}})
		}, "I1"},
		"shallow": {func(t *testing.T, s *shadow.Store, c, r []gitstore.ID) {
			write(t, s, "shallow", c[1].String()+"\n"+r[1].String()+"\n")
			storetest.RemoveObject(t, s, c[0])
			storetest.RemoveObject(t, s, r[0])
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, snapshots, records := missionStore(t)
			c.damage(t, s, snapshots, records)
			for _, path := range []string{os.Getenv("PATH"), ""} {
				t.Setenv("PATH", path)
				problems := storetest.Must[[]Problem](t)(Check(ctx, s))
				got := map[string]bool{}
				for _, p := range problems {
					got[p.Invariant] = true
				}
				if c.want == "" && len(problems) > 0 || c.want != "" && !got[c.want] {
					t.Errorf("PATH %q: %+v", path, problems)
				}
			}
		})
	}
}

// TestCheckBelievesFsckTwice: an object that was written while git fsck ran is
// missing to it, and no damage.
func TestCheckBelievesFsckTwice(t *testing.T) {
	s := storetest.New(t)
	bin := storetest.FakeGit(t, `case "$*" in *fsck*) ;; *) exit 0;; esac
cd "$(dirname "$0")"
if [ -e ran ]; then echo "missing commit b"; echo "missing commit c"; else echo "missing commit a"; echo "missing commit b"; fi
: >ran
exit 2
`)
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	problems := storetest.Must[[]Problem](t)(Check(context.Background(), s))
	if len(problems) != 1 || !slices.Equal(problems[0].Details, []string{"missing commit b"}) {
		t.Errorf("%+v", problems)
	}
}
