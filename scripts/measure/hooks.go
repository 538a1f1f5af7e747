package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// subject is one tree with a session of Umbra's and a native repository, both
// at the same state.
type subject struct {
	*tree
	session *lab.Session
	native  *lab.Native
	daemon  lab.Process
}

// measureHooks measures the whole way of a hook in trees of three sizes, one
// after the other in each round, so that what disturbs one disturbs all.
func measureHooks(ctx context.Context, b *bench) error {
	names := []string{"T1k", "T10k", "T100k"}
	if b.quick {
		names = names[:2]
	}
	subjects, err := b.subjects(ctx, "hooks", names...)
	if err != nil {
		return err
	}
	last := len(subjects) - 1
	small, large := subjects[0], subjects[last]
	f := b.goal("P1")
	one, err := b.compareHooks(ctx, subjects, 1, b.samples(60, 12), b.samples(3, 3))
	if err != nil {
		return err
	}
	for i, s := range subjects {
		f.add(line{s.name + ", 1 file", one[i].own, []peer{{"native git", one[i].native}}})
	}
	walls := one[last].own.Walls()
	f.within(large.name+" p50", walls.Median(), 10*time.Millisecond)
	f.within(large.name+" p95", walls.Percentile(95), 20*time.Millisecond)
	f.least("T10k", one[1].faster(), 8, "×")
	if !b.quick {
		f.least(large.name, one[last].faster(), 40, "×")
	}
	b.goal("P3").most(large.name+" over "+small.name, 1/lab.Ratio(one[last].own.Walls(), one[0].own.Walls()), 1.3, "")
	if err := b.hookTraced(ctx, f, large); err != nil {
		f.note("system calls were not counted: %s", oneLine(err.Error()))
	}

	f = b.goal("P2")
	for _, c := range []struct {
		files, rounds int
		least         float64
	}{{100, b.samples(12, 4), 12}, {0, b.samples(30, 6), 30}} {
		got, err := b.compareHooks(ctx, subjects[1:], c.files, c.rounds, 2)
		if err != nil {
			return err
		}
		for i, s := range subjects[1:] {
			f.add(line{s.name + ", " + countFiles(c.files), got[i].own, []peer{{"native git", got[i].native}}})
		}
		f.least(large.name+", "+countFiles(c.files), got[len(got)-1].faster(), c.least, "×")
	}
	return nil
}

// subjects makes a home whose daemon watches those trees, each with a session in
// its first turn, and a native repository for each.
func (b *bench) subjects(ctx context.Context, home string, names ...string) ([]*subject, error) {
	u, err := b.home(home)
	if err != nil {
		return nil, err
	}
	daemon, err := u.Start(ctx)
	if err != nil {
		return nil, err
	}
	var all []*subject
	for n, name := range names {
		t, err := b.checkout(ctx, name)
		if err != nil {
			return nil, err
		}
		s := &subject{tree: t, session: u.NewSession(t.dir, n+1), daemon: daemon.PID}
		if s.native, err = b.native(ctx, home+"-"+name, t); err != nil {
			return nil, err
		}
		if _, err := s.native.Snapshot(ctx); err != nil {
			return nil, err
		}
		// What a large tree's first import takes is none of the hooks' business.
		if _, err := firstSnapshot(ctx, u, t); err != nil {
			return nil, err
		}
		if err := s.session.Begin(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, s)
	}
	directories := 0
	for _, s := range all {
		directories += s.directories
	}
	patience, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := u.Watched(patience, directories); err != nil {
		return nil, err
	}
	return all, b.Stage.Settle(ctx)
}

// compared are the samples of one subject.
type compared struct{ own, native lab.Costs }

func (c compared) faster() float64 { return lab.Ratio(c.own.Walls(), c.native.Walls()) }

// compareHooks edits that many files of each tree in each round, tells Umbra's
// hook, and in each nth round the native repository.
func (b *bench) compareHooks(ctx context.Context, subjects []*subject, files, rounds, nth int) ([]compared, error) {
	all := make([]compared, len(subjects))
	for round := -2; round < rounds; round++ { // the first two warm up
		for i, s := range subjects {
			if err := s.edit(max(files, warm(round)), round+2); err != nil {
				return nil, err
			}
			if err := b.Stage.Settle(ctx); err != nil {
				return nil, err
			}
			own, err := s.hook(ctx, files > 0 || round < 0)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			if round >= 0 {
				all[i].own = append(all[i].own, own)
			}
			if round%nth != 0 {
				continue
			}
			native, err := s.native.Snapshot(ctx)
			if err != nil {
				return nil, err
			}
			if round >= 0 {
				all[i].native = append(all[i].native, native)
			}
		}
	}
	return all, nil
}

// warm is how many files are edited at least: one in rounds that are not counted.
func warm(round int) int {
	if round < 0 {
		return 1
	}
	return 0
}

// edit gives files of the tree their next versions, spread over the whole tree.
func (s *subject) edit(files, round int) error {
	var errs []error
	for n := range files {
		i := (round*7919 + n*s.count/files) % s.count
		s.version++
		errs = append(errs, s.files.Write(s.dir, i, s.version))
	}
	return errors.Join(errs...)
}

// hook tells of a tool that is about to write, and sees to it that there is a new
// snapshot exactly if something changed.
func (s *subject) hook(ctx context.Context, changed bool) (lab.Cost, error) {
	before, err := s.session.Tip(ctx)
	if err != nil {
		return lab.Cost{}, err
	}
	cost, err := withDaemon(s.daemon, func() (lab.Cost, error) { return s.session.Tool(ctx) })
	if err != nil {
		return cost, err
	}
	after, err := s.session.Tip(ctx)
	if err == nil && (after != before) != changed {
		err = fmt.Errorf("the hook left the mission at %s, after %s", after, before)
	}
	return cost, err
}

// hookTraced counts the fsyncs of one hook, in the daemon and its client.
func (b *bench) hookTraced(ctx context.Context, f *finding, s *subject) error {
	for _, files := range []int{1, 100} {
		if err := s.edit(files, 12345+files); err != nil {
			return err
		}
		attached, err := attach(ctx, s.daemon)
		if err != nil {
			return err
		}
		_, err = s.hook(ctx, true)
		found, derr := attached.detach()
		if err := errors.Join(err, derr); err != nil {
			return err
		}
		f.note("%s, %s: %d fsyncs", s.name, countFiles(files), found.syncs())
		f.most("fsyncs, "+countFiles(files), float64(found.syncs()), 5, "")
	}
	return nil
}
