package shadow

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/objects"
)

// Relied is what somebody else may have brought here a moment ago, on which a
// batch or a Borrow relies: names, and content of the user's, that power may
// still take away.
type Relied struct {
	Packs map[*objects.Pack]bool
	Loose []gitstore.ID // stored loose, by whomever
}

// freshPack is the age up to which a name made by another process may not be
// durable yet.
const freshPack = time.Minute

func (r *Relied) on(p *objects.Pack) {
	if p.Durable.Load() || time.Since(p.Named) >= freshPack {
		return
	}
	if r.Packs == nil {
		r.Packs = map[*objects.Pack]bool{}
	}
	r.Packs[p] = true
}

// OnAll notes that objects are relied on where they were found.
func (r *Relied) OnAll(at []objects.Location, ids []gitstore.ID) {
	for i, l := range at {
		switch {
		case l.Pack != nil:
			r.on(l.Pack)
		case l.Loose != "":
			r.Loose = append(r.Loose, ids[i])
		}
	}
}

// Secure makes durable what is relied on; packsNamed says that the names of all
// packs are. What this package has written is durable before it has its name,
// what was borrowed only when its Borrow has returned.
func (s *Store) Secure(r *Relied, packsNamed bool) error {
	if len(r.Loose) > 0 && s.borrowedLately() {
		whole, err := s.SyncLoose(r.Loose)
		if err != nil {
			return err
		}
		if whole {
			r.Settled()
			return nil
		}
	}
	if err := s.syncPacks(r, packsNamed); err != nil {
		return err
	}
	r.Settled()
	return nil
}

// Settled notes that all packs that are relied on are durable.
func (r *Relied) Settled() {
	for p := range r.Packs {
		p.Durable.Store(true)
	}
}

// syncPacks makes the packs durable that are relied on, with their names unless
// those are.
func (s *Store) syncPacks(r *Relied, named bool) error {
	for p := range r.Packs {
		if !p.Kept() {
			continue
		}
		for _, file := range []string{p.Base + ".pack", p.Base + ".idx"} {
			if err := s.syncUnsettled(file); err != nil {
				return err
			}
		}
	}
	if len(r.Packs) > 0 && !named {
		return s.sync.Dir(s.PackDir())
	}
	return nil
}

// syncedPack notes that this process has made a pack durable that it has written.
func (s *Store) syncedPack(base string) {
	for _, p := range s.Own().Packs {
		if p.Base == base {
			p.Durable.Store(true)
		}
	}
}

// borrowedLately tells whether anybody may be linking loose objects of the user's
// just now, or has done so without having synced them.
func (s *Store) borrowedLately() bool {
	entries, err := os.ReadDir(filepath.Join(s.dir, UnverifiedDir))
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), LoosePrefix) {
			continue
		}
		if info, err := e.Info(); err != nil || Lately(info) {
			return true
		}
	}
	return err != nil && !errors.Is(err, fs.ErrNotExist)
}

// Lately tells of a list of loose objects whether they may not be durable yet.
func Lately(note fs.FileInfo) bool { return time.Since(note.ModTime()) < freshPack }

// SyncedLoose notes of a list of loose objects that they are durable: nobody needs to
// wait until it is old.
func SyncedLoose(note string) error {
	return gitstore.Ignoring(os.Chtimes(note, time.Unix(0, 0), time.Unix(0, 0)), fs.ErrNotExist)
}

// SyncLoose makes loose objects durable, with their names. It reports whole if
// everything that was written on their file system is.
func (s *Store) SyncLoose(ids []gitstore.ID) (whole bool, err error) {
	if done, err := s.sync.FileSystem(s.dir); done || err != nil {
		return done && err == nil, err
	}
	dirs := map[string]bool{filepath.Join(s.dir, "objects"): true}
	for _, id := range ids {
		path := s.Own().LoosePath(id)
		if err := s.SyncPath(path); err != nil {
			return false, err
		}
		dirs[filepath.Dir(path)] = true
	}
	for dir := range dirs {
		if err := s.SyncPath(dir); err != nil {
			return false, err
		}
	}
	return false, nil
}

// syncUnsettled makes a file durable that others wrote, if it is new.
func (s *Store) syncUnsettled(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && time.Since(info.ModTime()) >= SettledAge {
		return nil
	}
	if err != nil {
		return err
	}
	return s.SyncPath(path)
}

// SettledAge is the age from which the content of a file that others wrote is
// taken to be on the disk; names that are made here are always synced.
const SettledAge = time.Hour

// UnverifiedDir lists what was borrowed and whose content is not proved yet: a
// file for each pack, of the pack's name, and files loose-* with the ids of
// loose objects, one a line.
const UnverifiedDir = "umbra/unverified"

// LoosePrefix begins the names of lists of loose objects.
const LoosePrefix = "loose-"
