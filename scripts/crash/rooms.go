package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// cramped are the operations that are done on a disk without room.
var cramped = []string{"snapshot", "restore", "undo", "redo", "fork"}

// starve does the operations in worlds that are on small disks, with less and less
// room, and looks at what is there then: with each room, or with some of each disk.
// Its error says all that was wrong.
func (h *harness) starve(ctx context.Context, some int, r *rand.Rand) error {
	places := []string{"all", "home", "workspace"}
	for n, place := range places {
		var trials []death
		for kind, left := range roomKinds {
			for _, left := range left {
				trials = append(trials, death{room: room{place, kind, left}})
			}
		}
		slices.SortFunc(trials, func(a, b death) int { return slices.Compare([]byte(a.room.String()), []byte(b.room.String())) })
		err := h.starveOn(ctx, place, n, trials, some, r)
		if errors.Is(err, errNoRoom) {
			return err
		}
		if err != nil {
			h.failures = append(h.failures, err)
			fmt.Fprintf(h.out, "wrong: %v\n", err)
		}
	}
	return errors.Join(h.failures...)
}

// starveOn is starve in one place.
func (h *harness) starveOn(ctx context.Context, place string, n int, deaths []death, some int, r *rand.Rand) (err error) {
	dir := filepath.Join(h.dir, "room-"+place)
	disk := filepath.Join(dir, disks[place])
	if err := os.MkdirAll(disk, 0o700); err != nil {
		return err
	}
	if err := smallDisk(disk); err != nil {
		return fmt.Errorf("%w: %w", errNoRoom, err)
	}
	defer func() { err = errors.Join(err, dropDisk(disk)) }()
	if err := leaveLittleFree(dir); err != nil {
		return err
	}
	w, err := newWorld(ctx, h.binary, dir, h.seed*1000+uint64(n))
	if err != nil {
		return fmt.Errorf("make a world: %w", err)
	}
	type cramp struct {
		way   way
		death death
	}
	var trials []cramp
	for _, wy := range h.ways {
		for _, d := range deaths {
			if !wy.daemon && slices.Contains(cramped, wy.name) {
				trials = append(trials, cramp{wy, d})
			}
		}
	}
	if some > 0 {
		r.Shuffle(len(trials), func(i, j int) { trials[i], trials[j] = trials[j], trials[i] })
		trials = trials[:min(some, len(trials))]
	}
	var since []string
	for _, one := range trials {
		if h.rest(ctx) {
			break
		}
		what, err := h.one(ctx, w, one.way, one.death, death{})
		if since = append(since, what); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	return h.everything(ctx, w, since)
}

// leaveLittleFree configures the home of a world that is to be, so that Umbra
// writes on a small disk too.
func leaveLittleFree(dir string) error {
	home := filepath.Join(dir, "homes", "umbra")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(home, "config.yml"), []byte("storage: {keep_free: 1}\n"), 0o600)
}

// errNoRoom says that no small disk could be mounted.
var errNoRoom = errors.New("mount a small disk")
