package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// scattered makes a repository of n snapshots, loose and in packs, with objects
// that no ref reaches.
func scattered(t *testing.T, n int) *Store {
	t.Helper()
	s, ctx := newStore(t), context.Background()
	_, record := snapshotWithRecord(t, s, 1, ID{}, ID{})
	noErr(t, s.UpdateRef(ctx, RecordRef(testMission), ID{}, record, Durable))
	for i := range n {
		grow(t, s, i)
	}
	b := s.NewBatch()
	defer b.Discard()
	commitFiles(t, b, 1, map[string]string{"unreachable": "u"})
	noErr(t, b.Flush(ctx))
	many := s.NewBatch()
	defer many.Discard()
	for i := range 2 * looseObjects {
		must[ID](t)(many.Blob(fmt.Appendf(nil, "unreachable %d", i)))
	}
	noErr(t, many.Flush(ctx))
	return s
}

// grow publishes one more snapshot.
func grow(t *testing.T, s *Store, i int) {
	t.Helper()
	noErr(t, childSnapshot(s, io.Discard, "grow", i))
}

// everything lists each object with its type and size, as git sees it.
func everything(t *testing.T, s *Store) string {
	t.Helper()
	return string(must[[]byte](t)(s.Git(context.Background(), "cat-file", "--batch-all-objects", "--batch-check")))
}

// inode is what of a file a repack must leave alone.
func inode(t *testing.T, path string) unix.Stat_t {
	t.Helper()
	var st unix.Stat_t
	noErr(t, unix.Lstat(path, &st))
	st.Atim = unix.Timespec{}
	return st
}

func TestRepack(t *testing.T) {
	t.Parallel()
	s, ctx := scattered(t, 30), context.Background()
	// A pack as seeding links it: another name of the user's file.
	user := newStore(t)
	b := user.NewBatch()
	defer b.Discard()
	for i := range 100 {
		must[ID](t)(b.Blob(fmt.Appendf(nil, "user %d", i)))
	}
	noErr(t, b.Flush(ctx))
	var linked []string
	for _, path := range must[[]string](t)(filepath.Glob(filepath.Join(user.packDir(), "pack-*"))) {
		to := filepath.Join(s.packDir(), filepath.Base(path))
		noErr(t, os.Link(path, to))
		linked = append(linked, to)
	}
	noErr(t, os.WriteFile(strings.TrimSuffix(linked[0], filepath.Ext(linked[0]))+keepSuffix, nil, 0o600))
	noErr(t, s.rescan())
	before := map[string]unix.Stat_t{}
	for _, path := range linked {
		before[path] = inode(t, path)
	}
	had, bulk := everything(t, s), must[Bulk](t)(s.Bulk())
	if bulk.Loose == 0 || bulk.Packs < 5 {
		t.Fatalf("not scattered: %+v", bulk)
	}
	stats := must[RepackStats](t)(s.Repack(ctx))
	if stats.Packed == 0 || stats.Loose == 0 || stats.Packs < 5 || stats.Freed <= 0 {
		t.Errorf("%+v", stats)
	}
	if got := everything(t, s); got != had {
		t.Errorf("objects before:\n%s\nafter:\n%s", had, got)
	}
	if left := loosePaths(t, s); len(left) > 0 {
		t.Errorf("still loose: %v", left)
	}
	if now := must[Bulk](t)(s.Bulk()); now.Loose != 0 || now.Packs > 2 {
		t.Errorf("%+v", now)
	}
	for path, was := range before {
		if now := inode(t, path); now != was {
			t.Errorf("%s was %+v, is %+v", path, was, now)
		}
	}
	for _, p := range s.own().packs {
		if _, ok, err := p.find(HashObject(TypeBlob, []byte("user 7"))); err != nil || ok != p.kept() {
			t.Errorf("%s holds what the linked pack does: %v %v", p.base, ok, err)
		}
	}
	again := must[RepackStats](t)(s.Repack(ctx))
	if again != (RepackStats{}) {
		t.Errorf("repacked what was packed: %+v", again)
	}
	grow(t, s, 1000)
	if problems := must[[]Problem](t)(s.Check(ctx)); len(problems) > 0 {
		t.Errorf("%+v", problems)
	}
	_, err := s.Sweep(ctx)
	noErr(t, err)
	noLeftovers(t, s)
	fsck(t, s)
}

// TestRepackBorrowsAlternates packs nothing of what an alternate, named by a
// relative path, holds.
func TestRepackBorrowsAlternates(t *testing.T) {
	t.Parallel()
	s, ctx := newStore(t), context.Background()
	other, err := Create(ctx, filepath.Join(filepath.Dir(s.Dir()), "other.git"), CreateOptions{ProjectID: testOther})
	noErr(t, err)
	defer other.Close()
	b := other.NewBatch()
	defer b.Discard()
	c := commitFiles(t, b, 1, map[string]string{"theirs": "t"})
	noErr(t, b.Flush(ctx))
	noErr(t, os.WriteFile(filepath.Join(s.Dir(), "objects", "info", "alternates"), []byte("../../other.git/objects\n"), 0o600))
	noErr(t, s.rescan())
	own := s.NewBatch()
	defer own.Discard()
	child := commitFiles(t, own, 2, map[string]string{"theirs": "t", "ours": "o"}, c)
	noErr(t, own.Flush(ctx))
	noErr(t, s.UpdateRef(ctx, AgentRef(testMission), ID{}, child, Durable))
	stats := must[RepackStats](t)(s.Repack(ctx))
	if stats.Packed != 3 { // a blob, a tree, a commit
		t.Errorf("%+v", stats)
	}
	fsck(t, s)
}

// TestProvedUnderRepack: what a batch found "already there" moves before it is
// proved; and what is in a pack that goes away is not there, whatever an index
// in memory says.
func TestProvedUnderRepack(t *testing.T) {
	t.Parallel()
	s, ctx := scattered(t, 5), context.Background()
	other := must[*Store](t)(Open(s.Dir()))
	defer other.Close()
	b := s.NewBatch()
	defer b.Discard()
	parent := must[*Snapshot](t)(s.Snapshot(must[ID](t)(s.Ref(AgentRef(testMission)))))
	var entries []TreeEntry
	for i := range 3 {
		id := must[ID](t)(b.Blob([]byte(strings.Repeat("u", i%2+1))))
		entries = append(entries, TreeEntry{Name: fmt.Sprint(i), Mode: ModeFile, ID: id})
	}
	used := entries[0].ID // unreachable, loose, and only found
	if len(b.pending) != 1 {
		t.Fatalf("%d objects to write", len(b.pending))
	}
	must[RepackStats](t)(other.Repack(ctx))
	if left := loosePaths(t, s); len(left) > 0 {
		t.Fatalf("still loose: %v", left)
	}
	tree := must[ID](t)(b.Tree(entries))
	noErr(t, b.Flush(ctx))
	noErr(t, b.ProveTree(tree, ID{}))
	noErr(t, b.Prove(used))
	noErr(t, b.ProveTree(tree, parent.Tree))

	for _, p := range s.own().packs {
		noErr(t, os.Rename(p.base+".idx", p.base+".gone"))
		noErr(t, os.Rename(p.base+".pack", p.base+".lost"))
	}
	var not *NotProvedError
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
	repacker := must[*Store](t)(Open(s.Dir()))
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
			if _, err := repacker.Repack(ctx); err != nil {
				t.Error(err)
				return
			}
			repacks++
		}
	})
	work.Go(func() {
		reader, err := Open(s.Dir())
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
			tip, err := reader.Ref(AgentRef(testMission))
			for snap, e := range reader.Snapshots(tip, HistoryOptions{}) {
				if err = errors.Join(err, e); err == nil {
					err = reader.WalkTree(snap.Tree, func(_ string, e TreeEntry) error {
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
	must[RepackStats](t)(repacker.Repack(ctx))
	if problems := must[[]Problem](t)(s.Check(ctx)); len(problems) > 0 {
		t.Errorf("%+v", problems)
	}
	fsck(t, s)
}

// TestRepackIsDurableFirst lets each fsync fail in turn: nothing is removed that
// power could still take the only other copy of.
func TestRepackIsDurableFirst(t *testing.T) {
	t.Parallel()
	s, ctx := scattered(t, 10), context.Background()
	had, loose := everything(t, s), len(loosePaths(t, s))
	disk := errors.New("input/output error")
	for fail := int64(0); ; fail++ {
		start := s.Fsyncs()
		s.sync.Before = func(string) error {
			if s.Fsyncs()-start >= fail {
				return disk
			}
			return nil
		}
		_, err := s.Repack(ctx)
		s.sync.Before = nil
		if err == nil {
			if fail < 4 {
				t.Errorf("only %d fsyncs", fail)
			}
			break
		}
		if !errors.Is(err, disk) {
			t.Fatal(err)
		}
		if now := len(loosePaths(t, s)); now != loose {
			t.Fatalf("fsync %d failed: %d loose objects, %d before", fail, now, loose)
		}
		if got := everything(t, s); got != had {
			t.Fatalf("fsync %d failed: objects are missing", fail)
		}
	}
	if left := loosePaths(t, s); len(left) > 0 {
		t.Errorf("still loose: %v", left)
	}
	fsck(t, s)
}

// TestDamagedPackHoldsNothing keeps the loose copies of what a bad pack claims to
// have.
func TestDamagedPackHoldsNothing(t *testing.T) {
	t.Parallel()
	s, ctx := scattered(t, 10), context.Background()
	loose := map[string][]byte{}
	for _, path := range loosePaths(t, s) {
		loose[path] = must[[]byte](t)(os.ReadFile(path))
	}
	must[RepackStats](t)(s.Repack(ctx))
	for path, data := range loose {
		noErr(t, os.WriteFile(path, data, 0o444))
	}
	for _, suffix := range []string{".pack", ".idx"} {
		whole := map[string][]byte{}
		for _, p := range s.own().packs {
			path := p.base + suffix
			whole[path] = must[[]byte](t)(os.ReadFile(path))
			at := len(whole[path]) / 2
			if suffix == ".idx" {
				at = int(p.smallOffsets()) + 3
			}
			rewrite(t, path, flipped(whole[path], at))
		}
		var stats RepackStats
		noErr(t, s.dropDoubles(ctx, &stats))
		if stats != (RepackStats{}) {
			t.Errorf("%s: removed %+v", suffix, stats)
		}
		for path, data := range whole {
			rewrite(t, path, data)
		}
	}
}

func flipped(data []byte, at int) []byte {
	data = slices.Clone(data)
	data[at] ^= 1
	return data
}

// rewrite replaces a file by another.
func rewrite(t *testing.T, path string, data []byte) {
	t.Helper()
	noErr(t, errors.Join(os.Remove(path), os.WriteFile(path, data, 0o444)))
}

// TestRottenIndexKeepsItsPack: what an index does not name any more may be in no
// other pack, though all that it names is.
func TestRottenIndexKeepsItsPack(t *testing.T) {
	t.Parallel()
	s, ctx := scattered(t, 10), context.Background()
	must[RepackStats](t)(s.Repack(ctx))
	own := s.own().packs[0].base
	kept := filepath.Join(s.packDir(), "pack-"+strings.Repeat("0", 40))
	for _, suffix := range []string{".pack", ".idx"} {
		noErr(t, os.WriteFile(kept+suffix, must[[]byte](t)(os.ReadFile(own+suffix)), 0o400))
	}
	noErr(t, os.WriteFile(kept+keepSuffix, nil, 0o400))
	rewrite(t, own+".idx", flipped(must[[]byte](t)(os.ReadFile(own+".idx")), int(s.own().packs[0].smallOffsets())-1))
	var stats RepackStats
	if noErr(t, s.dropDoubles(ctx, &stats)); !isThere(own + ".pack") {
		t.Errorf("removed %+v", stats)
	}
}

// TestKeptPackStays removes of two equal packs the one that is not to be kept.
func TestKeptPackStays(t *testing.T) {
	t.Parallel()
	s, ctx := scattered(t, 10), context.Background()
	must[RepackStats](t)(s.Repack(ctx))
	had := everything(t, s)
	own := s.own().packs[0].base
	kept := filepath.Join(s.packDir(), "pack-"+strings.Repeat("0", 40))
	for _, suffix := range []string{".pack", ".idx"} {
		noErr(t, os.Link(own+suffix, kept+suffix))
	}
	noErr(t, os.WriteFile(kept+keepSuffix, nil, 0o600))
	before := inode(t, kept+".pack")
	stats := must[RepackStats](t)(s.Repack(ctx))
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
	fsck(t, s)
}
