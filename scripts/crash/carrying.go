package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/scripts/crash/carried"
)

// carrying carries the world's mission in that way, after it has gone on.
func carrying(way func(*carried.Mission) carried.Way) func(context.Context, *world) (scene, error) {
	return func(ctx context.Context, w *world) (scene, error) {
		w.made++
		if w.carried == nil {
			made, err := carried.New(ctx, w.umbra.Binary, filepath.Join(w.dir, fmt.Sprintf("carried-%d", w.made)))
			if err != nil {
				return scene{}, fmt.Errorf("make a mission to be carried: %w", err)
			}
			w.carried = made
		}
		c := w.carried
		to := way(c)
		u, dir, err := c.Prepare(ctx, to, fmt.Sprintln("carried", w.made, w.rand.Uint64()))
		return scene{args: to.Args, umbra: u, dir: dir, settle: func(ctx context.Context, w *world, f fate) error {
			if !f.killed && f.code != 0 && !f.hit {
				return fmt.Errorf("umbra %s: %s", strings.Join(to.Args, " "), f)
			}
			err := c.Settle(ctx, to)
			for _, projects := range c.Homes() {
				err = errors.Join(err, leftovers(projects))
			}
			if err != nil || !c.IsWorn() {
				return err
			}
			w.carried = nil
			return removeAll(c.Top)
		}}, err
	}
}
