package gitstore

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
)

// unverifiedDir lists what was borrowed and whose content is not proved yet: a
// file for each pack, of the pack's name, and files loose-* with the ids of
// loose objects, one a line.
const unverifiedDir = "umbra/unverified"

// loosePrefix begins the names of lists of loose objects.
const loosePrefix = "loose-"

// noteLoose lists loose objects as unverified, before they get their names.
func (b *borrowing) noteLoose(paths map[ID]string) error {
	dir := filepath.Join(b.store.dir, unverifiedDir)
	if err := disk.MakeDirs(b.store.dir, dir); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, loosePrefix+"*")
	if err != nil {
		return err
	}
	defer f.Close()
	out := bufio.NewWriter(f)
	for id := range paths {
		if _, err := out.WriteString(id.String() + "\n"); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	b.fresh, b.notes = append(b.fresh, f.Name(), dir), append(b.notes, f.Name())
	return f.Close()
}

// notePack lists a pack as unverified, before it gets its name.
func (b *borrowing) notePack(name string) error {
	dir := filepath.Join(b.store.dir, unverifiedDir)
	if err := disk.MakeDirs(b.store.dir, dir); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// Unproved is something borrowed that was not compared with its ids yet, or that
// was, and found damaged.
type Unproved struct {
	// Name is that of a pack, or of a list of loose objects.
	Name string
	// Lost is how many objects of a damaged pack could be had from nowhere else
	// when that was tried last, at Tried; zero if it was not tried.
	Lost  int
	Tried time.Time
}

// Unverified lists what was borrowed and has not been compared with its ids, or
// is damaged and could not be replaced.
func (s *Store) Unverified() ([]Unproved, error) {
	dir := filepath.Join(s.dir, unverifiedDir)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []Unproved
	for _, e := range entries {
		u := Unproved{Name: e.Name()}
		if !strings.HasPrefix(u.Name, loosePrefix) {
			u.Lost, u.Tried = readOutcome(filepath.Join(dir, u.Name))
		}
		list = append(list, u)
	}
	return list, err
}

const outcomeFormat = "lost %d at %d\n"

// GiveUp notes of damaged packs that so many of their objects could be had from
// nowhere, so that nobody tries again too soon.
func (s *Store) GiveUp(packs []string, lost int, now time.Time) error {
	for _, name := range packs {
		text := fmt.Appendf(nil, outcomeFormat, lost, now.Unix())
		if err := os.WriteFile(filepath.Join(s.dir, unverifiedDir, name), text, 0o600); err != nil {
			return err
		}
		lost = 0 // they are counted together
	}
	return nil
}

// readOutcome reads what GiveUp has noted; a torn note is none.
func readOutcome(file string) (lost int, tried time.Time) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, time.Time{}
	}
	var at int64
	if _, err := fmt.Sscanf(string(text), outcomeFormat, &lost, &at); err != nil {
		return 0, time.Time{}
	}
	return lost, time.Unix(at, 0)
}

// Damage is what Verify found to be other than its name says.
type Damage struct {
	// Packs are names of packs, for Replace. They stay unverified.
	Packs []string
	// Objects can't be read. They are distrusted, so a capture that meets their
	// content writes them again.
	Objects []ID
}

// Any tells whether anything is damaged.
func (d *Damage) Any() bool { return len(d.Packs)+len(d.Objects) > 0 }

// Verify compares what was borrowed with its ids and takes it off the list, but
// for what was given up after the time since. It reads all of it, so it belongs
// into the background; cut off by the context, it goes on with the next pack
// another time. A damaged loose object is removed: what has its name here is of
// no use.
func (s *Store) Verify(ctx context.Context, since time.Time) (Damage, error) {
	var damage Damage
	list, err := s.Unverified()
	if err != nil {
		return damage, err
	}
	for _, u := range list {
		if err := ctx.Err(); err != nil {
			return damage, err
		}
		if u.Tried.After(since) {
			continue
		}
		name := u.Name
		file := filepath.Join(s.dir, unverifiedDir, name)
		var bad []ID
		if strings.HasPrefix(name, loosePrefix) {
			bad, err = s.verifyLoose(ctx, file)
		} else if bad, err = s.verifyPack(ctx, name); errors.Is(err, ErrDamaged) {
			damage.Packs = append(damage.Packs, name)
			damage.Objects = append(damage.Objects, bad...)
			continue
		}
		if errors.Is(err, errArriving) {
			continue
		}
		if err != nil {
			return damage, fmt.Errorf("verify %s: %w", name, err)
		}
		damage.Objects = append(damage.Objects, bad...)
		failpoint.Hit("verify.verified")
		if err := os.Remove(file); err != nil {
			return damage, err
		}
	}
	s.Distrust(damage.Objects...)
	return damage, nil
}

// verifyLoose reads the loose objects of a list, wherever they are by now.
// What is still being linked is errArriving.
func (s *Store) verifyLoose(ctx context.Context, file string) (bad []ID, err error) {
	if info, err := os.Stat(file); err != nil || lately(info) {
		return nil, cmp.Or(err, errArriving)
	}
	list, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for line := range strings.FieldsSeq(string(list)) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		id, err := ParseID(line)
		if err != nil {
			continue // the list was torn by a power cut
		}
		if _, _, err := s.Object(id); !errors.Is(err, ErrDamaged) {
			continue
		}
		bad = append(bad, id)
		if err := os.Remove(s.own().loosePath(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return bad, nil
}

// verifyPack has git compare a pack with its index and every object with its id,
// which it does best; it reads the objects itself only where there is no git, or
// to tell which are bad. A pack that is gone is no longer unverified; one of
// which any file is there is errArriving.
func (s *Store) verifyPack(ctx context.Context, name string) (bad []ID, err error) {
	listed := func() int {
		return slices.IndexFunc(s.own().packs, func(p *pack) bool { return filepath.Base(p.base) == name })
	}
	at := listed()
	if at < 0 { // another process may have borrowed it
		if err := s.rescan(); err != nil {
			return nil, err
		}
		at = listed()
	}
	if at < 0 {
		return nil, s.arriving(name)
	}
	p := s.own().packs[at]
	_, err = RunGit(ctx, GitCommand{Dir: s.dir, GitDir: s.dir, Gentle: true, Config: []string{"pack.threads=1"}, Args: []string{"verify-pack", p.base + ".idx"}})
	var failed *GitError
	switch {
	case err == nil || ctx.Err() != nil:
		return nil, err
	case errors.Is(err, ErrNoGit):
		_, err = p.verify(ctx)
	case errors.As(err, &failed):
		err = damaged("%s", strings.TrimSpace(failed.Stderr))
	}
	bad, reading := s.unreadable(ctx, p)
	if len(bad) > 0 && err == nil {
		err = damaged("%d objects of %s", len(bad), name)
	}
	if reading != nil {
		err = reading
	}
	return bad, err
}

// errArriving is what is noted and not, or not yet, here as a whole.
var errArriving = errors.New("not wholly here yet")

// arriving tells a pack that is on its way from one that is gone.
func (s *Store) arriving(name string) error {
	left, err := filepath.Glob(filepath.Join(s.dir, "objects", "pack", name+".*"))
	if err == nil && len(left) > 0 {
		return errArriving
	}
	return err
}

// unreadable lists the objects of a pack that it does not hold as their ids say.
func (s *Store) unreadable(ctx context.Context, p *pack) (bad []ID, err error) {
	for n := range p.count() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		id, err := p.name(n)
		if err != nil {
			return nil, err
		}
		off, err := p.offset(n)
		if err != nil {
			bad = append(bad, id)
			continue
		}
		if t, data, err := p.read(s.Objects, off); err != nil || hashFast(t, data) != id {
			bad = append(bad, id)
		}
	}
	return bad, nil
}
