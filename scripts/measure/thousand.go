package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// measureThousand measures what a long history costs: to read, and on disk.
func measureThousand(ctx context.Context, b *bench) error {
	subjects, err := b.subjects(ctx, "thousand", "T10k")
	if err != nil {
		return err
	}
	s := subjects[0]
	f := b.goal("P11")
	snapshots := b.samples(1000, 100)
	var hooks lab.Costs
	for round := range snapshots {
		if err := s.edit(1, round); err != nil {
			return err
		}
		cost, err := s.hook(ctx, true)
		if err != nil {
			return err
		}
		hooks = append(hooks, cost)
	}
	f.add(line{"hook, over all " + strconv.Itoa(snapshots), hooks, nil})
	tenth := len(hooks) / 10
	f.note("the last tenth of the hooks took %s × the first (p50)", number(1/lab.Ratio(hooks[len(hooks)-tenth:].Walls(), hooks[:tenth].Walls())))
	if _, err := s.session.Stop(ctx); err != nil {
		return err
	}
	// What is done when nobody works is part of it.
	if _, err := s.daemon.During(ctx, lab.Pause); err != nil {
		return err
	}
	if err := s.daemon.Rest(ctx, 2*time.Second); err != nil {
		return err
	}
	if err := b.readHistory(ctx, f, s, snapshots); err != nil {
		return err
	}
	return b.weigh(ctx, f, s)
}

// readHistory measures git log and umbra log over the whole history.
func (b *bench) readHistory(ctx context.Context, f *finding, s *subject, snapshots int) error {
	var own, peers lab.Costs
	m := s.session.Mission
	for range b.samples(15, 5) {
		cost, out, err := s.session.Umbra().Run(ctx, s.dir, "log", m.ID, "-n", strconv.Itoa(snapshots))
		if err != nil {
			return err
		}
		if n := strings.Count(out, "\n") + 1; n < snapshots {
			return fmt.Errorf("umbra log printed %d lines for %d snapshots", n, snapshots)
		}
		own = append(own, cost)
		cost, _, err = lab.Command{Args: []string{"git", "--git-dir=" + m.Shadow, "log", m.Ref}, Dir: m.Shadow, Env: lab.GitEnv(m.Shadow)}.Run(ctx)
		if err != nil {
			return err
		}
		peers = append(peers, cost)
	}
	f.add(line{"`umbra log`, whole history", own, []peer{{"`git log` in the shadow repository", peers}}})
	f.within("umbra log", own.Walls().Median(), 50*time.Millisecond)
	f.within("git log", peers.Walls().Median(), 50*time.Millisecond)
	return nil
}

// weigh compares the repository with what git makes of a copy.
func (b *bench) weigh(ctx context.Context, f *finding, s *subject) error {
	shadow := s.session.Mission.Shadow
	now, err := lab.Weigh(shadow)
	if err != nil {
		return err
	}
	after, err := lab.WeighCollected(ctx, shadow, filepath.Join(b.Stage.Dir, "thousand-gc.git"))
	if err != nil {
		return err
	}
	if _, err := s.session.Mission.Git(ctx, "fsck", "--full", "--no-progress"); err != nil {
		return err
	}
	f.most("size over git gc", float64(now.Bytes)/float64(after.Bytes), 1.2, "×")
	f.most("left over", float64(now.Leftovers), 0, "")
	f.note("the shadow repository has %d loose objects and %d packs and takes %s MB of disk; after a fresh `git gc` %s MB", now.Loose, now.Packs, number(megabytes(now.Bytes)), number(megabytes(after.Bytes)))
	return nil
}
