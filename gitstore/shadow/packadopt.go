package shadow

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/flock"
	"github.com/umbra-vcs/umbra/gitstore/objects"
)

// AdoptedPack is a pack that git has made elsewhere and that is the repository's now.
type AdoptedPack struct {
	Objects      int
	Bytes, Index int64 // of the pack, and what its index takes on the disk
	WasThere     bool  // the repository had it already
}

// AdoptPack moves a pack that git has made in a directory of this file system, by its path
// without extension, to the repository: proved and durable, but for its names.
func AdoptPack(ctx context.Context, s *Store, from string) (made AdoptedPack, err error) {
	info, err := os.Lstat(from + ".idx")
	if err != nil {
		return made, err
	}
	p, err := s.OpenPack(from, info)
	if err != nil {
		return made, err
	}
	defer s.ClosePack(from)
	made.Objects, made.Index = p.Count(), objects.OnDisk(info)
	if made.Bytes, err = p.Verify(ctx); err != nil {
		return made, fmt.Errorf("git made a bad pack: %w", err)
	}
	to := filepath.Join(s.PackDir(), filepath.Base(from))
	if IsThere(to+".idx") && IsThere(to+".pack") {
		made.WasThere = true // named after its content
		return made, nil
	}
	for _, suffix := range []string{".pack", ".idx"} {
		if err := s.SyncPath(from + suffix); err != nil {
			return made, err
		}
	}
	// A pack without index that nobody holds is one that was left behind.
	held, err := flock.Hold(from+".pack", os.O_RDONLY, unix.LOCK_SH)
	if err != nil && !flock.IsHeld(err) { // by a reader of the bytes, or the file system has no flocks
		return made, err
	}
	if err == nil {
		defer func() { _ = flock.Release(held) }()
	}
	for _, suffix := range []string{".pack", ".idx"} {
		failpoint.Hit("pack.naming")
		if err := os.Rename(from+suffix, to+suffix); err != nil {
			return made, err
		}
	}
	return made, nil
}
