package upkeep

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/flock"
	"github.com/umbra-vcs/umbra/gitstore/objects"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// doubles removes what stands twice: packs all of whose objects are in other
// packs, and loose objects that are in a pack. A pack is believed only if its
// content has its checksum.
type doubles struct {
	ctx   context.Context
	store *shadow.Store
	stats *RepackStats
	packs []*objects.Pack
	sound map[*objects.Pack]bool
}

// dropDoubles needs the lock of Repack: of two that remove at once, each could
// rely on what the other removes.
func dropDoubles(ctx context.Context, s *shadow.Store, stats *RepackStats) error {
	// A pack that somebody wrote a moment ago may not have its name for good.
	if err := s.Syncer().Dir(s.PackDir()); err != nil {
		return err
	}
	if err := s.Rescan(); err != nil {
		return err
	}
	d := &doubles{ctx: ctx, store: s, stats: stats, packs: slices.Clone(s.Own().Packs), sound: map[*objects.Pack]bool{}}
	d.packs = slices.DeleteFunc(d.packs, func(p *objects.Pack) bool { return p.Broken != nil })
	if err := d.dropPacks(); err != nil {
		return err
	}
	if err := d.dropLoose(); err != nil {
		return err
	}
	return s.Rescan()
}

// dropPacks goes from the smallest up; each that is removed holds nothing up for
// the next.
func (d *doubles) dropPacks() error {
	all := slices.Clone(d.packs)
	slices.SortFunc(all, func(a, b *objects.Pack) int { return cmp.Compare(a.Count(), b.Count()) })
	for _, p := range all {
		others := slices.DeleteFunc(slices.Clone(d.packs), func(o *objects.Pack) bool { return o == p })
		// What a rotten index does not name may be nowhere else.
		if p.Kept() || p.VerifyIndex(d.ctx) != nil {
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

// holdAll reports whether sound packs hold every object of p.
func (d *doubles) holdAll(packs []*objects.Pack, p *objects.Pack) (bool, error) {
	for n := range p.Count() {
		if n%1024 == 0 && d.ctx.Err() != nil {
			return false, d.ctx.Err()
		}
		id, err := p.Name(n)
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
func (d *doubles) held(packs []*objects.Pack, id gitstore.ID) (bool, error) {
	for _, p := range packs {
		if _, ok, err := p.Find(id); !ok || err != nil {
			continue
		}
		sound, known := d.sound[p]
		if !known {
			_, err := p.Verify(d.ctx)
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

func (d *doubles) removePack(p *objects.Pack) error {
	hidden, err := d.hidePack(p)
	if err != nil {
		return err
	}
	return hidden.remove(d.stats)
}

// hiddenPack is what is left of a pack that nobody finds any more: a temporary file. It is held,
// so that no sweep removes it on the way of a snapshot.
type hiddenPack struct {
	path string   // "" if it was gone already
	held *os.File // nil if somebody else holds it, or it is gone
}

// hidePack takes a pack's names away. The pack itself gets the name of a temporary file: under its
// own name a fetch may bring the same pack again before this one is removed.
func (d *doubles) hidePack(p *objects.Pack) (h hiddenPack, err error) {
	h.held, err = flock.Hold(p.Base+".pack", os.O_RDONLY, unix.LOCK_EX)
	if err != nil && !flock.IsHeld(err) && !errors.Is(err, fs.ErrNotExist) {
		return h, err
	}
	d.stats.Packs++
	for _, suffix := range []string{".rev", ".bitmap", ".mtimes", ".idx"} {
		if err := removePackFile(p.Base+suffix, d.stats); err != nil {
			return h, errors.Join(err, h.release())
		}
	}
	to := flock.TempName(filepath.Dir(p.Base), "tmp_umbra_gone_*")
	info, err := takePackFile(p.Base+".pack", func(path string) error { return os.Rename(path, to) })
	if err != nil {
		return h, errors.Join(err, h.release())
	}
	if info != nil {
		h.path = to
	}
	return h, nil
}

func (h hiddenPack) release() error {
	if h.held == nil {
		return nil
	}
	return flock.Release(h.held)
}

func (h hiddenPack) remove(stats *RepackStats) error {
	if h.path == "" {
		return h.release()
	}
	return errors.Join(removePackFile(h.path, stats), h.release())
}

func removePackFile(path string, stats *RepackStats) error {
	info, err := takePackFile(path, os.Remove)
	if info != nil {
		stats.Freed += objects.OnDisk(info)
	}
	return err
}

// takePackFile has a file taken away, and says what it was, nil if it was not there.
func takePackFile(path string, take func(path string) error) (fs.FileInfo, error) {
	info, err := os.Lstat(path)
	if err == nil {
		failpoint.Hit("repack.pack.removing")
		err = take(path)
	}
	if err != nil {
		return nil, gitstore.Ignoring(err, fs.ErrNotExist)
	}
	return info, nil
}

// dropLoose keeps the directories: the next snapshots need them.
func (d *doubles) dropLoose() error {
	if len(d.packs) == 0 {
		return nil
	}
	dir := filepath.Join(d.store.Dir(), "objects")
	dirs, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range dirs {
		if len(e.Name()) != 2 || !e.IsDir() {
			continue
		}
		if err := d.dropLooseIn(filepath.Join(dir, e.Name()), e.Name()); err != nil {
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
		id, err := gitstore.ParseID(first + e.Name())
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
		d.stats.Freed += objects.OnDisk(info)
	}
	return nil
}
