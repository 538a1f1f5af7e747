package gitstore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// relied is what somebody else may have brought here a moment ago, on which a
// batch or a Borrow relies: names, and content of the user's, that power may
// still take away.
type relied struct {
	packs map[*pack]bool
	loose []ID // stored loose, by whomever
}

// freshPack is the age up to which a name made by another process may not be
// durable yet.
const freshPack = time.Minute

func (r *relied) on(p *pack) {
	if p.durable.Load() || time.Since(p.named) >= freshPack {
		return
	}
	if r.packs == nil {
		r.packs = map[*pack]bool{}
	}
	r.packs[p] = true
}

func (r *relied) onAll(at []location, ids []ID) {
	for i, l := range at {
		switch {
		case l.pack != nil:
			r.on(l.pack)
		case l.loose != "":
			r.loose = append(r.loose, ids[i])
		}
	}
}

// secure makes durable what is relied on; packsNamed says that the names of all
// packs are. What this package has written is durable before it has its name,
// what was borrowed only when its Borrow has returned.
func (s *Store) secure(r *relied, packsNamed bool) error {
	if len(r.loose) > 0 && s.borrowedLately() {
		whole, err := s.syncLoose(r.loose)
		if err != nil {
			return err
		}
		if whole {
			r.settled()
			return nil
		}
	}
	if err := s.syncPacks(r, packsNamed); err != nil {
		return err
	}
	r.settled()
	return nil
}

// settled notes that all packs that are relied on are durable.
func (r *relied) settled() {
	for p := range r.packs {
		p.durable.Store(true)
	}
}

// syncPacks makes the packs durable that are relied on, with their names unless
// those are.
func (s *Store) syncPacks(r *relied, named bool) error {
	for p := range r.packs {
		if !p.kept() {
			continue
		}
		for _, file := range []string{p.base + ".pack", p.base + ".idx"} {
			if err := s.syncUnsettled(file); err != nil {
				return err
			}
		}
	}
	if len(r.packs) > 0 && !named {
		return s.sync.Dir(s.packDir())
	}
	return nil
}

// syncedPack notes that this process has made a pack durable that it has written.
func (s *Store) syncedPack(base string) {
	for _, p := range s.own().packs {
		if p.base == base {
			p.durable.Store(true)
		}
	}
}

// borrowedLately tells whether anybody may be linking loose objects of the user's
// just now, or has done so without having synced them.
func (s *Store) borrowedLately() bool {
	entries, err := os.ReadDir(filepath.Join(s.dir, unverifiedDir))
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), loosePrefix) {
			continue
		}
		if info, err := e.Info(); err != nil || lately(info) {
			return true
		}
	}
	return err != nil && !errors.Is(err, fs.ErrNotExist)
}

// lately tells of a list of loose objects whether they may not be durable yet.
func lately(note fs.FileInfo) bool { return time.Since(note.ModTime()) < freshPack }

// syncedLoose notes of a list of loose objects that they are durable: nobody needs to
// wait until it is old.
func syncedLoose(note string) error {
	return ignoring(os.Chtimes(note, time.Unix(0, 0), time.Unix(0, 0)), fs.ErrNotExist)
}

// syncLoose makes loose objects durable, with their names. It reports whole if
// everything that was written on their file system is.
func (s *Store) syncLoose(ids []ID) (whole bool, err error) {
	if done, err := s.sync.FileSystem(s.dir); done || err != nil {
		return done && err == nil, err
	}
	dirs := map[string]bool{filepath.Join(s.dir, "objects"): true}
	for _, id := range ids {
		path := s.own().loosePath(id)
		if err := s.syncPath(path); err != nil {
			return false, err
		}
		dirs[filepath.Dir(path)] = true
	}
	for dir := range dirs {
		if err := s.syncPath(dir); err != nil {
			return false, err
		}
	}
	return false, nil
}

// syncUnsettled makes a file durable that others wrote, if it is new.
func (s *Store) syncUnsettled(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && time.Since(info.ModTime()) >= settledAge {
		return nil
	}
	if err != nil {
		return err
	}
	return s.syncPath(path)
}
