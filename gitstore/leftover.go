package gitstore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/flock"
)

// foreignTempAge is how old a temporary file of another program, which holds no
// flock, must be to count as left behind.
const foreignTempAge = time.Hour

// sweepTemps removes temporary files of object writes.
func (s *Store) sweepTemps(ctx context.Context, stats *SweepStats) error {
	return s.eachLeftover(ctx, time.Now(), func(path string, size int64) error {
		if err := os.Remove(path); err != nil {
			return err
		}
		stats.Temporary++
		stats.Bytes += size
		return nil
	})
}

// sweepQuarantines removes what a killed Repack left, unless its git still runs.
func (s *Store) sweepQuarantines() error {
	return s.withQuarantines(func([]os.DirEntry) error { return s.clearQuarantines() })
}

// withQuarantines calls fn with what Repack has left, if it has ever run and
// nobody runs it now.
func (s *Store) withQuarantines(fn func(left []os.DirEntry) error) error {
	if _, err := os.Lstat(filepath.Join(s.dir, repackDir)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	held, err := s.holdRepack()
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
func (s *Store) eachLeftover(ctx context.Context, now time.Time, fn func(path string, size int64) error) error {
	root := filepath.Join(s.dir, "objects")
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
		unfinished := func() bool { return isTemporary(e.Name()) || s.isUnfinished(path) }
		if e.IsDir() || !unfinished() {
			return nil
		}
		return leftover(path, now, func(path string, size int64) error {
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
func (s *Store) isUnfinished(path string) bool {
	if base, ok := strings.CutSuffix(path, ".pack"); ok {
		return isUnindexed(path) && isThere(filepath.Join(s.dir, unverifiedDir, filepath.Base(base)))
	}
	base, ok := strings.CutSuffix(path, keepSuffix)
	return ok && !isThere(base+".idx") && !isThere(base+".pack") || ok && s.isUnfinished(base+".pack")
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
func (s *Store) sweepUnindexed(ctx context.Context) error {
	files, err := s.unpaired()
	if err != nil {
		return err
	}
	for _, f := range files {
		if base, ok := strings.CutSuffix(f.Path, ".pack"); ok {
			if _, err := s.makeIndex(ctx, base, func() error { return nil }); err != nil {
				return err
			}
		}
	}
	return nil
}

func leftover(path string, now time.Time, fn func(path string, size int64) error) error {
	f, err := flock.Hold(path, os.O_RDONLY, unix.LOCK_EX)
	if flock.IsHeld(err) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = flock.Release(f) }()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	name := filepath.Base(path)
	ours := strings.HasPrefix(name, "tmp_umbra_") || strings.HasPrefix(name, "pack-") && filepath.Ext(name) == ".pack"
	if !fi.Mode().IsRegular() || !ours && now.Sub(fi.ModTime()) < foreignTempAge {
		return nil
	}
	return fn(path, fi.Size())
}
