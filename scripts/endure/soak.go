package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
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

	taken    int      // snapshots
	rehashes int      // of the disk
	kills    int      // of the daemon
	trees    []string // that the mission's snapshots must have, oldest first
	hooks    lab.Costs
	memory   []int64 // of the daemon, in bytes, at even distances
	edits    map[string]int
	size     lab.Holds
	least    lab.Holds // what git makes of the repository
	log      time.Duration
}

// points is how many points the curve of the memory has.
const points = 20

// endure runs a whole soak below o.dir. Its error says which snapshot was wrong.
func endure(ctx context.Context, o options, out io.Writer) (_ *soak, err error) {
	s := &soak{options: o, out: out, edits: map[string]int{}}
	tree := &lab.Tree{Files: o.files, Seed: o.seed}
	if s.world, err = newWorld(filepath.Join(o.dir, "work"), tree, o.seed); err != nil {
		return nil, err
	}
	if s.oracle, err = newOracle(ctx, s.world, filepath.Join(o.dir, "oracle.git")); err != nil {
		return nil, err
	}
	if s.umbra, err = lab.NewUmbra(o.binary, filepath.Join(o.dir, "homes")); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.umbra.Stop()) }()
	daemon, err := s.umbra.Start(ctx)
	if err != nil {
		return nil, err
	}
	s.daemon = daemon.PID
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
	var sparse []int64 // one point for each hundred snapshots or fewer
	step := max(1, s.snapshots/points)
	for s.taken = 1; ; s.taken++ {
		if s.hours > 0 && time.Now().After(end) || s.hours == 0 && s.taken > s.snapshots {
			s.taken--
			break
		}
		if err := s.takeOne(ctx); err != nil {
			return fmt.Errorf("snapshot %d (seed %d): %w", s.taken, s.seed, err)
		}
		if s.taken%step == 0 {
			resident, err := s.daemon.Resident()
			if err != nil {
				return err
			}
			sparse = append(sparse, resident)
			fmt.Fprintf(s.out, "%d snapshots, %d files, daemon %d MB, hook p50 %s\n", s.taken, len(s.world.names), resident/1e6, s.hooks.Walls().Median().Round(100*time.Microsecond))
		}
	}
	s.memory = sparse
	return nil
}

// turnLength is how many tools a turn has.
const turnLength = 25

// edit makes some edits, and kills the daemon between them where that is due:
// what happens while nobody watches is found all the same.
func (s *soak) edit(ctx context.Context) error {
	n := 1 + s.world.rand.IntN(3)
	for i := range n {
		name, err := s.world.edit()
		if err != nil {
			return err
		}
		s.edits[name]++
		if i == n/2 && s.kill > 0 && s.taken%s.kill == 0 {
			if err := s.killDaemon(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// killDaemon kills it with SIGKILL, and starts another.
func (s *soak) killDaemon(ctx context.Context) error {
	s.kills++
	if err := syscall.Kill(int(s.daemon), syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill the daemon: %w", err)
	}
	daemon, err := s.umbra.Start(ctx)
	s.daemon = daemon.PID
	return err
}

func (s *soak) takeOne(ctx context.Context) error {
	if err := s.edit(ctx); err != nil {
		return err
	}
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
	if err := s.compare(ctx, before, want); err != nil {
		return err
	}
	if s.taken%s.rehash == 0 {
		if err := s.compareDisk(ctx, want); err != nil {
			return err
		}
	}
	if s.taken%turnLength != 0 {
		return nil
	}
	if _, err := s.session.Stop(ctx); err != nil {
		return err
	}
	if s.taken%s.rest == 0 {
		if err := s.idle(ctx); err != nil {
			return err
		}
	}
	_, err = s.session.Prompt(ctx)
	return err
}

// idle lets the daemon do what it does when nobody works.
func (s *soak) idle(ctx context.Context) error {
	if _, err := s.daemon.During(ctx, s.pause); err != nil {
		return err
	}
	return s.daemon.Rest(ctx, max(s.pause/10, 100*time.Millisecond))
}

// compare holds the newest snapshot against the tree that it must have.
func (s *soak) compare(ctx context.Context, before, want string) error {
	tip, err := s.session.Tip(ctx)
	if err != nil {
		return err
	}
	got, err := s.session.Mission.Git(ctx, "rev-parse", tip+"^{tree}")
	if err != nil {
		return err
	}
	if got != want {
		return s.differ(ctx, "the snapshot "+tip, got, "what was written", want)
	}
	if tip != before {
		s.trees = append(s.trees, want)
	}
	return nil
}

// compareDisk holds what was written against what is on disk.
func (s *soak) compareDisk(ctx context.Context, want string) error {
	s.rehashes++
	got, err := s.oracle.rehashed(ctx)
	if err != nil {
		return err
	}
	if got != want {
		return s.differ(ctx, "the disk", got, "what was written", want)
	}
	return nil
}

func (s *soak) differ(ctx context.Context, a, got, b, want string) error {
	// The snapshot's trees are in the shadow repository, the others in the oracle's.
	s.oracle.more = "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + filepath.Join(s.session.Mission.Shadow, "objects")
	diff, err := s.oracle.git(ctx, "written", nil, "diff-tree", "-r", "--name-status", got, want)
	if err != nil {
		diff = "(the trees can't be compared: " + err.Error() + ")"
	}
	return fmt.Errorf("%s has the tree %s, and %s the tree %s:\n%s", a, got, b, want, diff)
}

// conclude looks at the whole history again, after Umbra has done what it does
// when nobody works.
func (s *soak) conclude(ctx context.Context) error {
	want, err := s.oracle.expected(ctx)
	if err == nil {
		err = s.compareDisk(ctx, want)
	}
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
	if s.size, err = lab.Weigh(m.Shadow); err != nil {
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
