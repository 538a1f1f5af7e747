package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"time"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// What all these missions do at once.
const (
	manyWorkspaces = 5
	manyMissions   = 50
	thinkTime      = time.Second // between two tools of one agent, in the mean
)

// worker is one mission at work: it writes a file of its own, again and again.
type worker struct {
	*subject
	file  int
	costs lab.Costs
	err   error
}

// measureMany measures hooks while many agents work, and that nothing is lost.
func measureMany(ctx context.Context, b *bench) error {
	workers, err := b.manyMissions(ctx)
	if err != nil {
		return err
	}
	rounds := b.samples(12, 4)
	began := time.Now()
	var all sync.WaitGroup
	for n, w := range workers {
		all.Go(func() { w.err = w.work(ctx, rounds, rand.New(rand.NewPCG(uint64(n), 1))) })
	}
	all.Wait()
	took := time.Since(began)
	var costs lab.Costs
	lost := 0
	for _, w := range workers {
		if w.err != nil {
			return w.err
		}
		costs = append(costs, w.costs...)
		if err := w.verify(ctx); err != nil {
			lost++
			b.goal("P12").note("%s", oneLine(err.Error()))
		}
	}
	f := b.goal("P12")
	f.add(line{fmt.Sprintf("hook, %d missions at once", len(workers)), costs, nil})
	f.within("p95", costs.Walls().Percentile(95), 50*time.Millisecond)
	f.most("missions whose last edit is in no snapshot", float64(lost), 0, "")
	f.note("%d hooks in %s, %s a second", len(costs), duration(took), number(float64(len(costs))/took.Seconds()))
	return nil
}

func (b *bench) manyMissions(ctx context.Context) ([]*worker, error) {
	u, err := b.home("many")
	if err != nil {
		return nil, err
	}
	daemon, err := u.Start(ctx)
	if err != nil {
		return nil, err
	}
	var workers []*worker
	directories := 0
	for n := range manyMissions {
		i := n % manyWorkspaces
		t := &tree{name: fmt.Sprintf("many-%d", i), dir: filepath.Join(b.Stage.Dir, "many", fmt.Sprint(i)), files: &lab.Tree{Files: sizes["T1k"], Seed: uint64(i)}}
		if n < manyWorkspaces {
			if err := t.files.Make(t.dir); err != nil {
				return nil, err
			}
		}
		if err := t.tally(); err != nil {
			return nil, err
		}
		if n < manyWorkspaces {
			directories += t.directories
		}
		w := &worker{subject: &subject{tree: t, session: u.NewSession(t.dir, n+1), daemon: daemon.PID}, file: n}
		if err := w.session.Begin(ctx); err != nil {
			return nil, err
		}
		workers = append(workers, w)
	}
	patience, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return workers, errors.Join(u.Watched(patience, directories), b.Stage.Settle(ctx))
}

// work edits and tells of it, with time to think between.
func (w *worker) work(ctx context.Context, rounds int, r *rand.Rand) error {
	for range rounds {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(r.Float64() * 2 * float64(thinkTime))):
		}
		w.version++
		if err := w.files.Write(w.dir, w.file, w.version); err != nil {
			return err
		}
		cost, err := w.session.Tool(ctx)
		if err != nil {
			return err
		}
		w.costs = append(w.costs, cost)
	}
	return nil
}

// verify finds the worker's last edit in its newest snapshot.
func (w *worker) verify(ctx context.Context) error {
	tip, err := w.session.Tip(ctx)
	if err != nil {
		return err
	}
	path := w.files.Path(w.file)
	held, err := w.session.Mission.Git(ctx, "rev-parse", tip+":"+path)
	if err != nil {
		return err
	}
	want, err := w.session.Mission.Git(ctx, "hash-object", "--no-filters", filepath.Join(w.dir, path))
	if err == nil && held != want {
		err = fmt.Errorf("%s of mission %s is %s in its newest snapshot %s, and %s on disk", path, w.session.Mission.ID, held, tip, want)
	}
	return err
}
