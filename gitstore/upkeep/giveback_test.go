package upkeep

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
)

// unlocked are options of a test that has the repository to itself.
func unlocked() GiveBackOptions {
	run := func(fn func() error) error { return fn() }
	return GiveBackOptions{Beside: run, Alone: run, Roots: func() ([]gitstore.ID, error) { return nil, nil }}
}

// cutOff makes a repository of snapshots of which only the newest keep, in the middle one
// more, and the first stay.
func cutOff(t *testing.T, n, keep int) (s *shadow.Store, kept []gitstore.ID) {
	t.Helper()
	s = scattered(t, n)
	var line, chain []gitstore.ID
	for snap, err := range s.Snapshots(storetest.Must[gitstore.ID](t)(s.Ref(gitstore.AgentRef(storetest.Mission))), shadow.HistoryOptions{}) {
		storetest.NoErr(t, err)
		line, chain = append(line, snap.ID), append(chain, snap.Record)
	}
	cuts, stays := map[gitstore.ID]gitstore.ID{}, map[gitstore.ID]bool{}
	for i, id := range line {
		if i >= keep && i != n/2 && i != len(line)-1 {
			continue
		}
		kept, stays[id], stays[chain[i]] = append(kept, id), true, true
	}
	for _, cut := range [][2]int{{keep - 1, n / 2}, {n / 2, len(line) - 1}} {
		cuts[line[cut[0]]], cuts[chain[cut[0]]] = line[cut[1]], chain[cut[1]]
	}
	storetest.NoErr(t, shadow.Cut(context.Background(), s, shadow.Cutting{
		Before: cuts, Stays: func(id gitstore.ID) bool { return stays[id] }, At: time.Unix(1_800_000_000, 0),
	}))
	return s, kept
}

// checkKept proves that a history is what was kept, and that nothing is wrong besides.
func checkKept(t *testing.T, s *shadow.Store, kept []gitstore.ID) {
	t.Helper()
	checkHistory(t, s, kept)
	if problems := storetest.Must[[]Problem](t)(Check(context.Background(), s)); len(problems) > 0 {
		t.Errorf("%+v", problems)
	}
}

// checkHistory proves that a history is what was kept, every byte of it, for Umbra and for
// git.
func checkHistory(t *testing.T, s *shadow.Store, kept []gitstore.ID) {
	t.Helper()
	again := storetest.Must[*shadow.Store](t)(shadow.Open(s.Dir()))
	defer again.Close()
	var line []gitstore.ID
	for snap, err := range again.Snapshots(storetest.Must[gitstore.ID](t)(again.Ref(gitstore.AgentRef(storetest.Mission))), shadow.HistoryOptions{}) {
		storetest.NoErr(t, err)
		line = append(line, snap.ID)
		storetest.NoErr(t, again.WalkTree(snap.Tree, func(_ string, e gitstore.TreeEntry) error {
			content, err := again.Blob(e.ID)
			if err == nil && gitstore.HashObject(gitstore.TypeBlob, content) != e.ID {
				err = fmt.Errorf("%s is another", e.ID)
			}
			return err
		}))
		_, err = again.RecordFile(snap.Record, "snapshot.json")
		storetest.NoErr(t, err)
	}
	if !slices.Equal(line, kept) {
		t.Errorf("the history is %v, not %v", line, kept)
	}
	storetest.Fsck(t, s)
}

// reachable counts what git reaches.
func reachable(t *testing.T, s *shadow.Store) map[string]bool {
	t.Helper()
	out := storetest.Must[[]byte](t)(s.Git(context.Background(), "rev-list", "--objects", "--all"))
	set := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		set[line[:40]] = true
	}
	return set
}

func TestGiveBack(t *testing.T) {
	t.Parallel()
	s, kept := cutOff(t, 40, 5)
	checkKept(t, s, kept)
	needed := reachable(t, s)
	b := s.NewBatch()
	defer b.Discard()
	provisional := storetest.CommitFiles(t, b, 7, map[string]string{"not": "published"})
	storetest.NoErr(t, b.Flush(context.Background()))
	o := unlocked()
	o.Roots = func() ([]gitstore.ID, error) { return []gitstore.ID{provisional}, nil }
	if freed := storetest.Must[int64](t)(GiveBack(context.Background(), s, o)); freed <= 0 {
		t.Errorf("freed %d", freed)
	}
	checkKept(t, s, kept)
	for line := range strings.Lines(everything(t, s)) {
		delete(needed, line[:40])
	}
	if len(needed) > 0 {
		t.Errorf("gone: %v", slices.Collect(maps.Keys(needed)))
	}
	if got, want := strings.Count(everything(t, s), "\n"), len(reachable(t, s))+3; got != want {
		t.Errorf("%d objects are there, %d are needed", got, want)
	}
	if _, err := s.Commit(provisional); err != nil {
		t.Errorf("what is not published yet: %v", err)
	}
	given := everything(t, s)
	if _, err := Sweep(context.Background(), s); err != nil || everything(t, s) != given {
		t.Errorf("a sweep brought back what had gone: %v", err)
	}
	// The next snapshot, and a second time, when there is nothing to be had.
	grow(t, s, 1000)
	had := everything(t, s)
	storetest.Must[int64](t)(GiveBack(context.Background(), s, o))
	if got := everything(t, s); got != had {
		t.Errorf("before\n%s\nafter\n%s", had, got)
	}
	_, err := Sweep(context.Background(), s)
	storetest.NoErr(t, err)
	storetest.NoLeftovers(t, s)
}

// TestGiveBackIsSmall: the store takes at most a tenth more than a copy after git gc.
func TestGiveBackIsSmall(t *testing.T) {
	t.Parallel()
	s, _ := cutOff(t, 200, 20)
	storetest.Must[int64](t)(GiveBack(context.Background(), s, unlocked()))
	fresh := filepath.Join(t.TempDir(), "fresh.git")
	storetest.NoErr(t, os.CopyFS(fresh, os.DirFS(s.Dir())))
	gc := exec.Command("git", "--git-dir="+fresh, "-c", "core.logAllRefUpdates=false", "gc", "-q", "--prune=now")
	if out, err := gc.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	size := func(dir string) (bytes int64) {
		for _, pattern := range []string{"pack/*.pack", "??/*"} {
			for _, path := range storetest.Must[[]string](t)(filepath.Glob(filepath.Join(dir, "objects", pattern))) {
				bytes += storetest.Must[os.FileInfo](t)(os.Stat(path)).Size()
			}
		}
		return bytes
	}
	if ours, gits := size(s.Dir()), size(fresh); ours*10 > gits*11 {
		t.Errorf("%d bytes, after git gc %d", ours, gits)
	}
}

// TestGiveBackWhileSnapshotsAreTaken: what comes while git packs, and between two slices, stays,
// also where it uses again what nothing led to.
func TestGiveBackWhileSnapshotsAreTaken(t *testing.T) {
	t.Parallel()
	for name, slice := range map[string]time.Duration{"at once": time.Hour, "file by file": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, kept := cutOff(t, 30, 5)
			other := storetest.Must[*shadow.Store](t)(shadow.Open(s.Dir()))
			defer other.Close()
			o := unlocked()
			o.Slice, o.Pause = slice, time.Millisecond
			calls := 0
			o.Alone = func(fn func() error) error {
				calls++
				grow(t, other, 500+calls)
				kept = append([]gitstore.ID{storetest.Must[gitstore.ID](t)(other.Ref(gitstore.AgentRef(storetest.Mission)))}, kept...)
				// "u" was unreachable, and is in a file that goes.
				b := other.NewBatch()
				defer b.Discard()
				again := storetest.CommitFiles(t, b, 1, map[string]string{"again": "u", "u": "unreachable 3"}, kept[0])
				storetest.NoErr(t, b.Flush(context.Background()))
				pin := gitstore.PinRef(fmt.Sprint("again", calls))
				storetest.NoErr(t, other.UpdateRef(context.Background(), pin, gitstore.ID{}, again, gitstore.Durable))
				return fn()
			}
			storetest.Must[int64](t)(GiveBack(context.Background(), s, o))
			if calls < 2 != (slice == time.Hour) {
				t.Errorf("the repository was wanted alone %d times", calls)
			}
			for n := range calls {
				pin := gitstore.PinRef(fmt.Sprint("again", n+1))
				storetest.NoErr(t, other.DeleteRef(context.Background(), pin, storetest.Must[gitstore.ID](t)(other.Ref(pin))))
			}
			for _, content := range []string{"u", "unreachable 3"} {
				if _, err := s.Blob(gitstore.HashObject(gitstore.TypeBlob, []byte(content))); err != nil {
					t.Errorf("%q: %v", content, err)
				}
			}
			checkKept(t, s, kept)
		})
	}
}

// TestGiveBackLetsOthersIn: between two slices whoever waits for the repository has it.
func TestGiveBackLetsOthersIn(t *testing.T) {
	t.Parallel()
	s, kept := cutOff(t, 30, 5)
	o := unlocked()
	o.Slice, o.Pause = time.Nanosecond, 5*time.Millisecond
	var ended time.Time
	calls := 0
	o.Alone = func(fn func() error) error {
		if between := time.Since(ended); calls > 0 && between < o.Pause {
			t.Errorf("%s after it was let go it is wanted again", between)
		}
		calls++
		err := fn()
		ended = time.Now()
		return err
	}
	storetest.Must[int64](t)(GiveBack(context.Background(), s, o))
	if calls < 2 {
		t.Errorf("it was wanted %d times", calls)
	}
	checkKept(t, s, kept)
}

// TestGiveBackKeepsNobodyWaiting: what has come while git packed was looked at before the
// repository is wanted alone.
func TestGiveBackKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	s, kept := cutOff(t, 30, 5)
	other := storetest.Must[*shadow.Store](t)(shadow.Open(s.Dir()))
	defer other.Close()
	o := unlocked()
	o.Slice = time.Hour
	reads := 0
	o.Roots = func() ([]gitstore.ID, error) {
		if reads++; reads == 1 { // git packs what there is now
			for n := range 2 * few / 3 { // of three objects each
				grow(t, other, 500+n)
				kept = append([]gitstore.ID{storetest.Must[gitstore.ID](t)(other.Ref(gitstore.AgentRef(storetest.Mission)))}, kept...)
			}
		}
		return nil, nil
	}
	alone := 0
	o.Alone = func(fn func() error) error {
		before := reads
		err := fn()
		if alone++; reads != before+1 {
			t.Errorf("alone it looked %d times", reads-before)
		}
		return err
	}
	storetest.Must[int64](t)(GiveBack(context.Background(), s, o))
	if alone != 1 || reads < 4 { // to pack, twice or more to catch up, and once alone
		t.Errorf("it looked %d times, alone %d", reads, alone)
	}
	checkKept(t, s, kept)
}

// TestGiveBackRemovesNothing where anything is in doubt.
func TestGiveBackRemovesNothing(t *testing.T) {
	t.Parallel()
	busy := errors.New("somebody is at it")
	for name, doubt := range map[string]func(t *testing.T, s *shadow.Store, o *GiveBackOptions){
		"a ref that can't be read": func(t *testing.T, s *shadow.Store, _ *GiveBackOptions) {
			storetest.NoErr(t, os.WriteFile(filepath.Join(s.Dir(), string(gitstore.PinRef("torn"))), []byte("half an id\n"), 0o600))
		},
		"no refs": func(t *testing.T, s *shadow.Store, _ *GiveBackOptions) {
			storetest.NoErr(t, os.RemoveAll(filepath.Join(s.Dir(), "refs")))
			storetest.NoErr(t, os.MkdirAll(filepath.Join(s.Dir(), "refs"), 0o700))
		},
		"an object that is lost": func(t *testing.T, s *shadow.Store, _ *GiveBackOptions) {
			grow(t, s, 900)
			_, err := s.RetireSegments(context.Background()) // they would bring it back
			storetest.NoErr(t, err)
			tip := storetest.Must[*gitstore.Snapshot](t)(s.Snapshot(storetest.Must[gitstore.ID](t)(s.Ref(gitstore.AgentRef(storetest.Mission)))))
			storetest.RemoveObject(t, s, tip.Tree)
		},
		"roots that can't be read": func(_ *testing.T, _ *shadow.Store, o *GiveBackOptions) {
			o.Roots = func() ([]gitstore.ID, error) { return nil, busy }
		},
		"a project that is never alone": func(_ *testing.T, _ *shadow.Store, o *GiveBackOptions) {
			o.Alone = func(func() error) error { return busy }
		},
		"a ref that breaks meanwhile": func(t *testing.T, s *shadow.Store, o *GiveBackOptions) {
			o.Alone = func(fn func() error) error {
				storetest.NoErr(t, os.MkdirAll(filepath.Join(s.Dir(), "refs", "pins"), 0o700))
				storetest.NoErr(t, os.WriteFile(filepath.Join(s.Dir(), string(gitstore.PinRef("torn"))), []byte("half an id\n"), 0o600))
				return fn()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := cutOff(t, 10, 3)
			storetest.NoErr(t, os.MkdirAll(filepath.Join(s.Dir(), "refs", "pins"), 0o700))
			o := unlocked()
			doubt(t, s, &o)
			had := everything(t, s)
			if _, err := GiveBack(context.Background(), s, o); err == nil {
				t.Error("no error")
			}
			if got := everything(t, s); got != had {
				t.Errorf("objects are gone:\n%s\nbefore\n%s", got, had)
			}
		})
	}
}

// TestGiveBackBesideWhatComesBack: where a tree that was known to be lost comes back while git
// packs, all that it leads to stays, and the next time it is packed too.
func TestGiveBackBesideWhatComesBack(t *testing.T) {
	t.Parallel()
	s, kept := cutOff(t, 10, 3)
	b := s.NewBatch()
	defer b.Discard()
	tip := storetest.CommitFiles(t, b, 1, map[string]string{"file": "below"}, kept[0])
	storetest.NoErr(t, b.Flush(context.Background()))
	storetest.NoErr(t, s.UpdateRef(context.Background(), gitstore.PinRef("lost"), gitstore.ID{}, tip, gitstore.Durable))
	storetest.Must[int](t)(s.RetireSegments(context.Background())) // they would bring it back
	tree := storetest.Must[*gitstore.Commit](t)(s.Commit(tip)).Tree
	_, content, err := s.Object(tree)
	storetest.NoErr(t, err)
	storetest.RemoveObject(t, s, tree)
	storetest.NoErr(t, AcceptLost(context.Background(), s, []Loss{{ID: tree}}))
	fresh := storetest.Must[*shadow.Store](t)(shadow.Open(s.Dir())) // it remembers no tree
	defer fresh.Close()
	o := unlocked()
	o.Alone = func(fn func() error) error {
		again := s.NewBatch()
		defer again.Discard()
		storetest.Must[gitstore.ID](t)(again.Write(gitstore.TypeTree, content))
		storetest.NoErr(t, again.Flush(context.Background()))
		return fn()
	}
	if _, err := GiveBack(context.Background(), fresh, o); err == nil {
		t.Error("no error")
	}
	below := gitstore.HashObject(gitstore.TypeBlob, []byte("below"))
	storetest.Must[[]byte](t)(fresh.Blob(below))
	storetest.Must[int64](t)(GiveBack(context.Background(), fresh, unlocked()))
	storetest.Must[[]byte](t)(fresh.Blob(below))
}

// TestGiveBackIsDurableFirst lets each fsync fail in turn.
func TestGiveBackIsDurableFirst(t *testing.T) {
	t.Parallel()
	s, kept := cutOff(t, 10, 3)
	disk := errors.New("input/output error")
	for fail := int64(0); ; fail++ {
		had, start := everything(t, s), s.Fsyncs()
		s.Syncer().Before = func(string) error {
			if s.Fsyncs()-start >= fail {
				return disk
			}
			return nil
		}
		_, err := GiveBack(context.Background(), s, unlocked())
		s.Syncer().Before = nil
		if err == nil {
			break
		}
		if !errors.Is(err, disk) {
			t.Fatal(err)
		}
		if got := everything(t, s); got != had {
			t.Fatalf("fsync %d failed: objects are gone", fail)
		}
	}
	checkKept(t, s, kept)
}

// TestGiveBackKilled kills the process at any moment, again and again.
func TestGiveBackKilled(t *testing.T) {
	t.Parallel()
	for life := time.Millisecond; ; life *= 2 {
		s, kept := cutOff(t, 8, 3)
		cmd := child(t, "giveback", s.Dir(), "")
		cmd.Stderr = nil
		storetest.NoErr(t, cmd.Start())
		kill := time.AfterFunc(life, func() { _ = cmd.Process.Kill() })
		err := cmd.Wait()
		kill.Stop()
		if err == nil {
			checkKept(t, s, kept)
			break
		}
		checkHistory(t, s, kept) // what is left of git's work may still be there
		storetest.Must[int64](t)(GiveBack(context.Background(), s, unlocked()))
		checkKept(t, s, kept)
	}
}

// TestGiveBackBesideOtherCuts: where histories go on over other commits, or a lost object of what
// has come since comes back, between two slices, nothing more is removed.
func TestGiveBackBesideOtherCuts(t *testing.T) {
	t.Parallel()
	blob := gitstore.HashObject(gitstore.TypeBlob, []byte("late"))
	content := append([]byte("100644 late\x00"), blob[:]...)
	late := gitstore.HashObject(gitstore.TypeTree, content)
	for name, change := range map[string]func(t *testing.T, s *shadow.Store, calls int){
		"a boundary goes": func(t *testing.T, s *shadow.Store, calls int) {
			if calls == 2 {
				storetest.NoErr(t, os.Remove(filepath.Join(s.Dir(), "shallow")))
			}
		},
		"a lost tree comes back": func(t *testing.T, s *shadow.Store, calls int) {
			b := s.NewBatch()
			defer b.Discard()
			if calls == 1 {
				made := storetest.CommitFiles(t, b, 1, map[string]string{"late": "late"})
				storetest.NoErr(t, b.Flush(context.Background()))
				storetest.NoErr(t, s.UpdateRef(context.Background(), gitstore.PinRef("late"), gitstore.ID{}, made, gitstore.Durable))
				_, err := s.RetireSegments(context.Background()) // they would bring it back
				storetest.NoErr(t, err)
				storetest.RemoveObject(t, s, late)
				return
			}
			storetest.Must[gitstore.ID](t)(b.Write(gitstore.TypeTree, content))
			storetest.NoErr(t, b.Flush(context.Background()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := cutOff(t, 30, 5)
			storetest.Must[int](t)(s.RetireSegments(context.Background()))
			storetest.NoErr(t, AcceptLost(context.Background(), s, []Loss{{ID: late}}))
			other := storetest.Must[*shadow.Store](t)(shadow.Open(s.Dir()))
			defer other.Close()
			o := unlocked()
			o.Slice, o.Pause = 1, 1
			calls := 0
			o.Alone = func(fn func() error) error {
				calls++
				change(t, other, calls)
				return fn()
			}
			if _, err := GiveBack(context.Background(), s, o); !errors.Is(err, ErrChanged) || calls != 2 {
				t.Errorf("%d slices, %v", calls, err)
			}
		})
	}
}
