package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// measureFork measures making a second live workspace.
func measureFork(ctx context.Context, b *bench) error {
	f := b.goal("P8")
	for _, name := range b.upTo("T10k", "Tgo", "T100k") {
		t, err := b.checkout(ctx, name)
		if err != nil {
			return err
		}
		rounds := map[string]int{"T10k": b.samples(5, 2), "Tgo": b.samples(3, 1), "T100k": 1}[name]
		if err := b.fork(ctx, f, b.Stage, t, "fork-"+name, rounds); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := b.forkByReflink(ctx, f); err != nil {
		f.note("with reflinks it was not measured: %s", oneLine(err.Error()))
	}
	return nil
}

// forkByReflink measures on a file system that can share blocks.
func (b *bench) forkByReflink(ctx context.Context, f *finding) error {
	stage, err := lab.NewStage(ctx, b.options.dir, "xfs", stageSize/4, true)
	if err != nil {
		return err
	}
	defer stage.Close()
	t := &tree{name: "T10k on XFS", dir: filepath.Join(stage.Dir, "tree"), files: &lab.Tree{Files: sizes["T10k"], Seed: 1}}
	if err := t.files.Make(t.dir); err != nil {
		return err
	}
	if err := t.tally(); err != nil {
		return err
	}
	if err := lab.Checkout(ctx, t.dir); err != nil {
		return err
	}
	return b.fork(ctx, f, stage, t, "fork", b.samples(4, 2))
}

// fork measures forks of one tree, in turn with copies and worktrees.
func (b *bench) fork(ctx context.Context, f *finding, stage *lab.Stage, t *tree, name string, rounds int) error {
	u, err := lab.NewUmbra(b.Binary, filepath.Join(stage.Dir, "homes", name))
	if err != nil {
		return err
	}
	defer u.Stop()
	daemon, err := u.Start(ctx)
	if err != nil {
		return err
	}
	s, err := idleSession(ctx, u, t, 1)
	if err != nil {
		return err
	}
	to := filepath.Join(stage.Dir, name+"-to")
	if err := os.Mkdir(to, 0o755); err != nil {
		return err
	}
	var own, copies, worktrees lab.Costs
	for round := range rounds {
		for way, one := range []struct {
			into *lab.Costs
			make func(dir string) (lab.Cost, error)
		}{
			{&own, func(dir string) (lab.Cost, error) { return forkOnce(ctx, u, daemon.PID, s, dir) }},
			{&copies, func(dir string) (lab.Cost, error) { return copyTree(ctx, t, dir) }},
			{&worktrees, func(dir string) (lab.Cost, error) {
				cost, _, err := t.git(ctx, "worktree", "add", "-q", "--detach", dir)
				return cost, err
			}},
		} {
			if err := stage.Settle(ctx); err != nil {
				return err
			}
			dir := filepath.Join(to, fmt.Sprintf("%d-%d", round, way))
			cost, err := one.make(dir)
			if err != nil {
				return err
			}
			if err := t.sameCount(dir); err != nil {
				return err
			}
			*one.into = append(*one.into, cost)
		}
	}
	f.add(line{t.name, own, []peer{{"`cp -a`", copies}, {"`git worktree add`", worktrees}}})
	f.most(t.name+" over cp -a", 1/lab.Ratio(own.Walls(), copies.Walls()), 0.6, "×")
	f.most(t.name+" over worktree add", 1/lab.Ratio(own.Walls(), worktrees.Walls()), 0.3, "×")
	return nil
}

// idleSession is a session of one turn, which has ended.
func idleSession(ctx context.Context, u *lab.Umbra, t *tree, n int) (*lab.Session, error) {
	s := u.NewSession(t.dir, n)
	c, err := s.Converse()
	if err == nil {
		_, err = c.Grow(10 << 10)
	}
	if err == nil {
		err = s.Begin(ctx)
	}
	if err == nil {
		_, err = s.Stop(ctx)
	}
	return s, err
}

func forkOnce(ctx context.Context, u *lab.Umbra, daemon lab.Process, s *lab.Session, dir string) (lab.Cost, error) {
	return withDaemon(daemon, func() (lab.Cost, error) {
		cost, _, err := u.Run(ctx, s.Workspace, "fork", s.Mission.ID, "--no-launch", "--yes", "--workspace", dir)
		return cost, err
	})
}

// copyTree copies what is in the tree but for its repository.
func copyTree(ctx context.Context, t *tree, dir string) (lab.Cost, error) {
	names, err := os.ReadDir(t.dir)
	if err != nil {
		return lab.Cost{}, err
	}
	args := []string{"cp", "-a", "-t", dir}
	for _, name := range names {
		if name.Name() != ".git" {
			args = append(args, filepath.Join(t.dir, name.Name()))
		}
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return lab.Cost{}, err
	}
	cost, _, err := lab.Command{Args: args, Env: os.Environ()}.Run(ctx)
	return cost, err
}

// sameCount checks that a copy holds as many files as the tree.
func (t *tree) sameCount(dir string) error {
	other := &tree{dir: dir}
	if err := other.tally(); err != nil {
		return err
	}
	if other.count != t.count {
		return fmt.Errorf("%s holds %d files of %d", dir, other.count, t.count)
	}
	return nil
}
