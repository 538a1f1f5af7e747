package gitstore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// TestKilledWriters kills a process that publishes snapshots as fast as it can,
// again and again, at random moments. What it said was published must be there
// and whole, every ref must be readable, and the next process must go on.
func TestKilledWriters(t *testing.T) {
	t.Parallel()
	torn := filepath.Join(t.TempDir(), "ref")
	noErr(t, os.WriteFile(torn, []byte("the old id\n"), 0o600))
	naive := exec.Command("sh", "-c", `exec 3>"$0"; kill -9 $$; echo the new id >&3`, torn)
	_ = naive.Run()
	value := must[[]byte](t)(os.ReadFile(torn))
	hazards.Shown(t, hazards.H31, len(value) == 0, "a plain write truncates the live file first: killed there, it leaves nothing")
	hazards.Held(t, hazards.H31, "a ref is written beside itself, synced and renamed: after each kill it is the old or the new, and what was published is in its history")
	s, ctx := newStore(t), context.Background()
	snap, record := snapshotWithRecord(t, s, 1, ID{}, ID{})
	noErr(t, s.UpdateRef(ctx, RecordRef(testMission), ID{}, record, Durable))
	rnd := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	kills := 25
	if testing.Short() {
		kills = 5
	}
	for round := range kills {
		last := killOne(t, s.Dir(), fmt.Sprint(round), time.Duration(5+rnd.IntN(60))*time.Millisecond)
		tip, err := s.Ref(AgentRef(testMission))
		noErr(t, err)
		if last.IsZero() {
			last = snap
		}
		if ok := must[bool](t)(s.IsAncestor(last, tip)); !ok {
			t.Fatalf("round %d: published %s is not in the history of %s", round, last, tip)
		}
		snap = last
		if _, err := s.RepairRecords(ctx); err != nil {
			t.Fatal(err)
		}
		list := must[*RefList](t)(s.Refs(""))
		if len(list.Bad) > 0 || len(list.Refs) != 2 {
			t.Fatalf("round %d: %+v", round, list)
		}
	}
	_, err := s.Sweep(ctx)
	noErr(t, err)
	noLeftovers(t, s)
	if problems := must[[]Problem](t)(s.Check(ctx)); len(problems) > 0 {
		t.Errorf("%+v", problems)
	}
	fsck(t, s)
}

// TestKilledImport kills processes in the middle of a pack. The next pack takes
// what they left away, without anybody sweeping, and not what a live one writes.
func TestKilledImport(t *testing.T) {
	hazards.Held(t, hazards.H24, "a first import that is killed leaves nothing that stays")
	t.Parallel()
	s, ctx := newStore(t), context.Background()
	temporary := func() []string {
		return must[[]string](t)(filepath.Glob(filepath.Join(s.packDir(), "tmp_*")))
	}
	for range 2 {
		cmd := child(t, "import", s.Dir(), "")
		out := must[io.ReadCloser](t)(cmd.StdoutPipe())
		noErr(t, cmd.Start())
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "begun\n" {
			t.Fatalf("the child said %q (%v)", line, err)
		}
		noErr(t, cmd.Process.Kill())
		_ = cmd.Wait()
	}
	if left := temporary(); len(left) != 1 {
		t.Fatalf("two killed processes left %q, the second should have swept", left)
	}
	fill := func() *Batch {
		b := s.NewBatch()
		for i := range 2 * looseObjects {
			must[ID](t)(b.Blob(fmt.Appendf(nil, "file %d", i)))
		}
		return b
	}
	live, next := fill(), fill()
	defer live.Discard()
	defer next.Discard()
	if left := temporary(); len(left) != 2 {
		t.Errorf("two batches write %q", left)
	}
	noErr(t, live.Flush(ctx))
	noErr(t, next.Flush(ctx))
	noLeftovers(t, s)
	fsck(t, s)
}

// killOne starts a writer, kills it after it has lived for a while and returns
// the last snapshot that it said was published.
func killOne(t *testing.T, dir, tag string, life time.Duration) ID {
	t.Helper()
	cmd := child(t, "forever", dir, tag)
	out, err := cmd.StdoutPipe()
	noErr(t, err)
	noErr(t, cmd.Start())
	lines := bufio.NewScanner(out)
	var last ID
	killed := false
	for lines.Scan() {
		last = must[ID](t)(ParseID(lines.Text()))
		if !killed {
			killed = true
			time.AfterFunc(life, func() { _ = cmd.Process.Kill() })
		}
	}
	_ = cmd.Wait()
	if !killed {
		t.Fatal("the child published nothing")
	}
	return last
}

func noLeftovers(t *testing.T, s *Store) {
	t.Helper()
	err := filepath.WalkDir(s.Dir(), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !e.IsDir() && (strings.HasPrefix(e.Name(), "tmp_") || strings.HasSuffix(path, ".lock") || strings.Contains(path, "/umbra/") || isUnindexed(path)) {
			t.Errorf("left over: %s", path)
		}
		return nil
	})
	noErr(t, err)
}

func TestManyProcessesOneRef(t *testing.T) {
	hazards.Held(t, hazards.H33, "many processes at one ref lose no commit; go-git's repository, worktree and ref storage are not used")
	t.Parallel()
	s, ctx := newStore(t), context.Background()
	var wg sync.WaitGroup
	const processes = 4
	for i := range processes {
		cmd := child(t, "append", s.Dir(), fmt.Sprint("p", i))
		wg.Go(func() {
			if err := cmd.Run(); err != nil {
				t.Errorf("process %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	n := 0
	for _, err := range s.History(must[ID](t)(s.Ref(AgentRef(testMission))), HistoryOptions{}) {
		noErr(t, err)
		n++
	}
	if n != 20*processes {
		t.Errorf("%d commits", n)
	}
	if segments := s.segments(); len(segments) > processes {
		t.Errorf("%d segments", len(segments))
	}
	_, err := s.Sweep(ctx)
	noErr(t, err)
	noLeftovers(t, s)
	fsck(t, s)
}

// loosePaths lists the loose object files.
func loosePaths(t *testing.T, s *Store) []string {
	t.Helper()
	paths := must[[]string](t)(filepath.Glob(filepath.Join(s.Dir(), "objects", "??", "*")))
	return paths
}

// TestPowerCut does to the loose objects what a power cut can do to files that
// were not synced, and to segments what makes them those of an earlier boot.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(path string, i int) error{
		"gone":      func(path string, _ int) error { return os.Remove(path) },
		"empty":     func(path string, _ int) error { return errors.Join(os.Chmod(path, 0o600), os.Truncate(path, 0)) },
		"truncated": func(path string, _ int) error { return errors.Join(os.Chmod(path, 0o600), os.Truncate(path, 10)) },
		"zeroed": func(path string, _ int) error {
			data, err := os.ReadFile(path)
			return errors.Join(err, os.Chmod(path, 0o600), os.WriteFile(path, make([]byte, len(data)), 0o600))
		},
		"every second gone": func(path string, i int) error {
			if i%2 == 0 {
				return nil
			}
			return os.Remove(path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, ctx := newStore(t), context.Background()
			for i := range 5 {
				noErr(t, appendCommit(ctx, s, AgentRef(testMission), fmt.Sprint(i), Durable))
			}
			s.Close()
			for i, path := range loosePaths(t, s) {
				noErr(t, damage(path, i))
			}
			segments := s.segments()
			if len(segments) != 1 {
				t.Fatalf("segments %v", segments)
			}
			// A torn frame at the end, as of a flush that never returned.
			f := must[*os.File](t)(os.OpenFile(segments[0], os.O_WRONLY|os.O_APPEND, 0))
			_, err := f.Write(appendFrame(nil, testID(1), []byte("torn"))[:20])
			noErr(t, errors.Join(err, f.Close()))
			noErr(t, os.Rename(segments[0], filepath.Join(filepath.Dir(segments[0]), "0-earlier-boot.1"+segmentSuffix)))

			again := must[*Store](t)(Open(s.Dir()))
			defer again.Close()
			if left := again.segments(); len(left) != 0 {
				t.Errorf("left %v", left)
			}
			if problems := must[[]Problem](t)(again.Check(ctx)); len(problems) != 1 || problems[0].Invariant != "I3" {
				t.Errorf("%+v", problems)
			}
			fsck(t, again)
		})
	}
}

// TestDiskPulledOut: the objects are lost, but it is still the same boot.
func TestDiskPulledOut(t *testing.T) {
	t.Parallel()
	s, ctx := newStore(t), context.Background()
	noErr(t, appendCommit(ctx, s, AgentRef(testMission), "1", Durable))
	s.Close()
	for _, path := range loosePaths(t, s) {
		noErr(t, errors.Join(os.Chmod(path, 0o600), os.Truncate(path, 0)))
	}
	again := must[*Store](t)(Open(s.Dir()))
	defer again.Close()
	_, err := again.Sweep(ctx)
	noErr(t, err)
	noErr(t, appendCommit(ctx, again, AgentRef(testMission), "2", Durable))
	fsck(t, again)
}

func TestSegmentIsAdopted(t *testing.T) {
	t.Parallel()
	s, ctx := newStore(t), context.Background()
	noErr(t, appendCommit(ctx, s, AgentRef(testMission), "1", Durable))
	s.Close()
	removeObject(t, s, HashObject(TypeBlob, []byte("1")))
	first := s.segments()
	next := must[*Store](t)(Open(s.Dir()))
	defer next.Close()
	before := next.Fsyncs()
	noErr(t, appendCommit(ctx, next, AgentRef(testMission), "2", Durable))
	if n := next.Fsyncs() - before; n != 3 {
		t.Errorf("%d fsyncs with an adopted segment, want 3", n)
	}
	if got := next.segments(); len(got) != 1 || got[0] != first[0] {
		t.Errorf("segments %v, then %v", first, got)
	}
	stats := must[SweepStats](t)(next.Sweep(ctx))
	if stats.Segments != 1 {
		t.Errorf("%+v", stats)
	}
	noErr(t, appendCommit(ctx, next, AgentRef(testMission), "3", Durable))
	fsck(t, next)
}

func TestFailedSyncPublishesNothing(t *testing.T) {
	t.Parallel()
	for fail := range int64(5) {
		for _, files := range []int{1, 100} {
			t.Run(fmt.Sprint(fail, "/", files), func(t *testing.T) {
				s, ctx := newStore(t), context.Background()
				start := s.Fsyncs()
				disk := errors.New("input/output error")
				s.sync.Before = func(string) error {
					if s.Fsyncs()-start >= fail {
						return disk
					}
					return nil
				}
				b := s.NewBatch()
				defer b.Discard()
				data := map[string]string{}
				for i := range files {
					data[fmt.Sprint(i)] = fmt.Sprint(i)
				}
				c := commitFiles(t, b, 1, data)
				err := b.Flush(ctx)
				if err == nil {
					err = s.UpdateRef(ctx, AgentRef(testMission), ID{}, c, Durable)
				} else if perr := b.Prove(c); perr == nil {
					t.Error("proved an object of a failed flush")
				}
				if synced := s.Fsyncs() - start; err == nil && synced > 5 {
					t.Errorf("%d fsyncs", synced)
				} else if err != nil && !errors.Is(err, disk) {
					t.Errorf("got %v", err)
				}
				s.sync.Before = nil
				b.Discard()
				retry := s.NewBatch()
				defer retry.Discard()
				c = commitFiles(t, retry, 1, data)
				noErr(t, retry.Flush(ctx))
				have, rerr := s.Ref(AgentRef(testMission))
				if rerr != nil {
					have = ID{}
				}
				noErr(t, s.UpdateRef(ctx, AgentRef(testMission), have, c, Durable))
				noErr(t, retry.ProveTree(must[*Commit](t)(s.Commit(c)).Tree, ID{}))
				_, err = s.Sweep(ctx)
				noErr(t, err)
				noLeftovers(t, s)
				fsck(t, s)
			})
		}
	}
}
