package upkeep

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// TestKilledWriters kills a process that publishes snapshots as fast as it can,
// again and again, at random moments. What it said was published must be there
// and whole, every ref must be readable, and the next process must go on.
func TestKilledWriters(t *testing.T) {
	t.Parallel()
	torn := filepath.Join(t.TempDir(), "ref")
	storetest.NoErr(t, os.WriteFile(torn, []byte("the old id\n"), 0o600))
	naive := exec.Command("sh", "-c", `exec 3>"$0"; kill -9 $$; echo the new id >&3`, torn)
	_ = naive.Run()
	value := storetest.Must[[]byte](t)(os.ReadFile(torn))
	hazards.Shown(t, hazards.H31, len(value) == 0, "a plain write truncates the live file first: killed there, it leaves nothing")
	hazards.Held(t, hazards.H31, "a ref is written beside itself, synced and renamed: after each kill it is the old or the new, and what was published is in its history")
	s, ctx := storetest.New(t), context.Background()
	snap, record := storetest.SnapshotWithRecord(t, s, 1, gitstore.ID{}, gitstore.ID{})
	storetest.NoErr(t, s.UpdateRef(ctx, gitstore.RecordRef(storetest.Mission), gitstore.ID{}, record, gitstore.Durable))
	rnd := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	kills := 25
	if testing.Short() {
		kills = 5
	}
	for round := range kills {
		last := killOne(t, s.Dir(), fmt.Sprint(round), time.Duration(5+rnd.IntN(60))*time.Millisecond)
		tip, err := s.Ref(gitstore.AgentRef(storetest.Mission))
		storetest.NoErr(t, err)
		if last.IsZero() {
			last = snap
		}
		if ok := storetest.Must[bool](t)(s.IsAncestor(last, tip)); !ok {
			t.Fatalf("round %d: published %s is not in the history of %s", round, last, tip)
		}
		snap = last
		if _, err := s.RepairRecords(ctx); err != nil {
			t.Fatal(err)
		}
		list := storetest.Must[*gitstore.RefList](t)(s.Refs(""))
		if len(list.Bad) > 0 || len(list.Refs) != 2 {
			t.Fatalf("round %d: %+v", round, list)
		}
	}
	_, err := Sweep(ctx, s)
	storetest.NoErr(t, err)
	storetest.NoLeftovers(t, s)
	if problems := storetest.Must[[]Problem](t)(Check(ctx, s)); len(problems) > 0 {
		t.Errorf("%+v", problems)
	}
	storetest.Fsck(t, s)
}

// TestKilledImport kills processes in the middle of a pack. The next pack takes
// what they left away, without anybody sweeping, and not what a live one writes.
func TestKilledImport(t *testing.T) {
	hazards.Held(t, hazards.H24, "a first import that is killed leaves nothing that stays")
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	temporary := func() []string {
		return storetest.Must[[]string](t)(filepath.Glob(filepath.Join(s.PackDir(), "tmp_*")))
	}
	for range 2 {
		cmd := child(t, "import", s.Dir(), "")
		out := storetest.Must[io.ReadCloser](t)(cmd.StdoutPipe())
		storetest.NoErr(t, cmd.Start())
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "begun\n" {
			t.Fatalf("the child said %q (%v)", line, err)
		}
		storetest.NoErr(t, cmd.Process.Kill())
		_ = cmd.Wait()
	}
	if left := temporary(); len(left) != 1 {
		t.Fatalf("two killed processes left %q, the second should have swept", left)
	}
	fill := func() *shadow.Batch {
		b := s.NewBatch()
		for i := range storetest.InPack {
			storetest.Must[gitstore.ID](t)(b.Blob(fmt.Appendf(nil, "file %d", i)))
		}
		return b
	}
	live, next := fill(), fill()
	defer live.Discard()
	defer next.Discard()
	if left := temporary(); len(left) != 2 {
		t.Errorf("two batches write %q", left)
	}
	storetest.NoErr(t, live.Flush(ctx))
	storetest.NoErr(t, next.Flush(ctx))
	storetest.NoLeftovers(t, s)
	storetest.Fsck(t, s)
}

// killOne starts a writer, kills it after it has lived for a while and returns
// the last snapshot that it said was published.
func killOne(t *testing.T, dir, tag string, life time.Duration) gitstore.ID {
	t.Helper()
	cmd := child(t, "forever", dir, tag)
	out, err := cmd.StdoutPipe()
	storetest.NoErr(t, err)
	storetest.NoErr(t, cmd.Start())
	lines := bufio.NewScanner(out)
	var last gitstore.ID
	killed := false
	for lines.Scan() {
		last = storetest.Must[gitstore.ID](t)(gitstore.ParseID(lines.Text()))
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

func TestManyProcessesOneRef(t *testing.T) {
	hazards.Held(t, hazards.H33, "many processes at one ref lose no commit; go-git's repository, worktree and ref storage are not used")
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
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
	for _, err := range s.History(storetest.Must[gitstore.ID](t)(s.Ref(gitstore.AgentRef(storetest.Mission))), shadow.HistoryOptions{}) {
		storetest.NoErr(t, err)
		n++
	}
	if n != 20*processes {
		t.Errorf("%d commits", n)
	}
	if segments := segmentsOf(t, s); len(segments) > processes {
		t.Errorf("%d segments", len(segments))
	}
	_, err := Sweep(ctx, s)
	storetest.NoErr(t, err)
	storetest.NoLeftovers(t, s)
	storetest.Fsck(t, s)
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
			s, ctx := storetest.New(t), context.Background()
			for i := range 5 {
				storetest.NoErr(t, storetest.AppendCommit(ctx, s, gitstore.AgentRef(storetest.Mission), fmt.Sprint(i), gitstore.Durable))
			}
			s.Close()
			for i, path := range storetest.LoosePaths(t, s) {
				storetest.NoErr(t, damage(path, i))
			}
			segments := segmentsOf(t, s)
			if len(segments) != 1 {
				t.Fatalf("segments %v", segments)
			}
			// A torn frame at the end, as of a flush that never returned.
			f := storetest.Must[*os.File](t)(os.OpenFile(segments[0], os.O_WRONLY|os.O_APPEND, 0))
			_, err := f.Write(storetest.Must[[]byte](t)(os.ReadFile(segments[0]))[16:36])
			storetest.NoErr(t, errors.Join(err, f.Close()))
			storetest.NoErr(t, os.Rename(segments[0], filepath.Join(filepath.Dir(segments[0]), "0-earlier-boot.1.seg")))

			again := storetest.Must[*shadow.Store](t)(shadow.Open(s.Dir()))
			defer again.Close()
			if left := segmentsOf(t, again); len(left) != 0 {
				t.Errorf("left %v", left)
			}
			if problems := storetest.Must[[]Problem](t)(Check(ctx, again)); len(problems) != 1 || problems[0].Invariant != "I3" {
				t.Errorf("%+v", problems)
			}
			storetest.Fsck(t, again)
		})
	}
}

// TestDiskPulledOut: the objects are lost, but it is still the same boot.
func TestDiskPulledOut(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	storetest.NoErr(t, storetest.AppendCommit(ctx, s, gitstore.AgentRef(storetest.Mission), "1", gitstore.Durable))
	s.Close()
	for _, path := range storetest.LoosePaths(t, s) {
		storetest.NoErr(t, errors.Join(os.Chmod(path, 0o600), os.Truncate(path, 0)))
	}
	again := storetest.Must[*shadow.Store](t)(shadow.Open(s.Dir()))
	defer again.Close()
	_, err := Sweep(ctx, again)
	storetest.NoErr(t, err)
	storetest.NoErr(t, storetest.AppendCommit(ctx, again, gitstore.AgentRef(storetest.Mission), "2", gitstore.Durable))
	storetest.Fsck(t, again)
}

func TestSegmentIsAdopted(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	storetest.NoErr(t, storetest.AppendCommit(ctx, s, gitstore.AgentRef(storetest.Mission), "1", gitstore.Durable))
	s.Close()
	storetest.RemoveObject(t, s, gitstore.HashObject(gitstore.TypeBlob, []byte("1")))
	first := segmentsOf(t, s)
	next := storetest.Must[*shadow.Store](t)(shadow.Open(s.Dir()))
	defer next.Close()
	before := next.Fsyncs()
	storetest.NoErr(t, storetest.AppendCommit(ctx, next, gitstore.AgentRef(storetest.Mission), "2", gitstore.Durable))
	if n := next.Fsyncs() - before; n != 3 {
		t.Errorf("%d fsyncs with an adopted segment, want 3", n)
	}
	if got := segmentsOf(t, next); len(got) != 1 || got[0] != first[0] {
		t.Errorf("segments %v, then %v", first, got)
	}
	stats := storetest.Must[SweepStats](t)(Sweep(ctx, next))
	if stats.Segments != 1 {
		t.Errorf("%+v", stats)
	}
	storetest.NoErr(t, storetest.AppendCommit(ctx, next, gitstore.AgentRef(storetest.Mission), "3", gitstore.Durable))
	storetest.Fsck(t, next)
}

func TestFailedSyncPublishesNothing(t *testing.T) {
	t.Parallel()
	for fail := range int64(5) {
		for _, files := range []int{1, 100} {
			t.Run(fmt.Sprint(fail, "/", files), func(t *testing.T) {
				s, ctx := storetest.New(t), context.Background()
				start := s.Fsyncs()
				disk := errors.New("input/output error")
				s.Syncer().Before = func(string) error {
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
				c := storetest.CommitFiles(t, b, 1, data)
				err := b.Flush(ctx)
				if err == nil {
					err = s.UpdateRef(ctx, gitstore.AgentRef(storetest.Mission), gitstore.ID{}, c, gitstore.Durable)
				} else if perr := b.Prove(c); perr == nil {
					t.Error("proved an object of a failed flush")
				}
				if synced := s.Fsyncs() - start; err == nil && synced > 5 {
					t.Errorf("%d fsyncs", synced)
				} else if err != nil && !errors.Is(err, disk) {
					t.Errorf("got %v", err)
				}
				s.Syncer().Before = nil
				b.Discard()
				retry := s.NewBatch()
				defer retry.Discard()
				c = storetest.CommitFiles(t, retry, 1, data)
				storetest.NoErr(t, retry.Flush(ctx))
				have, rerr := s.Ref(gitstore.AgentRef(storetest.Mission))
				if rerr != nil {
					have = gitstore.ID{}
				}
				storetest.NoErr(t, s.UpdateRef(ctx, gitstore.AgentRef(storetest.Mission), have, c, gitstore.Durable))
				storetest.NoErr(t, retry.ProveTree(storetest.Must[*gitstore.Commit](t)(s.Commit(c)).Tree, gitstore.ID{}))
				_, err = Sweep(ctx, s)
				storetest.NoErr(t, err)
				storetest.NoLeftovers(t, s)
				storetest.Fsck(t, s)
			})
		}
	}
}

// segmentsOf lists the segment files.
func segmentsOf(t testing.TB, s *shadow.Store) []string {
	t.Helper()
	return storetest.Must[[]string](t)(filepath.Glob(filepath.Join(s.Dir(), "umbra", "segments", "*.seg")))
}
