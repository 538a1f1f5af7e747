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

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/git"
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

// Unverified lists what was borrowed and has not been compared with its ids, by the
// names of packs and of lists of loose objects.
func (s *Store) Unverified() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, unverifiedDir))
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, ignoring(err, fs.ErrNotExist)
}

// Damage is what Verify found to be other than its name says.
type Damage struct {
	// Packs are for Salvage. They stay unverified until then.
	Packs []RottenFile
	// Objects can't be read. They are distrusted, so a capture that meets their
	// content writes them again.
	Objects []ID
	// Source is where the first of the packs was borrowed, "" if that is not known.
	Source string
}

// Any tells whether anything is damaged.
func (d *Damage) Any() bool { return len(d.Packs)+len(d.Objects) > 0 }

// Verify compares what was borrowed with its ids and takes it off the list. It reads
// all of it, so it belongs into the background; cut off by the context, it goes on
// with the next pack another time. A damaged loose object is removed: what has its
// name here is of no use.
func (s *Store) Verify(ctx context.Context) (Damage, error) {
	var damage Damage
	list, err := s.Unverified()
	if err != nil {
		return damage, err
	}
	for _, name := range list {
		if err := ctx.Err(); err != nil {
			return damage, err
		}
		file := filepath.Join(s.dir, unverifiedDir, name)
		var bad []ID
		if strings.HasPrefix(name, loosePrefix) {
			bad, err = s.verifyLoose(ctx, file)
		} else if bad, err = s.verifyPack(ctx, name); errors.Is(err, ErrDamaged) {
			pack := filepath.Join(s.packDir(), name)
			if len(damage.Packs) == 0 {
				damage.Source = sourceOf(pack)
			}
			damage.Packs = append(damage.Packs, RottenFile{Path: pack + ".pack", Why: err.Error()})
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

// sourceOf is where a borrowed pack came from, "" if that is not known.
func sourceOf(pack string) string {
	text, err := os.ReadFile(pack + keepSuffix)
	if err != nil {
		return ""
	}
	path, _ := strings.CutPrefix(strings.TrimSpace(string(text)), keepIntro)
	return path
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
	_, err = git.Run(ctx, git.Command{Dir: s.dir, GitDir: s.dir, Gentle: true, Config: []string{"pack.threads=1"}, Args: []string{"verify-pack", p.base + ".idx"}})
	var failed *git.Error
	switch {
	case err == nil || ctx.Err() != nil:
		return nil, err
	case errors.Is(err, git.ErrNotInstalled):
		_, err = p.verify(ctx)
	case errors.As(err, &failed):
		err = Damaged("%s", strings.TrimSpace(failed.Stderr))
	}
	bad, reading := s.unreadable(ctx, p)
	if len(bad) > 0 && err == nil {
		err = Damaged("%d objects of %s", len(bad), name)
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
		if t, data, err := p.read(s.Objects, off); err != nil || HashFast(t, data) != id {
			bad = append(bad, id)
		}
	}
	return bad, nil
}
