package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// copyGoSource copies the source of Go.
func copyGoSource(ctx context.Context, dir string) error {
	root := said(ctx, "go", "env", "GOROOT")
	_, _, err := lab.Command{Args: []string{"cp", "-a", filepath.Join(root, "src", "."), dir}, Env: os.Environ()}.Run(ctx)
	return err
}

// measureFirst measures first snapshots: of plain directories, and then of the
// same directories as checkouts.
func measureFirst(ctx context.Context, b *bench) error {
	trees := []struct {
		name   string
		rounds int
	}{{"T1k", b.samples(5, 2)}, {"T10k", b.samples(3, 1)}, {"Tgo", b.samples(2, 1)}, {"T100k", b.samples(1, 0)}}
	for _, seeded := range []bool{false, true} {
		goal := map[bool]string{false: "P4", true: "P5"}[seeded]
		if !b.wanted(goal) {
			continue
		}
		f := b.goal(goal)
		for _, t := range trees {
			if t.rounds == 0 {
				continue
			}
			if err := b.first(ctx, f, t.name, t.rounds, seeded); err != nil {
				return fmt.Errorf("first snapshot of %s: %w", t.name, err)
			}
		}
		if err := b.firstTraced(ctx, f, seeded); err != nil {
			f.note("system calls were not counted: %s", oneLine(err.Error()))
		}
	}
	return nil
}

// first measures the first snapshot of one tree, in turn with native git.
func (b *bench) first(ctx context.Context, f *finding, name string, rounds int, seeded bool) error {
	make := b.tree
	if seeded {
		make = b.checkout
	}
	t, err := make(ctx, name)
	if err != nil {
		return err
	}
	var own, peers lab.Costs
	for round := range rounds {
		id := fmt.Sprintf("first-%s-%v-%d", name, seeded, round)
		u, err := b.home(id)
		if err != nil {
			return err
		}
		if err := b.Stage.Settle(ctx); err != nil {
			return err
		}
		cost, err := firstSnapshot(ctx, u, t)
		if err != nil {
			return err
		}
		own = append(own, cost)
		native, err := b.native(ctx, id, t)
		if err != nil {
			return err
		}
		if err := b.Stage.Settle(ctx); err != nil {
			return err
		}
		if cost, err = native.Snapshot(ctx); err != nil {
			return err
		}
		peers = append(peers, cost)
	}
	f.add(line{fmt.Sprintf("%s (%d files)", name, t.count), own, []peer{{"native git", peers}}})
	least := map[bool]float64{false: 3.5, true: 20}[seeded]
	f.least(name, lab.Ratio(own.Walls(), peers.Walls()), least, "×")
	if !seeded {
		f.most(name+" memory", megabytes(own.Peak()), 100, " MB")
	}
	return nil
}

// firstSnapshot makes a mission, which takes its first snapshot, in a process of
// its own, whose memory is then all there is.
func firstSnapshot(ctx context.Context, u *lab.Umbra, t *tree) (lab.Cost, error) {
	cost, _, err := u.Run(ctx, t.dir, "--no-daemon", "mission", "new", "--no-launch", "--", "true")
	if err != nil {
		return cost, err
	}
	list, err := u.Missions(ctx)
	if err != nil {
		return cost, err
	}
	at := slices.IndexFunc(list, func(m lab.Mission) bool { return m.Workspace == t.dir })
	if at < 0 {
		return cost, fmt.Errorf("no mission was made in %s", t.dir)
	}
	names, err := list[at].Git(ctx, "ls-tree", "-r", "--name-only", list[at].Ref)
	if err != nil {
		return cost, err
	}
	n := strings.Count(names, "\n") + 1
	// The source of Go holds a few keys and certificates, which are skipped.
	if t.files != nil && n != t.count || n < t.count*99/100 {
		return cost, fmt.Errorf("the snapshot holds %d files of %d", n, t.count)
	}
	return cost, nil
}

// firstTraced counts what can't be seen from outside: fsyncs, and files of the
// workspace that were opened.
func (b *bench) firstTraced(ctx context.Context, f *finding, seeded bool) error {
	t, err := b.tree(ctx, "T1k")
	if err != nil {
		return err
	}
	u, err := b.home(fmt.Sprintf("first-traced-%v", seeded))
	if err != nil {
		return err
	}
	calls, err := trace(ctx, u.Command(t.dir, "--no-daemon", "mission", "new", "--no-launch", "--name", "first", "--", "true"))
	if err != nil {
		return err
	}
	f.note("T1k: %d fsyncs, %d of its %d files opened", calls.syncs(), calls.opened(t), t.count)
	if seeded {
		f.most("T1k: files opened", float64(calls.opened(t)), 0, "")
	}
	return nil
}
