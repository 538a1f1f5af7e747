package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/scripts/patience"
)

// compare holds the snapshots that were told of since it was called last against
// what the workspace held then.
func (w *world) compare(ctx context.Context) error {
	for _, id := range w.fresh {
		text, err := w.shadow(ctx, "ls-tree", "-r", "-z", "--full-tree", id)
		if err != nil {
			return fmt.Errorf("snapshot %s: %w", id, err)
		}
		if d := listed(text).differs(w.acked[id]); d != "" {
			return fmt.Errorf("snapshot %s does not hold what was there:\n%s", id, d)
		}
	}
	w.fresh = nil
	return nil
}

// quick looks at the workspace: wholly old or wholly new, but for what the command
// has said that it left.
func (w *world) quick(s scene, f fate) error {
	if s.old == nil {
		return nil // settle knows
	}
	held, kept, err := survey(w.work)
	if err != nil {
		return err
	}
	if d := kept.differs(w.kept); d != "" {
		return fmt.Errorf("ignored files:\n%s", d)
	}
	was := held.differs(s.old)
	if s.new == nil {
		if was != "" {
			return fmt.Errorf("the workspace is not what it was:\n%s", was)
		}
		return nil
	}
	left := held.unfolded(f.leftPaths(), s.new)
	is := held.without(left).differs(s.new.without(left))
	switch {
	case is == "":
		if d := held.only(left).differs(s.old.only(left)); d != "" {
			return fmt.Errorf("what is said to be left is not as it was:\n%s", d)
		}
	case was != "":
		return fmt.Errorf("the workspace is neither what it was:\n%s\nnor what it was to be, but for %q:\n%s", was, left, is)
	case !f.killed && (f.code == 0 || f.code == partlyCode):
		return fmt.Errorf("it was told of as done, and the workspace is what it was; it was to be otherwise:\n%s", is)
	}
	return nil
}

// full looks at everything: after one start of a daemon, no invariant is broken
// and nothing is left over; each snapshot that was told of is in the history, and
// one of them is restored.
func (w *world) full(ctx context.Context) error {
	if err := w.started(ctx); err != nil {
		return err
	}
	if err := w.doctor(ctx); err != nil {
		return err
	}
	if said, err := w.shadow(ctx, "fsck", "--full", "--no-progress"); err != nil || strings.TrimSpace(dangling(said)) != "" {
		return fmt.Errorf("git fsck --full: %w %s", err, said)
	}
	for _, root := range []string{w.work} {
		if said, err := w.git(ctx, root, "fsck", "--full", "--no-progress"); err != nil {
			return fmt.Errorf("git fsck --full in the user's repository: %w %s", err, said)
		}
	}
	if err := w.compare(ctx); err != nil {
		return err
	}
	if err := w.history(ctx); err != nil {
		return err
	}
	if err := w.clean(ctx); err != nil {
		return err
	}
	if err := w.named(ctx); err != nil {
		return err
	}
	return w.restoreOne(ctx)
}

// unindexed is what doctor says of a pack whose process was killed between the two
// names that a pack has. It may be another program's, so that it stays for a while.
const unindexed = "its index is gone"

// doctor finds nothing, or packs without an index, which it mends.
func (w *world) doctor(ctx context.Context) error {
	_, err := w.alone(ctx, w.work, "doctor")
	if err == nil {
		return nil
	}
	problems := 0
	for line := range strings.Lines(err.Error()) {
		if !strings.HasPrefix(line, "problem:") {
			continue
		}
		if problems++; !strings.Contains(line, unindexed) {
			return fmt.Errorf("umbra doctor: %w", err)
		}
	}
	if problems == 0 {
		return fmt.Errorf("umbra doctor: %w", err)
	}
	if _, err := w.alone(ctx, w.work, "doctor", "--fix"); err != nil {
		return fmt.Errorf("umbra doctor --fix: %w", err)
	}
	if _, err := w.alone(ctx, w.work, "doctor"); err != nil {
		return fmt.Errorf("umbra doctor after umbra doctor --fix: %w", err)
	}
	return nil
}

// dangling takes lines about unreachable objects, which kills leave, out of what
// fsck says.
func dangling(said string) string {
	var rest []string
	for line := range strings.Lines(said) {
		if !strings.HasPrefix(line, "dangling ") {
			rest = append(rest, line)
		}
	}
	return strings.Join(rest, "")
}

// started starts a daemon once, waits until nothing is left over, and stops it.
func (w *world) started(ctx context.Context) error {
	if _, err := w.umbra.Start(ctx); err != nil {
		return err
	}
	return errors.Join(cleared(filepath.Join(w.umbra.Base, "umbra"), w.work, w.dir+"/forks"), w.umbra.Stop())
}

// cleared waits until a daemon has left nothing over in some places.
func cleared(places ...string) (left error) {
	patience.Until(time.Minute, func() bool {
		left = nil
		for _, place := range places {
			left = errors.Join(left, leftovers(place))
		}
		return left == nil
	})
	return left
}

// leftovers is an error that names what a killed process has left below dir.
func leftovers(dir string) error {
	var left []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if path == filepath.Join(dir, "trash") {
			return filepath.SkipDir // what was set aside stays until it is pruned
		}
		name, in := e.Name(), filepath.Base(filepath.Dir(path))
		switch {
		case strings.HasPrefix(name, "tmp_"), strings.HasPrefix(name, ".tmp-"), strings.HasPrefix(name, scratch),
			strings.HasPrefix(name, ".new-"), strings.HasSuffix(name, ".lock") && in != "locks",
			in == "reflocks", in == "repack", in == "journal" && len(name) == 36:
			left = append(left, path)
		}
		return nil
	})
	if len(left) > 0 {
		err = errors.Join(err, fmt.Errorf("left over: %s", strings.Join(left, ", ")))
	}
	return err
}

// history checks that all that was told of is in the mission's history, which is
// linear by first parents. A second parent is the fork's snapshot that was promoted or
// merged.
func (w *world) history(ctx context.Context) error {
	text, err := w.shadow(ctx, "log", "--first-parent", "--format=%H %P|%(trailers:key=Umbra-Promoted-From,valueonly,separator=)|%(trailers:key=Umbra-Trigger,valueonly,separator=)", w.mission.Ref)
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for line := range strings.Lines(text) {
		commit, why, _ := strings.Cut(strings.TrimSpace(line), "|")
		ids := strings.Fields(commit)
		joins := len(ids) == 3 && (strings.HasPrefix(why, ids[2]+"|") || strings.HasSuffix(why, "|merge"))
		if len(ids) > 2 && !joins {
			return fmt.Errorf("snapshot %s has %d parents", ids[0], len(ids)-1)
		}
		if len(ids) > 0 {
			there[ids[0]] = true
		}
	}
	for _, id := range w.order {
		if !there[id] {
			return fmt.Errorf("snapshot %s was told of, and is not in the mission's history of %d", id, len(there))
		}
	}
	return nil
}

// clean checks that nothing of Umbra's is in the user's repository (I5).
func (w *world) clean(ctx context.Context) error {
	refs, err := w.git(ctx, w.work, "for-each-ref", "--format=%(refname)")
	if err != nil || strings.TrimSpace(refs) != "refs/heads/main" {
		return fmt.Errorf("the user's repository has the refs %s (%v)", refs, err)
	}
	trees, err := w.git(ctx, w.work, "worktree", "list")
	if err != nil || len(strings.Split(strings.TrimSpace(trees), "\n")) != 1 {
		return fmt.Errorf("the user's repository has the worktrees %s (%v)", trees, err)
	}
	if _, err := os.Lstat(filepath.Join(w.work, ".git", "worktrees")); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("the user's repository has .git/worktrees (%v)", err)
	}
	return nil
}

// restoreOne takes the workspace to a moment and back, undisturbed (I7).
func (w *world) restoreOne(ctx context.Context) error {
	w.made++
	if err := w.write(filepath.Join(w.work, "restored"), fmt.Sprintln(w.made)); err != nil {
		return err
	}
	before, _, err := survey(w.work)
	if err != nil {
		return err
	}
	id := w.anyMoment()
	if said, err := w.alone(ctx, w.work, "restore", id, "--all"); err != nil {
		return fmt.Errorf("restore %s: %w %s", id, err, said)
	}
	held, _, err := survey(w.work)
	if err != nil {
		return err
	}
	if d := held.differs(w.acked[id]); d != "" {
		return fmt.Errorf("restored %s is not what was there:\n%s", id, d)
	}
	if said, err := w.alone(ctx, w.work, "undo"); err != nil {
		return fmt.Errorf("undo: %w %s", err, said)
	}
	if held, _, err = survey(w.work); err != nil {
		return err
	}
	if d := held.differs(before); d != "" {
		return fmt.Errorf("undo of a restore is not what was there:\n%s", d)
	}
	return nil
}
