package upkeep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/objects"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
)

// scattered makes a repository of n snapshots, loose and in packs, with objects
// that no ref reaches.
func scattered(t *testing.T, n int) *shadow.Store {
	t.Helper()
	s, ctx := storetest.New(t), context.Background()
	_, record := storetest.SnapshotWithRecord(t, s, 1, gitstore.ID{}, gitstore.ID{})
	storetest.NoErr(t, s.UpdateRef(ctx, gitstore.RecordRef(storetest.Mission), gitstore.ID{}, record, gitstore.Durable))
	for i := range n {
		grow(t, s, i)
	}
	b := s.NewBatch()
	defer b.Discard()
	storetest.CommitFiles(t, b, 1, map[string]string{"unreachable": "u"})
	storetest.NoErr(t, b.Flush(ctx))
	many := s.NewBatch()
	defer many.Discard()
	for i := range storetest.InPack {
		storetest.Must[gitstore.ID](t)(many.Blob(fmt.Appendf(nil, "unreachable %d", i)))
	}
	storetest.NoErr(t, many.Flush(ctx))
	return s
}

// grow publishes one more snapshot.
func grow(t *testing.T, s *shadow.Store, i int) {
	t.Helper()
	storetest.NoErr(t, childSnapshot(s, io.Discard, "grow", i))
}

// everything lists each object with its type and size, as git sees it.
func everything(t *testing.T, s *shadow.Store) string {
	t.Helper()
	return string(storetest.Must[[]byte](t)(s.Git(context.Background(), "cat-file", "--batch-all-objects", "--batch-check")))
}

// inode is what of a file a repack must leave alone.
func inode(t *testing.T, path string) unix.Stat_t {
	t.Helper()
	var st unix.Stat_t
	storetest.NoErr(t, unix.Lstat(path, &st))
	st.Atim = unix.Timespec{}
	return st
}

func TestRepack(t *testing.T) {
	t.Parallel()
	s, ctx := scattered(t, 30), context.Background()
	// A pack as seeding links it: another name of the user's file.
	user := storetest.New(t)
	b := user.NewBatch()
	defer b.Discard()
	for i := range 100 {
		storetest.Must[gitstore.ID](t)(b.Blob(fmt.Appendf(nil, "user %d", i)))
	}
	storetest.NoErr(t, b.Flush(ctx))
	var linked []string
	for _, path := range storetest.Must[[]string](t)(filepath.Glob(filepath.Join(user.PackDir(), "pack-*"))) {
		to := filepath.Join(s.PackDir(), filepath.Base(path))
		storetest.NoErr(t, os.Link(path, to))
		linked = append(linked, to)
	}
	storetest.NoErr(t, os.WriteFile(strings.TrimSuffix(linked[0], filepath.Ext(linked[0]))+objects.KeepSuffix, nil, 0o600))
	storetest.NoErr(t, s.Rescan())
	before := map[string]unix.Stat_t{}
	for _, path := range linked {
		before[path] = inode(t, path)
	}
	had, bulk := everything(t, s), storetest.Must[Bulk](t)(BulkOf(s))
	if bulk.Loose == 0 || bulk.Packs < 5 {
		t.Fatalf("not scattered: %+v", bulk)
	}
	stats := storetest.Must[RepackStats](t)(Repack(ctx, s))
	if stats.Packed == 0 || stats.Loose == 0 || stats.Packs < 5 || stats.Freed <= 0 {
		t.Errorf("%+v", stats)
	}
	if got := everything(t, s); got != had {
		t.Errorf("objects before:\n%s\nafter:\n%s", had, got)
	}
	if left := storetest.LoosePaths(t, s); len(left) > 0 {
		t.Errorf("still loose: %v", left)
	}
	if now := storetest.Must[Bulk](t)(BulkOf(s)); now.Loose != 0 || now.Packs > 2 {
		t.Errorf("%+v", now)
	}
	for path, was := range before {
		if now := inode(t, path); now != was {
			t.Errorf("%s was %+v, is %+v", path, was, now)
		}
	}
	for _, p := range s.Own().Packs {
		if _, ok, err := p.Find(gitstore.HashObject(gitstore.TypeBlob, []byte("user 7"))); err != nil || ok != p.Kept() {
			t.Errorf("%s holds what the linked pack does: %v %v", p.Base, ok, err)
		}
	}
	again := storetest.Must[RepackStats](t)(Repack(ctx, s))
	if again != (RepackStats{}) {
		t.Errorf("repacked what was packed: %+v", again)
	}
	grow(t, s, 1000)
	if problems := storetest.Must[[]Problem](t)(Check(ctx, s)); len(problems) > 0 {
		t.Errorf("%+v", problems)
	}
	_, err := Sweep(ctx, s)
	storetest.NoErr(t, err)
	storetest.NoLeftovers(t, s)
	storetest.Fsck(t, s)
}

// TestRepackBorrowsAlternates packs nothing of what an alternate, named by a
// relative path, holds.
func TestRepackBorrowsAlternates(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	other, err := shadow.Create(ctx, filepath.Join(filepath.Dir(s.Dir()), "other.git"), shadow.CreateOptions{ProjectID: storetest.Other})
	storetest.NoErr(t, err)
	defer other.Close()
	b := other.NewBatch()
	defer b.Discard()
	c := storetest.CommitFiles(t, b, 1, map[string]string{"theirs": "t"})
	storetest.NoErr(t, b.Flush(ctx))
	storetest.NoErr(t, os.WriteFile(filepath.Join(s.Dir(), "objects", "info", "alternates"), []byte("../../other.git/objects\n"), 0o600))
	storetest.NoErr(t, s.Rescan())
	own := s.NewBatch()
	defer own.Discard()
	child := storetest.CommitFiles(t, own, 2, map[string]string{"theirs": "t", "ours": "o"}, c)
	storetest.NoErr(t, own.Flush(ctx))
	storetest.NoErr(t, s.UpdateRef(ctx, gitstore.AgentRef(storetest.Mission), gitstore.ID{}, child, gitstore.Durable))
	stats := storetest.Must[RepackStats](t)(Repack(ctx, s))
	if stats.Packed != 3 { // a blob, a tree, a commit
		t.Errorf("%+v", stats)
	}
	storetest.Fsck(t, s)
}

// TestProvedUnderRepack: what a batch found "already there" moves before it is
// proved; and what is in a pack that goes away is not there, whatever an index
// in memory says.
func TestProvedUnderRepack(t *testing.T) {
	t.Parallel()
	s, ctx := scattered(t, 5), context.Background()
	other := storetest.Must[*shadow.Store](t)(shadow.Open(s.Dir()))
	defer other.Close()
	b := s.NewBatch()
	defer b.Discard()
	parent := storetest.Must[*gitstore.Snapshot](t)(s.Snapshot(storetest.Must[gitstore.ID](t)(s.Ref(gitstore.AgentRef(storetest.Mission)))))
	var entries []gitstore.TreeEntry
	for i := range 3 {
		id := storetest.Must[gitstore.ID](t)(b.Blob([]byte(strings.Repeat("u", i%2+1))))
		entries = append(entries, gitstore.TreeEntry{Name: fmt.Sprint(i), Mode: gitstore.ModeFile, ID: id})
	}
	used := entries[0].ID // unreachable, loose, and only found
	storetest.Must[RepackStats](t)(Repack(ctx, other))
	if left := storetest.LoosePaths(t, s); len(left) > 0 {
		t.Fatalf("still loose: %v", left)
	}
	tree := storetest.Must[gitstore.ID](t)(b.Tree(entries))
	storetest.NoErr(t, b.Flush(ctx))
	storetest.NoErr(t, b.ProveTree(tree, gitstore.ID{}))
	storetest.NoErr(t, b.Prove(used))
	storetest.NoErr(t, b.ProveTree(tree, parent.Tree))

	for _, p := range s.Own().Packs {
		storetest.NoErr(t, os.Rename(p.Base+".idx", p.Base+".gone"))
		storetest.NoErr(t, os.Rename(p.Base+".pack", p.Base+".lost"))
	}
	var not *shadow.NotProvedError
	if err := b.ProveTree(tree, parent.Tree); !errors.As(err, &not) {
		t.Errorf("proved what is gone: %v", err)
	}
	if err := b.Prove(used); !errors.As(err, &not) {
		t.Errorf("proved what is gone: %v", err)
	}
}

// TestWrittenWhileRepacked publishes snapshots, of which many hold what earlier
// ones wrote, and reads them all, while the repository is repacked again and
// again.
func TestWrittenWhileRepacked(t *testing.T) {
	t.Parallel()
	s, ctx := scattered(t, 5), context.Background()
	repacker := storetest.Must[*shadow.Store](t)(shadow.Open(s.Dir()))
	defer repacker.Close()
	stop := make(chan struct{})
	var work sync.WaitGroup
	repacks := 0
	work.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := Repack(ctx, repacker); err != nil {
				t.Error(err)
				return
			}
			repacks++
		}
	})
	work.Go(func() {
		reader, err := shadow.Open(s.Dir())
		if err != nil {
			t.Error(err)
			return
		}
		defer reader.Close()
		for {
			select {
			case <-stop:
				return
			default:
			}
			tip, err := reader.Ref(gitstore.AgentRef(storetest.Mission))
			for snap, e := range reader.Snapshots(tip, shadow.HistoryOptions{}) {
				if err = errors.Join(err, e); err == nil {
					err = reader.WalkTree(snap.Tree, func(_ string, e gitstore.TreeEntry) error {
						_, err := reader.Blob(e.ID)
						return err
					})
				}
			}
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	rounds := 150
	if testing.Short() {
		rounds = 30
	}
	for i := range rounds {
		grow(t, s, i%40)
	}
	close(stop)
	work.Wait()
	if repacks == 0 {
		t.Error("never repacked")
	}
	storetest.Must[RepackStats](t)(Repack(ctx, repacker))
	if problems := storetest.Must[[]Problem](t)(Check(ctx, s)); len(problems) > 0 {
		t.Errorf("%+v", problems)
	}
	storetest.Fsck(t, s)
}

// TestRepackIsDurableFirst lets each fsync fail in turn: nothing is removed that
// power could still take the only other copy of.
func TestRepackIsDurableFirst(t *testing.T) {
	t.Parallel()
	s, ctx := scattered(t, 10), context.Background()
	had, loose := everything(t, s), len(storetest.LoosePaths(t, s))
	disk := errors.New("input/output error")
	for fail := int64(0); ; fail++ {
		start := s.Fsyncs()
		s.Syncer().Before = func(string) error {
			if s.Fsyncs()-start >= fail {
				return disk
			}
			return nil
		}
		_, err := Repack(ctx, s)
		s.Syncer().Before = nil
		if err == nil {
			if fail < 4 {
				t.Errorf("only %d fsyncs", fail)
			}
			break
		}
		if !errors.Is(err, disk) {
			t.Fatal(err)
		}
		if now := len(storetest.LoosePaths(t, s)); now != loose {
			t.Fatalf("fsync %d failed: %d loose objects, %d before", fail, now, loose)
		}
		if got := everything(t, s); got != had {
			t.Fatalf("fsync %d failed: objects are missing", fail)
		}
	}
	if left := storetest.LoosePaths(t, s); len(left) > 0 {
		t.Errorf("still loose: %v", left)
	}
	storetest.Fsck(t, s)
}

// TestDamagedPackHoldsNothing keeps the loose copies of what a bad pack claims to
// have.
func TestDamagedPackHoldsNothing(t *testing.T) {
	t.Parallel()
	s, ctx := scattered(t, 10), context.Background()
	loose := map[string][]byte{}
	for _, path := range storetest.LoosePaths(t, s) {
		loose[path] = storetest.Must[[]byte](t)(os.ReadFile(path))
	}
	storetest.Must[RepackStats](t)(Repack(ctx, s))
	for path, data := range loose {
		storetest.NoErr(t, os.WriteFile(path, data, 0o444))
	}
	for _, suffix := range []string{".pack", ".idx"} {
		whole := map[string][]byte{}
		for _, p := range s.Own().Packs {
			path := p.Base + suffix
			whole[path] = storetest.Must[[]byte](t)(os.ReadFile(path))
			at := len(whole[path]) / 2
			if suffix == ".idx" {
				at = 8 + 1024 + 24*p.Count() + 3
			}
			storetest.Rewrite(t, path, storetest.Flipped(whole[path], at))
		}
		var stats RepackStats
		storetest.NoErr(t, dropDoubles(ctx, s, &stats))
		if stats != (RepackStats{}) {
			t.Errorf("%s: removed %+v", suffix, stats)
		}
		for path, data := range whole {
			storetest.Rewrite(t, path, data)
		}
	}
}

// TestRottenIndexKeepsItsPack: what an index does not name any more may be in no
// other pack, though all that it names is.
func TestRottenIndexKeepsItsPack(t *testing.T) {
	t.Parallel()
	s, ctx := scattered(t, 10), context.Background()
	storetest.Must[RepackStats](t)(Repack(ctx, s))
	own := s.Own().Packs[0].Base
	kept := filepath.Join(s.PackDir(), "pack-"+strings.Repeat("0", 40))
	for _, suffix := range []string{".pack", ".idx"} {
		storetest.NoErr(t, os.WriteFile(kept+suffix, storetest.Must[[]byte](t)(os.ReadFile(own+suffix)), 0o400))
	}
	storetest.NoErr(t, os.WriteFile(kept+objects.KeepSuffix, nil, 0o400))
	storetest.Rewrite(t, own+".idx", storetest.Flipped(storetest.Must[[]byte](t)(os.ReadFile(own+".idx")), 8+1024+24*s.Own().Packs[0].Count()-1))
	var stats RepackStats
	if storetest.NoErr(t, dropDoubles(ctx, s, &stats)); !shadow.IsThere(own + ".pack") {
		t.Errorf("removed %+v", stats)
	}
}

// TestKeptPackStays removes of two equal packs the one that is not to be kept.
func TestKeptPackStays(t *testing.T) {
	t.Parallel()
	s, ctx := scattered(t, 10), context.Background()
	storetest.Must[RepackStats](t)(Repack(ctx, s))
	had := everything(t, s)
	own := s.Own().Packs[0].Base
	kept := filepath.Join(s.PackDir(), "pack-"+strings.Repeat("0", 40))
	for _, suffix := range []string{".pack", ".idx"} {
		storetest.NoErr(t, os.Link(own+suffix, kept+suffix))
	}
	storetest.NoErr(t, os.WriteFile(kept+objects.KeepSuffix, nil, 0o600))
	before := inode(t, kept+".pack")
	stats := storetest.Must[RepackStats](t)(Repack(ctx, s))
	if stats.Packs != 1 || stats.Packed != 0 {
		t.Errorf("%+v", stats)
	}
	now := inode(t, kept+".pack")
	if now.Mtim != before.Mtim || now.Nlink != before.Nlink-1 {
		t.Errorf("was %+v, is %+v", before, now)
	}
	if got := everything(t, s); got != had {
		t.Error("objects are missing")
	}
	storetest.Fsck(t, s)
}

// TestRepackOfLargeFiles keeps what changed of a file of 8 MB, not each of its versions.
func TestRepackOfLargeFiles(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	const size = 8_000_000
	content := make([]byte, size)
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(content)
	var ids []gitstore.ID
	for version := range 3 {
		copy(content[version*size/4:], fmt.Sprintf("version %d", version))
		b := s.NewBatch()
		ids = append(ids, storetest.Must[gitstore.ID](t)(b.Blob(content)))
		storetest.NoErr(t, b.Flush(ctx))
		b.Discard()
	}
	if b := storetest.Must[Bulk](t)(BulkOf(s)); b.Bytes < 2*size-size/10 || b.Packs != 3 {
		t.Fatalf("before: %+v", b)
	}
	if stats := storetest.Must[RepackStats](t)(Repack(ctx, s)); stats.Freed < 2*size-size/10 {
		t.Errorf("three versions stand there whole: %+v", stats)
	}
	if b := storetest.Must[Bulk](t)(BulkOf(s)); b.Bytes != 0 {
		t.Errorf("after: %+v", b)
	}
	for _, id := range ids {
		if got := gitstore.HashObject(gitstore.TypeBlob, storetest.Must[[]byte](t)(s.Blob(id))); got != id {
			t.Errorf("%s is read as %s", id, got)
		}
	}
	if got := storetest.Must[[]byte](t)(s.Blob(ids[2])); !bytes.Equal(got, content) {
		t.Error("the newest version is another one")
	}
	storetest.Fsck(t, s)
}
