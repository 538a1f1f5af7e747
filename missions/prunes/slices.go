package prunes

import (
	"context"
	"errors"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/gitstore/upkeep"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// giveBack has what nothing leads to any more removed from the disk. The caller prunes alone.
func (pr *Pruner) giveBack(ctx context.Context, c choice) (bytes int64, err error) {
	p, left := c.project, c.patience()
	c.left = &left
	bytes, err = upkeep.GiveBack(ctx, p.Store, upkeep.GiveBackOptions{
		Beside: func(fn func() error) error { return c.hold(ctx, pr.Desk, lock.Shared, fn) },
		Alone:  func(fn func() error) error { return pr.runSlice(ctx, c, fn) },
		Roots:  func() ([]gitstore.ID, error) { return pr.unpublished(p) },
	})
	if errors.Is(err, upkeep.ErrChanged) {
		return bytes, missions.Errorf(missions.KindBusy, "umbra prune again", "umbra doctor or a fetch has changed histories of %s meanwhile", p.Name)
	}
	return bytes, err
}

// runSlice runs fn while nobody else has the project and no operation is under way. It waits
// until that is so, as long as all slices together may: agents that work begin operations every
// now and then, and all that was packed would be packed again.
func (pr *Pruner) runSlice(ctx context.Context, c choice, fn func() error) error {
	const pause = 50 * time.Millisecond
	first := time.Now()
	for began := first; ; {
		busy, err := pr.trySlice(ctx, c, func() error {
			*c.left -= time.Since(began)
			return fn()
		})
		if busy == nil || err != nil {
			return err
		}
		*c.left -= time.Since(began)
		began = time.Now()
		if missions.AsError(busy).Kind != missions.KindBusy || *c.left <= 0 {
			return busy
		}
		if time.Since(first) > silence {
			c.sayOnce(ctx, "waiting until no operation is under way, to remove what was dropped of "+c.project.Name)
		}
		if err := projects.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// trySlice runs fn if no operation is under way, else busy says which one is.
func (pr *Pruner) trySlice(ctx context.Context, c choice, fn func() error) (busy, err error) {
	if busy = pr.checkNothingInFlight(); busy != nil { // nobody has to wait for that
		return busy, nil
	}
	pr.giveWay(ctx, c)
	err = c.hold(ctx, pr.Desk, lock.Exclusive, func() error {
		if busy = pr.checkNothingInFlight(); busy != nil {
			return nil
		}
		return fn()
	})
	return busy, err
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
