package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/scripts/lab"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// A long history of which most is pruned, as it is after months: turns of ten snapshots, and
// in one snapshot of 25 a file of 5 MB that is written anew.
const (
	turnOf     = 10
	largeEvery = 25
	largeFiles = 5
	largeSize  = 5 << 20
	// longAgo is how far the clock is set back while the history is made: past the 30 days that
	// the default policy keeps.
	longAgo = "-960h"
	// mostLate is how many hooks may give up before that is a finding.
	mostLate = 10
)

// pruned is that history, and what is known of it.
type pruned struct {
	*subject
	umbra  *lab.Umbra
	taken  int
	late   int               // hooks that gave up while the history was made
	sample map[string]string // by snapshot that is to stay: the tree that git makes of the files
}

// measurePruned measures what an agent has to wait for while a long history is pruned, and what
// is left of it then.
func measurePruned(ctx context.Context, b *bench) error {
	f := b.goal("P16")
	h, err := b.longHistory(ctx, b.samples(b.snapshots, b.snapshots/10))
	if err != nil {
		return err
	}
	before, err := h.ids(ctx)
	if err != nil {
		return err
	}
	held, err := lab.Weigh(h.session.Mission.Shadow)
	if err != nil {
		return err
	}
	if err := h.pruneBesideHooks(ctx, b, f); err != nil {
		return err
	}
	after, err := h.ids(ctx)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, id := range before {
		known[id] = true
	}
	stayed := 0
	for _, id := range after {
		if known[id] {
			stayed++
		}
	}
	if h.late > 0 {
		f.note("%d hooks gave up while the history was made", h.late)
	}
	f.note("%d snapshots were pruned, %d of before stay, of those that are pinned %d; %d came meanwhile; the repository took %s MB",
		len(before)-stayed, stayed, len(h.sample), len(after)-stayed, number(megabytes(held.Bytes)))
	if _, err := h.session.Stop(ctx); err != nil {
		return err
	}
	if err := h.restoreSample(ctx, f); err != nil {
		return err
	}
	// What is done when nobody works is part of it.
	if _, err := h.daemon.During(ctx, lab.Pause); err != nil {
		return err
	}
	if err := h.daemon.Rest(ctx, 2*time.Second); err != nil {
		return err
	}
	return h.weighPruned(ctx, b, f)
}

// longHistory makes a mission with that many snapshots in T10k, all of which were long ago. Ten
// of them are pinned.
func (b *bench) longHistory(ctx context.Context, snapshots int) (*pruned, error) {
	binary := filepath.Join(b.Stage.Dir, "clockwork", "umbra")
	if err := lab.Build(ctx, b.Top, "./commands/clockwork", binary); err != nil {
		return nil, err
	}
	u, err := lab.NewUmbra(binary, filepath.Join(b.Stage.Dir, "homes", "pruned"))
	if err != nil {
		return nil, err
	}
	b.homes = append(b.homes, u)
	if err := os.WriteFile(filepath.Join(u.Base, "home", "clock"), []byte(longAgo), 0o600); err != nil {
		return nil, err
	}
	daemon, err := u.Start(ctx)
	if err != nil {
		return nil, err
	}
	t, err := b.checkout(ctx, "T10k")
	if err != nil {
		return nil, err
	}
	h := &pruned{umbra: u, sample: map[string]string{}, subject: &subject{tree: t, session: u.NewSession(t.dir, 1), daemon: daemon.PID}}
	if h.native, err = b.native(ctx, "pruned-T10k", t); err != nil {
		return nil, err
	}
	if _, err := h.native.Snapshot(ctx); err != nil {
		return nil, err
	}
	if err := h.session.Begin(ctx); err != nil {
		return nil, err
	}
	if err := u.Watched(ctx, t.directories); err != nil {
		return nil, err
	}
	for h.taken < snapshots {
		if err := h.step(ctx); err != nil {
			return nil, err
		}
		if h.taken%max(1, snapshots/10) == 5 {
			if err := h.pin(ctx); err != nil {
				return nil, err
			}
		}
	}
	if _, err := h.session.Stop(ctx); err != nil {
		return nil, err
	}
	if err := u.Stop(); err != nil {
		return nil, err
	}
	if err := os.Remove(filepath.Join(u.Base, "home", "clock")); err != nil {
		return nil, err
	}
	if daemon, err = u.Start(ctx); err != nil {
		return nil, err
	}
	h.daemon = daemon.PID
	if _, err := h.session.Prompt(ctx); err != nil {
		return nil, err
	}
	return h, u.Watched(ctx, t.directories)
}

// step is a snapshot of a file of the tree, or of a large one; each tenth ends a turn.
func (h *pruned) step(ctx context.Context) error {
	if err := h.write(); err != nil {
		return err
	}
	if _, err := h.hook(ctx, true); err != nil {
		// On a machine that is busy with other things a hook may give up: the next one has it all.
		if h.late++; h.late > mostLate {
			return fmt.Errorf("snapshot %d: %w", h.taken, err)
		}
	}
	if h.taken%turnOf != 0 {
		return nil
	}
	if _, err := h.session.Stop(ctx); err != nil {
		return err
	}
	_, err := h.session.Prompt(ctx)
	return err
}

func (h *pruned) write() error {
	h.taken++
	if h.taken%largeEvery == 0 {
		return os.WriteFile(filepath.Join(h.dir, "large"+strconv.Itoa(h.taken/largeEvery%largeFiles)+".bin"), noise(uint64(h.taken)), 0o644)
	}
	return h.edit(1, h.taken)
}

// noise is a large file's content, of which nothing is like that of another.
func noise(seed uint64) []byte {
	r := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16)})
	content := make([]byte, largeSize)
	_, _ = r.Read(content) // it can't fail
	return content
}

// pin pins the newest snapshot, and notes what git makes of the files.
func (h *pruned) pin(ctx context.Context) error {
	id, err := h.session.Tip(ctx)
	if err != nil {
		return err
	}
	if _, _, err := h.umbra.Run(ctx, h.dir, "pin", id, "sample-"+strconv.Itoa(len(h.sample))); err != nil {
		return err
	}
	h.sample[id], err = h.filesTree(ctx)
	return err
}

// filesTree is the tree that git makes of the workspace.
func (h *pruned) filesTree(ctx context.Context) (string, error) {
	if _, _, err := h.native.Git(ctx, "add", "-A"); err != nil {
		return "", err
	}
	_, tree, err := h.native.Git(ctx, "write-tree")
	return tree, err
}

// ids are the snapshots of the mission that are there.
func (h *pruned) ids(ctx context.Context) ([]string, error) {
	out, err := h.session.Mission.Git(ctx, "rev-list", h.session.Mission.Ref)
	return strings.Fields(out), err
}

// pruneBesideHooks has the agent work on, before the prune, as long as it lasts, and after it.
func (h *pruned) pruneBesideHooks(ctx context.Context, b *bench, f *finding) error {
	late := 0
	work := func(done <-chan error) (hooks lab.Costs, err error) {
		for n := 0; ; n++ {
			select {
			case err = <-done:
				return hooks, err
			default:
			}
			if done == nil && n == b.samples(300, 60) {
				return hooks, nil
			}
			if err := h.write(); err != nil {
				return nil, err
			}
			cost, err := h.hook(ctx, true)
			if err != nil && ctx.Err() != nil {
				return nil, err
			}
			if err != nil { // it counts for as long as it has waited
				late++
			}
			hooks = append(hooks, cost)
		}
	}
	before, err := work(nil)
	if err != nil {
		return err
	}
	lateBefore := late
	done := make(chan error, 1)
	var cost lab.Cost
	go func() {
		var err error
		var said string
		cost, said, err = h.umbra.Run(ctx, h.dir, "prune", "--yes")
		if err == nil {
			f.note("umbra prune: %s", oneLine(lastLine(said)))
		}
		done <- err
	}()
	during, err := work(done)
	if err != nil {
		return err
	}
	lateDuring := late - lateBefore
	after, err := work(nil)
	if err != nil {
		return err
	}
	f.add(line{"hook, 1 file, before a prune", before, nil})
	f.add(line{"hook, 1 file, while it prunes", during, nil})
	f.add(line{"hook, 1 file, after it", after, nil})
	f.note("the prune took %s, in which %d hooks came; the slowest waited for %s, of those without a prune %s",
		cost.Wall.Round(100*time.Millisecond), len(during), duration(slices.Max(during.Walls())), duration(slices.Max(append(before.Walls(), after.Walls()...))))
	if late > 0 {
		f.note("hooks that gave up, and whose files the next one took: %d before the prune, %d while it ran, %d after it", lateBefore, lateDuring, late-lateBefore-lateDuring)
	}
	f.within("hook's p95 meanwhile", during.Walls().Percentile(95), 20*time.Millisecond)
	f.most("of the p95 without", float64(during.Walls().Percentile(95))/float64(append(before, after...).Walls().Percentile(95)), 2, "×")
	return nil
}

func lastLine(text string) string { return text[strings.LastIndexByte(text, '\n')+1:] }

// restoreSample puts each pinned snapshot back, and holds the files against what they were.
func (h *pruned) restoreSample(ctx context.Context, f *finding) error {
	var errs []error
	for id, tree := range h.sample {
		if _, _, err := h.umbra.Run(ctx, h.dir, "restore", id, "--files-only", "--yes"); err != nil {
			return err
		}
		now, err := h.filesTree(ctx)
		if err != nil {
			return err
		}
		if now != tree {
			errs = append(errs, fmt.Errorf("%s was put back as %s, and was %s", id, now, tree))
		}
	}
	f.least("restored exactly", float64(len(h.sample)-len(errs)), float64(len(h.sample)), "")
	return errors.Join(errs...)
}

// tidied waits until the daemon has packed what was written last.
func (h *pruned) tidied(ctx context.Context, shadow string) error {
	ctx, cancel := context.WithTimeout(ctx, patience.Of(5*time.Minute))
	defer cancel()
	for {
		now, err := lab.Weigh(shadow)
		if err == nil && now.Loose == 0 { // with an error files came and went meanwhile
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, fmt.Errorf("%d objects are loose still: %w", now.Loose, ctx.Err()))
		case <-time.After(time.Second):
		}
	}
}

// weighPruned compares what is left with what git makes of a copy.
func (h *pruned) weighPruned(ctx context.Context, b *bench, f *finding) error {
	shadow := h.session.Mission.Shadow
	if err := h.tidied(ctx, shadow); err != nil {
		return err
	}
	if err := h.umbra.Stop(); err != nil { // nothing is to change while it is copied
		return err
	}
	now, err := lab.Weigh(shadow)
	if err != nil {
		return err
	}
	collected, err := lab.WeighCollected(ctx, shadow, filepath.Join(b.Stage.Dir, "pruned-gc.git"))
	if err != nil {
		return err
	}
	if _, err := h.session.Mission.Git(ctx, "fsck", "--full", "--no-progress"); err != nil {
		return err
	}
	if _, said, err := h.umbra.Run(ctx, h.dir, "doctor"); err != nil {
		return fmt.Errorf("doctor: %w: %s", err, said)
	}
	f.most("size over git gc", float64(now.Bytes)/float64(collected.Bytes), 1.1, "×")
	f.note("then the repository has %d loose objects and %d packs and takes %s MB; after a fresh `git gc` %s MB",
		now.Loose, now.Packs, number(megabytes(now.Bytes)), number(megabytes(collected.Bytes)))
	return nil
}
