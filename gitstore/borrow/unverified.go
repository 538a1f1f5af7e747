package borrow

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

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/gitstore/objects"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/upkeep"
)

// noteLoose lists loose objects as unverified, before they get their names.
func (b *borrowing) noteLoose(paths map[gitstore.ID]string) error {
	dir := filepath.Join(b.store.Dir(), shadow.UnverifiedDir)
	if err := disk.MakeDirs(b.store.Dir(), dir); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, shadow.LoosePrefix+"*")
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
	dir := filepath.Join(b.store.Dir(), shadow.UnverifiedDir)
	if err := disk.MakeDirs(b.store.Dir(), dir); err != nil {
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
func Unverified(s *shadow.Store) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(s.Dir(), shadow.UnverifiedDir))
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, gitstore.Ignoring(err, fs.ErrNotExist)
}

// Damage is what Verify found to be other than its name says.
type Damage struct {
	// Packs are for Salvage. They stay unverified until then.
	Packs []upkeep.RottenFile
	// Objects can't be read. They are distrusted, so a capture that meets their
	// content writes them again.
	Objects []gitstore.ID
	// Source is where the first of the packs was borrowed, "" if that is not known.
	Source string
}

// Any tells whether anything is damaged.
func (d *Damage) Any() bool { return len(d.Packs)+len(d.Objects) > 0 }

// Verify compares what was borrowed with its ids and takes it off the list. It reads
// all of it, so it belongs into the background; cut off by the context, it goes on
// with the next pack another time. A damaged loose object is removed: what has its
// name here is of no use.
func Verify(ctx context.Context, s *shadow.Store) (Damage, error) {
	var damage Damage
	list, err := Unverified(s)
	if err != nil {
		return damage, err
	}
	for _, name := range list {
		if err := ctx.Err(); err != nil {
			return damage, err
		}
		file := filepath.Join(s.Dir(), shadow.UnverifiedDir, name)
		var bad []gitstore.ID
		if strings.HasPrefix(name, shadow.LoosePrefix) {
			bad, err = verifyLoose(ctx, s, file)
		} else if bad, err = verifyPack(ctx, s, name); errors.Is(err, gitstore.ErrDamaged) {
			pack := filepath.Join(s.PackDir(), name)
			if len(damage.Packs) == 0 {
				damage.Source = sourceOf(pack)
			}
			damage.Packs = append(damage.Packs, upkeep.RottenFile{Path: pack + ".pack", Why: err.Error()})
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
	text, err := os.ReadFile(pack + objects.KeepSuffix)
	if err != nil {
		return ""
	}
	path, _ := strings.CutPrefix(strings.TrimSpace(string(text)), keepIntro)
	return path
}

// verifyLoose reads the loose objects of a list, wherever they are by now.
// What is still being linked is errArriving.
func verifyLoose(ctx context.Context, s *shadow.Store, file string) (bad []gitstore.ID, err error) {
	if info, err := os.Stat(file); err != nil || shadow.Lately(info) {
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
		id, err := gitstore.ParseID(line)
		if err != nil {
			continue // the list was torn by a power cut
		}
		if _, _, err := s.Object(id); !errors.Is(err, gitstore.ErrDamaged) {
			continue
		}
		bad = append(bad, id)
		if err := os.Remove(s.Own().LoosePath(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return bad, nil
}

// verifyPack has git compare a pack with its index and every object with its id,
// which it does best; it reads the objects itself only where there is no git, or
// to tell which are bad. A pack that is gone is no longer unverified; one of
// which any file is there is errArriving.
func verifyPack(ctx context.Context, s *shadow.Store, name string) (bad []gitstore.ID, err error) {
	listed := func() int {
		return slices.IndexFunc(s.Own().Packs, func(p *objects.Pack) bool { return filepath.Base(p.Base) == name })
	}
	at := listed()
	if at < 0 { // another process may have borrowed it
		if err := s.Rescan(); err != nil {
			return nil, err
		}
		at = listed()
	}
	if at < 0 {
		return nil, arriving(s, name)
	}
	p := s.Own().Packs[at]
	_, err = git.Run(ctx, git.Command{
		Dir: s.Dir(), GitDir: s.Dir(), Gentle: true, Config: []string{"pack.threads=1"},
		Args: []string{"verify-pack", p.Base + ".idx"},
	})
	var failed *git.Error
	switch {
	case err == nil || ctx.Err() != nil:
		return nil, err
	case errors.Is(err, git.ErrNotInstalled):
		_, err = p.Verify(ctx)
	case errors.As(err, &failed):
		err = gitstore.Damaged("%s", strings.TrimSpace(failed.Stderr))
	}
	bad, reading := unreadable(ctx, s, p)
	if len(bad) > 0 && err == nil {
		err = gitstore.Damaged("%d objects of %s", len(bad), name)
	}
	if reading != nil {
		err = reading
	}
	return bad, err
}

// errArriving is what is noted and not, or not yet, here as a whole.
var errArriving = errors.New("not wholly here yet")

// arriving tells a pack that is on its way from one that is gone.
func arriving(s *shadow.Store, name string) error {
	left, err := filepath.Glob(filepath.Join(s.Dir(), "objects", "pack", name+".*"))
	if err == nil && len(left) > 0 {
		return errArriving
	}
	return err
}

// unreadable lists the objects of a pack that it does not hold as their ids say.
func unreadable(ctx context.Context, s *shadow.Store, p *objects.Pack) (bad []gitstore.ID, err error) {
	for n := range p.Count() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		id, err := p.Name(n)
		if err != nil {
			return nil, err
		}
		off, err := p.Offset(n)
		if err != nil {
			bad = append(bad, id)
			continue
		}
		if t, data, err := p.Read(s.Reader, off); err != nil || gitstore.HashFast(t, data) != id {
			bad = append(bad, id)
		}
	}
	return bad, nil
}
