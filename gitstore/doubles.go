package gitstore

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/flock"
)

// doubles removes what stands twice: packs all of whose objects are in other
// packs, and loose objects that are in a pack. A pack is believed only if its
// content has its checksum.
type doubles struct {
	ctx   context.Context
	store *Store
	stats *RepackStats
	packs []*pack
	sound map[*pack]bool
}

// dropDoubles needs the lock of Repack: of two that remove at once, each could
// rely on what the other removes.
func (s *Store) dropDoubles(ctx context.Context, stats *RepackStats) error {
	// A pack that somebody wrote a moment ago may not have its name for good.
	if err := s.sync.Dir(s.packDir()); err != nil {
		return err
	}
	if err := s.rescan(); err != nil {
		return err
	}
	d := &doubles{ctx: ctx, store: s, stats: stats, packs: slices.Clone(s.own().packs), sound: map[*pack]bool{}}
	d.packs = slices.DeleteFunc(d.packs, func(p *pack) bool { return p.broken != nil })
	if err := d.dropPacks(); err != nil {
		return err
	}
	if err := d.dropLoose(); err != nil {
		return err
	}
	return s.rescan()
}

// dropPacks goes from the smallest up; each that is removed holds nothing up for
// the next.
func (d *doubles) dropPacks() error {
	all := slices.Clone(d.packs)
	slices.SortFunc(all, func(a, b *pack) int { return cmp.Compare(a.count(), b.count()) })
	for _, p := range all {
		others := slices.DeleteFunc(slices.Clone(d.packs), func(o *pack) bool { return o == p })
		// What a rotten index does not name may be nowhere else.
		if p.kept() || p.verifyIndex(d.ctx) != nil {
			continue
		}
		double, err := d.holdAll(others, p)
		if err != nil {
			return err
		}
		if !double {
			continue
		}
		d.packs = others
		if err := d.removePack(p); err != nil {
			return err
		}
	}
	return nil
}

func (p *pack) kept() bool {
	_, err := os.Lstat(p.base + keepSuffix)
	return err == nil
}

// holdAll reports whether sound packs hold every object of p.
func (d *doubles) holdAll(packs []*pack, p *pack) (bool, error) {
	for n := range p.count() {
		if n%1024 == 0 && d.ctx.Err() != nil {
			return false, d.ctx.Err()
		}
		id, err := p.name(n)
		if err != nil {
			return false, err
		}
		held, err := d.held(packs, id)
		if !held || err != nil {
			return false, err
		}
	}
	return true, nil
}

// held reports whether a sound pack has the object.
func (d *doubles) held(packs []*pack, id ID) (bool, error) {
	for _, p := range packs {
		if _, ok, err := p.find(id); !ok || err != nil {
			continue
		}
		sound, known := d.sound[p]
		if !known {
			_, err := p.verify(d.ctx)
			if d.ctx.Err() != nil {
				return false, d.ctx.Err()
			}
			sound = err == nil
			d.sound[p] = sound
		}
		if sound {
			return true, nil
		}
	}
	return false, nil
}

// removePack removes the index first, so that nobody begins to read the rest, and
// holds the pack meanwhile, so that no sweep makes the index again.
func (d *doubles) removePack(p *pack) error {
	held, err := flock.Hold(p.base+".pack", os.O_RDONLY, unix.LOCK_EX)
	if err == nil {
		defer func() { _ = flock.Release(held) }()
	} else if !flock.IsHeld(err) && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	d.stats.Packs++
	for _, suffix := range []string{".idx", ".pack", ".rev", ".bitmap", ".mtimes"} {
		info, err := os.Lstat(p.base + suffix)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			failpoint.Hit("repack.pack.removing")
			err = os.Remove(p.base + suffix)
		}
		if err != nil {
			return err
		}
		d.stats.Freed += onDisk(info)
	}
	return nil
}

// onDisk is what a file takes, in bytes: small ones take more than they hold.
func onDisk(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Blocks * 512
	}
	return info.Size()
}

// dropLoose keeps the directories: the next snapshots need them.
func (d *doubles) dropLoose() error {
	if len(d.packs) == 0 {
		return nil
	}
	objects := filepath.Join(d.store.dir, "objects")
	dirs, err := os.ReadDir(objects)
	if err != nil {
		return err
	}
	for _, e := range dirs {
		if len(e.Name()) != 2 || !e.IsDir() {
			continue
		}
		if err := d.dropLooseIn(filepath.Join(objects, e.Name()), e.Name()); err != nil {
			return err
		}
	}
	return nil
}

func (d *doubles) dropLooseIn(dir, first string) error {
	names, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range names {
		if err := d.ctx.Err(); err != nil {
			return err
		}
		id, err := ParseID(first + e.Name())
		if err != nil {
			continue
		}
		held, err := d.held(d.packs, id)
		if err != nil {
			return err
		}
		if !held {
			continue
		}
		info, err := e.Info()
		if err == nil {
			failpoint.Hit("repack.loose.removing")
			err = os.Remove(filepath.Join(dir, e.Name()))
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		d.stats.Loose++
		d.stats.Freed += onDisk(info)
	}
	return nil
}
