package upkeep

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/flock"
	"github.com/umbra-vcs/umbra/gitstore/objects"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// sweepTemps removes temporary files of object writes.
func sweepTemps(ctx context.Context, s *shadow.Store, stats *SweepStats) error {
	return eachLeftover(ctx, s, time.Now(), func(path string, size int64) error {
		if err := os.Remove(path); err != nil {
			return err
		}
		stats.Temporary++
		stats.Bytes += size
		return nil
	})
}

// sweepQuarantines removes what a killed Repack left, unless its git still runs.
func sweepQuarantines(s *shadow.Store) error {
	return withQuarantines(s, func([]os.DirEntry) error { return clearQuarantines(s) })
}

// withQuarantines calls fn with what Repack has left, if it has ever run and
// nobody runs it now.
func withQuarantines(s *shadow.Store, fn func(left []os.DirEntry) error) error {
	if _, err := os.Lstat(filepath.Join(s.Dir(), repackDir)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	held, err := holdRepack(s)
	if errors.Is(err, ErrRepacking) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = flock.Release(held) }()
	left, err := os.ReadDir(held.Name())
	if err != nil {
		return err
	}
	return fn(left)
}

// eachLeftover calls fn for each temporary file of object writes whose writer is
// gone: ours, and packs that are being borrowed, are flocked while their writer
// lives; those of other programs, and a .keep, count after an hour. The flock is
// held during the call.
func eachLeftover(ctx context.Context, s *shadow.Store, now time.Time, fn func(path string, size int64) error) error {
	root := filepath.Join(s.Dir(), "objects")
	return filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		unfinished := func() bool { return isTemporary(e.Name()) || isUnfinished(s, path) }
		if e.IsDir() || !unfinished() {
			return nil
		}
		return objects.Leftover(path, now, func(path string, size int64) error {
			if !unfinished() { // whoever had the flock has named the index meanwhile
				return nil
			}
			return fn(path, size)
		})
	})
}

// isTemporary knows the names of git (tmp_pack_*, tmp_obj_*, .tmp-<pid>-pack-*)
// and of this package (tmp_umbra_*).
func isTemporary(name string) bool {
	return strings.HasPrefix(name, "tmp_") || strings.HasPrefix(name, ".tmp-")
}

// isUnfinished reports a pack that was being borrowed, or the .keep beside one,
// by a process that was killed before it named the index: nobody relies on it. A
// pack of our own is whole as soon as it has its name, and may have lost its
// index in other ways; so may a borrowed one that was verified.
func isUnfinished(s *shadow.Store, path string) bool {
	if base, ok := strings.CutSuffix(path, ".pack"); ok {
		return isUnindexed(path) && shadow.IsThere(filepath.Join(s.Dir(), shadow.UnverifiedDir, filepath.Base(base)))
	}
	base, ok := strings.CutSuffix(path, objects.KeepSuffix)
	return ok && !shadow.IsThere(base+".idx") && !shadow.IsThere(base+".pack") || ok && isUnfinished(s, base+".pack")
}

// isUnindexed reports a pack without an index.
func isUnindexed(path string) bool {
	base, ok := strings.CutSuffix(path, ".pack")
	if !ok {
		return false
	}
	_, err := os.Lstat(base + ".idx")
	return errors.Is(err, fs.ErrNotExist)
}

// sweepUnindexed makes the indexes of packs again that have none: of a process
// that was killed between the two names, or lost. What can't be had is left.
func sweepUnindexed(ctx context.Context, s *shadow.Store) error {
	files, err := unpaired(s)
	if err != nil {
		return err
	}
	for _, f := range files {
		if base, ok := strings.CutSuffix(f.Path, ".pack"); ok {
			if _, err := makeIndex(ctx, s, base, func() error { return nil }); err != nil {
				return err
			}
		}
	}
	return nil
}
