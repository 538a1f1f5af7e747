package upkeep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/flock"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// ErrRepacking is returned by Repack while another process packs the same
// repository, or a git program that such a process left behind still does.
var ErrRepacking = errors.New("the repository is being repacked already")

// repackDir is where Repack lets git work. Its flock says that somebody does.
const repackDir = "umbra/repack"

// RepackStats says what Repack did.
type RepackStats struct {
	// Packed counts the objects of new packs.
	Packed int
	// Loose and Packs count what was removed because packs hold it all, Freed
	// what that took on disk less what the new packs take.
	Loose, Packs int
	Freed        int64
}

// Repack packs loose objects and small packs together with git's geometric
// repack, at a low priority, so that the packs' sizes form a progression
// and their number stays small. Every object stays: unreachable ones too.
//
// Git works in a quarantine, a directory that looks like this repository's
// objects: its temporary files are never among ours, and what it read stays as
// it was to the nanosecond, packs with a .keep above all. What it has made is
// proved, made durable and moved here; only then is what stands twice removed.
// So Repack may be killed at any instant, and snapshots may be taken meanwhile:
// an object moves, but is never absent, nor kept by something that power may
// take away. Readers that do not find it list the packs again.
//
// The caller holds the project's lock, shared. ErrRepacking says that somebody
// else is at it, git.ErrNotInstalled that there is no git.
func Repack(ctx context.Context, s *shadow.Store) (RepackStats, error) {
	var stats RepackStats
	held, err := holdRepack(s)
	if err != nil {
		return stats, err
	}
	defer func() { _ = flock.Release(held) }()
	if err := repack(ctx, s, held, &stats); err != nil {
		return stats, fmt.Errorf("repack %s: %w", s.Dir(), err)
	}
	return stats, nil
}

func repack(ctx context.Context, s *shadow.Store, held *os.File, stats *RepackStats) error {
	if err := clearQuarantines(s); err != nil {
		return err
	}
	if err := dropDoubles(ctx, s, stats); err != nil { // of a run that was cut off
		return err
	}
	q, err := newQuarantine(s)
	if err != nil {
		return err
	}
	defer q.remove()
	failpoint.Hit("repack.quarantined")
	if err := q.repack(ctx, held); err != nil {
		return err
	}
	failpoint.Hit("repack.packed")
	if err := q.adopt(ctx, stats); err != nil {
		return err
	}
	failpoint.Hit("repack.adopted")
	return dropDoubles(ctx, s, stats)
}

// holdRepack takes the lock that keeps all but one Repack away. Git inherits it:
// it is free only when git has ended too.
func holdRepack(s *shadow.Store) (*os.File, error) {
	dir := filepath.Join(s.Dir(), repackDir)
	if err := disk.MakeDirs(s.Dir(), dir); err != nil {
		return nil, err
	}
	f, err := flock.Hold(dir, os.O_RDONLY, unix.LOCK_EX)
	if flock.IsHeld(err) && errors.Is(err, unix.EWOULDBLOCK) {
		err = ErrRepacking
	}
	return f, err
}

// awaitRepack takes the lock of Repack once nobody else has it.
func awaitRepack(ctx context.Context, s *shadow.Store) (*os.File, error) {
	for {
		held, err := holdRepack(s)
		if !errors.Is(err, ErrRepacking) {
			return held, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// clearQuarantines removes what a killed Repack left. The caller holds its lock.
func clearQuarantines(s *shadow.Store) error {
	dir := filepath.Join(s.Dir(), repackDir)
	left, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range left {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
