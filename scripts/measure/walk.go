package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// measureWalk measures what proves that nothing changed where nobody watched: a
// snapshot of a mission without an agent, which the daemon does not watch, beside
// git status. Each of the walks is followed by a commit.
func measureWalk(ctx context.Context, b *bench) error {
	f := b.goal("P6")
	u, err := b.home("walk")
	if err != nil {
		return err
	}
	daemon, err := u.Start(ctx)
	if err != nil {
		return err
	}
	for _, name := range b.upTo("T10k", "Tgo", "T100k") {
		t, err := b.checkout(ctx, name)
		if err != nil {
			return err
		}
		own, peers, err := b.walks(ctx, u, daemon.PID, t)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		f.add(line{t.name + ", `umbra snapshot`", own, []peer{{"`git status`", peers}}})
		if t.name == b.large() {
			f.within(t.name, own.Walls().Median(), time.Duration(t.count)*time.Microsecond)
			f.least(t.name, lab.Ratio(own.Walls(), peers.Walls()), 3, "×")
		}
	}
	return nil
}

func (b *bench) walks(ctx context.Context, u *lab.Umbra, daemon lab.Process, t *tree) (own, peers lab.Costs, err error) {
	if _, err = firstSnapshot(ctx, u, t); err != nil {
		return nil, nil, err
	}
	list, err := u.Missions(ctx)
	if err != nil {
		return nil, nil, err
	}
	m := list[slices.IndexFunc(list, func(m lab.Mission) bool { return m.Workspace == t.dir })]
	for round := -2; round < b.samples(15, 4); round++ { // the first two warm up
		if err := b.Stage.Settle(ctx); err != nil {
			return nil, nil, err
		}
		cost, err := withDaemon(daemon, func() (lab.Cost, error) {
			cost, _, err := u.Run(ctx, t.dir, "snapshot", m.ID)
			return cost, err
		})
		if err != nil {
			return nil, nil, err
		}
		status, _, err := t.git(ctx, "status", "--porcelain")
		if err != nil {
			return nil, nil, err
		}
		if round >= 0 {
			own, peers = append(own, cost), append(peers, status)
		}
	}
	return own, peers, nil
}

// withDaemon adds the processor time of the daemon meanwhile to a cost.
func withDaemon(daemon lab.Process, do func() (lab.Cost, error)) (lab.Cost, error) {
	before, err := daemon.CPU()
	if err != nil {
		return lab.Cost{}, err
	}
	cost, err := do()
	if err != nil {
		return cost, err
	}
	after, err := daemon.CPU()
	cost.CPU += after - before
	return cost, err
}

// upTo leaves out the largest tree of a quick run.
func (b *bench) upTo(names ...string) []string {
	if b.quick {
		names = slices.DeleteFunc(names, func(name string) bool { return name == "T100k" })
	}
	return names
}

// git runs one git command in a checkout.
func (t *tree) git(ctx context.Context, args ...string) (lab.Cost, string, error) {
	cost, out, err := lab.Command{Args: append([]string{"git"}, args...), Dir: t.dir, Env: lab.GitEnv(t.dir)}.Run(ctx)
	return cost, string(out), err
}
