package main

import (
	"context"
	"time"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// measureWalk measures what proves that nothing changed when nobody watched: a
// hook without a daemon, whose process opens everything anew, beside git status.
func measureWalk(ctx context.Context, b *bench) error {
	f := b.goal("P6")
	for _, name := range b.upTo("T10k", "Tgo", "T100k") {
		t, err := b.checkout(ctx, name)
		if err != nil {
			return err
		}
		u, err := b.home("walk-" + name)
		if err != nil {
			return err
		}
		s := u.NewSession(t.dir, 1)
		s.Alone = true
		if err := s.Begin(ctx); err != nil {
			return err
		}
		var own, peers lab.Costs
		for round := -2; round < b.samples(12, 4); round++ { // the first two warm up
			cost, err := s.Tool(ctx)
			if err != nil {
				return err
			}
			status, _, err := t.git(ctx, "status", "--porcelain")
			if err != nil {
				return err
			}
			if round >= 0 {
				own, peers = append(own, cost), append(peers, status)
			}
		}
		f.add(line{t.name + ", a whole process without a daemon", own, []peer{{"`git status`", peers}}})
		f.least(t.name, lab.Ratio(own.Walls(), peers.Walls()), 3, "×")
		if t.name == "T100k" {
			f.within("T100k", own.Walls().Median(), 100*time.Millisecond)
		}
	}
	return nil
}

// upTo leaves out the largest tree of a quick run.
func (b *bench) upTo(names ...string) []string {
	if !b.quick {
		return names
	}
	var some []string
	for _, name := range names {
		if name != "T100k" {
			some = append(some, name)
		}
	}
	return some
}

// git runs one git command in a checkout.
func (t *tree) git(ctx context.Context, args ...string) (lab.Cost, string, error) {
	cost, out, err := lab.Command{Args: append([]string{"git"}, args...), Dir: t.dir, Env: lab.GitEnv(t.dir)}.Run(ctx)
	return cost, string(out), err
}
