package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// soak is one run, and what it saw.
type soak struct {
	options
	out     io.Writer
	world   *world
	oracle  *oracle
	umbra   *lab.Umbra
	session *lab.Session
	daemon  lab.Process
	ended   <-chan struct{} // the daemon has

	trial  *trial   // going on, nil if none is
	left   int      // of the snapshots that it lasts
	walks  []string // why the next snapshot must walk, nil if it need not
	walked int      // how often the daemon had walked when that was looked at last
	queue  []trial  // to come

	taken    int            // snapshots
	rested   int            // how many there were when nobody had worked for a while
	rehashes int            // of the disk
	lagged   int            // snapshots that did not hold what no event had told yet
	tried    map[string]int // trials
	trees    []string       // that the mission's snapshots must have, oldest first
	hooks    lab.Costs
	points   []point
	edits    map[string]int
	least    lab.Holds // what git makes of the repository
	log      time.Duration
}

// point is what was seen at one moment.
type point struct {
	taken    int   // snapshots
	resident int64 // memory of the daemon, in bytes
	lab.Holds
}

// points is how many there are in a soak of a given number of snapshots.
const points = 20

// endure runs a whole soak below o.dir. Its error says which snapshot was wrong.
func endure(ctx context.Context, o options, out io.Writer) (_ *soak, err error) {
	s := &soak{options: o, out: out, edits: map[string]int{}, tried: map[string]int{}}
	tree := &lab.Tree{Files: o.files, Seed: o.seed}
	if s.world, err = newWorld(filepath.Join(o.dir, "work"), tree, o.seed); err != nil {
		return nil, err
	}
	if s.apart {
		if err := lab.HeedModes(); err != nil {
			return nil, err
		}
		s.world.closes = true
	}
	if s.oracle, err = newOracle(ctx, s.world, filepath.Join(o.dir, "oracle.git")); err != nil {
		return nil, err
	}
	if s.umbra, err = lab.NewUmbra(filepath.Join(o.dir, "umbra"), filepath.Join(o.dir, "homes")); err != nil {
		return nil, err
	}
	if err := s.serve(ctx); err != nil {
		return nil, err
	}
	defer func() {
		_ = s.goOn(ctx) // one that is stalled does not hear; one that has ended need not
		err = errors.Join(err, s.umbra.Stop())
	}()
	s.session = s.umbra.NewSession(s.world.root, 1)
	if err := s.session.Begin(ctx); err != nil {
		return nil, err
	}
	if err := s.takeAll(ctx); err != nil {
		return nil, err
	}
	return s, s.conclude(ctx)
}

// takeAll takes snapshot after snapshot. Turns end now and then.
func (s *soak) takeAll(ctx context.Context) error {
	end := time.Now().Add(time.Duration(s.hours * float64(time.Hour)))
	step := max(1, s.snapshots/points)
	for s.taken = 1; ; s.taken++ {
		if s.hours > 0 && time.Now().After(end) || s.hours == 0 && s.taken > s.snapshots {
			s.taken--
			return nil
		}
		if err := s.takeOne(ctx); err != nil {
			return fmt.Errorf("snapshot %d (seed %d): %w", s.taken, s.seed, err)
		}
		if s.taken%step == 0 {
			if err := s.look(); err != nil {
				return err
			}
		}
	}
}

// look notes what there is now, unless there is no daemon.
func (s *soak) look() error {
	if s.session.Alone {
		return nil
	}
	p := point{taken: s.taken}
	var err error
	if p.resident, err = s.daemon.Resident(); err != nil {
		return err
	}
	if p.Holds, err = lab.Weigh(s.session.Mission.Shadow); err != nil {
		return err
	}
	s.points = append(s.points, p)
	fmt.Fprintf(s.out, "%d snapshots, %d files, daemon %d MB, %d loose objects, %d packs, %d MB, hook p50 %s\n",
		p.taken, len(s.world.names), p.resident/1e6, p.Loose, p.Packs, p.Bytes/1e6, s.hooks.Walls().Median().Round(100*time.Microsecond))
	return nil
}

// turnLength is how many tools a turn has.
const turnLength = 25

// edit makes some edits. Between them something goes wrong, where that is due:
// what happens while nobody watches is found all the same.
func (s *soak) edit(ctx context.Context) error {
	n := 1 + s.world.rand.IntN(3)
	for i := range n {
		name, err := s.world.edit()
		if err != nil {
			return err
		}
		s.edits[name]++
		if i == n/2 && s.trial == nil {
			if err := s.goWrong(ctx); err != nil {
				return err
			}
		}
	}
	return s.relent(ctx)
}

// goWrong begins the trial that is due, if one is.
func (s *soak) goWrong(ctx context.Context) error {
	switch {
	case s.every > 0 && s.taken%s.every == 0:
		return s.try(ctx, s.nextTrial())
	case s.kills > 0 && s.taken%s.kills == 0:
		return s.try(ctx, &s.trials()[0])
	}
	return nil
}

// snapshot tells of a tool, and holds the snapshot that is taken then against
// what was written.
func (s *soak) snapshot(ctx context.Context) error {
	before, err := s.session.Tip(ctx)
	if err != nil {
		return err
	}
	cost, err := s.session.Tool(ctx)
	if err != nil {
		return err
	}
	s.hooks = append(s.hooks, cost)
	want, err := s.oracle.expected(ctx)
	if err != nil {
		return err
	}
	if s.walks != nil {
		if err := s.proveWalk(ctx); err != nil {
			return err
		}
		clear(s.world.lag)
	}
	if err := s.compare(ctx, before, want); err != nil {
		return err
	}
	s.world.taken(s.walks != nil)
	if s.taken%s.rehash == 0 {
		return s.compareDisk(ctx, want)
	}
	return nil
}

func (s *soak) takeOne(ctx context.Context) error {
	if err := s.edit(ctx); err != nil {
		return err
	}
	if err := s.snapshot(ctx); err != nil {
		return err
	}
	if s.trial == nil {
		s.walks = nil
	}
	if s.taken%turnLength != 0 {
		return nil
	}
	if _, err := s.session.Stop(ctx); err != nil {
		return err
	}
	// In the middle of a trial there may be no daemon that could come to rest.
	if s.rest > 0 && s.trial == nil && s.taken-s.rested >= s.rest {
		if err := s.idle(ctx); err != nil {
			return err
		}
		s.rested = s.taken
	}
	_, err := s.session.Prompt(ctx)
	return err
}

// idle lets the daemon do what it does when nobody works.
func (s *soak) idle(ctx context.Context) error {
	if _, err := s.daemon.During(ctx, s.pause); err != nil {
		return err
	}
	return s.daemon.Rest(ctx, max(s.pause/10, 100*time.Millisecond))
}

// conclude looks at the whole history again, after Umbra has done what it does
// when nobody works.
func (s *soak) conclude(ctx context.Context) error {
	// A daemon that begins anew walks: nothing lags any more.
	for _, do := range []func(*soak, context.Context) error{(*soak).endTrial, (*soak).stop, (*soak).serve} {
		if err := do(s, ctx); err != nil {
			return err
		}
	}
	s.walks = unwatched
	err := s.snapshot(ctx)
	if err == nil {
		_, err = s.session.Stop(ctx)
	}
	if err == nil {
		err = s.idle(ctx)
	}
	if err != nil {
		return err
	}
	m := s.session.Mission
	text, err := m.Git(ctx, "log", "--reverse", "--format=%T", m.Ref)
	if err != nil {
		return err
	}
	if err := inOrder(s.trees, strings.Fields(text)); err != nil {
		return err
	}
	cost, _, err := s.umbra.Run(ctx, s.world.root, "log", m.ID)
	if err != nil {
		return err
	}
	s.log = cost.Wall
	if _, said, err := s.umbra.Run(ctx, s.world.root, "doctor"); err != nil {
		return fmt.Errorf("umbra doctor: %w: %s", err, said)
	}
	if _, err := m.Git(ctx, "fsck", "--full", "--no-progress"); err != nil {
		return err
	}
	if err := s.look(); err != nil {
		return err
	}
	s.least, err = lab.WeighCollected(ctx, m.Shadow, filepath.Join(s.dir, "collected.git"))
	return err
}

// inOrder checks that the history has all the trees, in their order. It has
// others between them: those of prompts and ends of turns.
func inOrder(trees, history []string) error {
	rest := history
	for i, tree := range trees {
		at := slices.Index(rest, tree)
		if at < 0 {
			return fmt.Errorf("snapshot %d of %d, with the tree %s, is not in the history of %d any more", i+1, len(trees), tree, len(history))
		}
		rest = rest[at+1:]
	}
	return nil
}
