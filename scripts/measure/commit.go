package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// measureCommit measures what Umbra's Git hooks add to the user's own commits, of
// one file each, in a workspace that the daemon watches.
func measureCommit(ctx context.Context, b *bench) (err error) {
	all, err := b.subjects(ctx, "commit", "T10k")
	if err != nil {
		return err
	}
	s := all[0]
	u := s.session.Umbra()
	if _, _, err := u.Run(ctx, s.dir, "hooks", "install", "git"); err != nil {
		return err
	}
	defer func() { // the tree is others', too
		_, _, uerr := u.Run(ctx, s.dir, "hooks", "uninstall", "git")
		err = errors.Join(err, uerr)
	}()
	var own, peers lab.Costs
	for round := -2; round < b.samples(40, 8); round++ { // the first two warm up
		with, err := b.commit(ctx, s, 2*round+4, true)
		if err != nil {
			return err
		}
		without, err := b.commit(ctx, s, 2*round+5, false)
		if err != nil {
			return err
		}
		if round >= 0 {
			own, peers = append(own, with), append(peers, without)
		}
	}
	f := b.goal("P14")
	f.add(line{s.name + ", 1 file", own, []peer{{"without the hooks", peers}}})
	f.within(s.name+" adds", max(0, own.Walls().Median()-peers.Walls().Median()), 15*time.Millisecond)
	f.note("a commit takes %s × as long with the hooks as without", number(1/lab.Ratio(own.Walls(), peers.Walls())))
	return nil
}

// commit edits a file and commits it in the user's repository. With its hooks there
// must be a snapshot that says so by the time that git has ended.
func (b *bench) commit(ctx context.Context, s *subject, round int, hooked bool) (lab.Cost, error) {
	if err := s.edit(1, round); err != nil {
		return lab.Cost{}, err
	}
	if err := b.Stage.Settle(ctx); err != nil {
		return lab.Cost{}, err
	}
	said := fmt.Sprintf("commit %d", round)
	git := s.session.Umbra().Command(s.dir) // its hooks find the home by the environment
	git.Args = []string{"git", "-c", "user.name=umbra", "-c", "user.email=umbra@localhost"}
	if !hooked {
		git.Args = append(git.Args, "-c", "core.hooksPath=/dev/null")
	}
	git.Args = append(git.Args, "commit", "-qam", said)
	cost, err := withDaemon(s.daemon, func() (lab.Cost, error) {
		cost, _, err := git.Run(ctx)
		return cost, err
	})
	if err != nil || !hooked {
		return cost, err
	}
	_, log, err := s.session.Umbra().Run(ctx, s.dir, "log", s.session.Mission.ID, "-n", "1")
	if err == nil && !strings.Contains(string(log), " "+said) {
		err = fmt.Errorf("%s is not in the log: %s", said, log)
	}
	return cost, err
}
