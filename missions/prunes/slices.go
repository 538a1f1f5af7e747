package prunes

import (
	"context"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/gitstore/upkeep"
)

// giveBack has what nothing leads to any more removed from the disk. The caller prunes alone.
func (pr *Pruner) giveBack(ctx context.Context, c choice) (bytes int64, err error) {
	p := c.project
	return upkeep.GiveBack(ctx, p.Store, upkeep.GiveBackOptions{
		Beside: func(fn func() error) error { return c.hold(ctx, pr.Desk, lock.Shared, fn) },
		Alone:  func(fn func() error) error { return pr.runSlice(ctx, c, fn) },
		Roots:  func() ([]gitstore.ID, error) { return pr.unpublished(p) },
	})
}

// runSlice runs fn while nobody else has the project and no operation is under way. Whoever waits
// for the project has it before.
func (pr *Pruner) runSlice(ctx context.Context, c choice, fn func() error) error {
	pr.giveWay(ctx, c)
	return c.hold(ctx, pr.Desk, lock.Exclusive, func() error {
		if err := pr.checkQuiet(c); err != nil {
			return err
		}
		return fn()
	})
}

// giveWay lets those have the project who wait for it. A process that was stopped while it waits
// is not waited for.
func (pr *Pruner) giveWay(ctx context.Context, c choice) {
	const most = time.Second
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	if err := lock.GiveWay(ctx, lock.ProjectFile(pr.Home.Dir, c.project.ID)); err != nil && ctx.Err() == nil {
		pr.Logger.Warn("give way to who waits", "project", c.project.Name, "error", err)
	}
}
