package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/flock"
	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/gitstore/objects"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// damagedDir is where what is rotten is set aside, in a directory for each time.
const damagedDir = "umbra/damaged"

// DamagedDir is where Salvage sets aside; it may not be there. Nothing reads it.
func DamagedDir(s *shadow.Store) string { return filepath.Join(s.Dir(), damagedDir) }

// salvaging is one Salvage.
type salvaging struct {
	ctx   context.Context
	store *shadow.Store
	aside string
	// reach is what is rescued of a borrowed pack, which may hold much that
	// nobody here needs; nil if that is not known.
	reach *shadow.Reach
}

// Salvage sets rotten files aside, into a directory that it returns, after what
// can still be read of their objects was written again, and after an index that
// is gone or damaged was made again from its pack. Nothing is removed; of a pack
// that was borrowed only what refs and roots lead to is written again. It waits
// for a repack that is under way.
func Salvage(ctx context.Context, s *shadow.Store, files []RottenFile, roots []gitstore.ID) (aside string, err error) {
	held, err := awaitRepack(ctx, s)
	if err != nil {
		return "", err
	}
	defer func() { _ = flock.Release(held) }()
	parent := DamagedDir(s)
	if err := s.Syncer().MakeDirs(s.Dir(), parent); err != nil {
		return "", err
	}
	if aside, err = os.MkdirTemp(parent, time.Now().UTC().Format("20060102-150405-")); err != nil {
		return "", err
	}
	g := &salvaging{ctx: ctx, store: s, aside: aside}
	if r, err := s.Reach(ctx, roots); err == nil && len(r.Unread) == 0 {
		g.reach = r
	}
	if err := g.all(files); err != nil {
		return aside, err
	}
	if err := errors.Join(s.Syncer().Dir(aside), s.Syncer().Dir(s.PackDir()), s.Rescan()); err != nil {
		return aside, err
	}
	_, err = Sweep(ctx, s) // writes again what segments still hold
	return aside, err
}

func (g *salvaging) all(files []RottenFile) error {
	done := map[string]bool{}
	for _, file := range files {
		base := strings.TrimSuffix(file.Path, filepath.Ext(file.Path))
		var err error
		switch {
		case done[base]:
			continue
		case filepath.Dir(file.Path) == g.store.PackDir():
			done[base] = true
			err = g.pack(base)
		default:
			err = os.Rename(file.Path, filepath.Join(g.aside, filepath.Base(filepath.Dir(file.Path))+filepath.Base(file.Path)))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("salvage %s: %w", file.Path, err)
		}
	}
	return nil
}

// pack makes a pack's index again if the pack is whole; else it writes again what
// it can read of it, and moves all of it aside.
func (g *salvaging) pack(base string) error {
	if indexed, err := g.index(base); indexed || err != nil {
		return err
	}
	if err := g.rescue(base); err != nil {
		return err
	}
	if err := g.move(base, ".idx", ".pack", ".rev", ".bitmap", objects.KeepSuffix); err != nil {
		return err
	}
	err := os.Remove(filepath.Join(g.store.Dir(), shadow.UnverifiedDir, filepath.Base(base)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (g *salvaging) move(base string, suffixes ...string) error {
	for _, suffix := range suffixes {
		if err := os.Rename(base+suffix, filepath.Join(g.aside, filepath.Base(base)+suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// index makes the index of a whole pack again; the old one goes aside.
func (g *salvaging) index(base string) (done bool, err error) {
	if why, err := sumOf(g.ctx, base+".pack"); why != "" || err != nil || !shadow.IsThere(base+".pack") {
		return false, err
	}
	return makeIndex(g.ctx, g.store, base, func() error { return g.move(base, ".idx", ".rev") })
}

// makeIndex has git make the index of a pack, and calls before when it is about to
// take its place; false if it can't be made.
func makeIndex(ctx context.Context, s *shadow.Store, base string, before func() error) (done bool, err error) {
	made := filepath.Join(s.PackDir(), "tmp_umbra_"+filepath.Base(base)+".idx")
	defer os.Remove(made)
	_, err = git.Run(ctx, git.Command{
		Dir: s.Dir(), GitDir: s.Dir(), Gentle: true, Config: []string{"pack.writeReverseIndex=false", "pack.threads=1"},
		Args: []string{"index-pack", "--index-version=2", "-o", made, base + ".pack"},
	})
	if err != nil {
		return false, ctx.Err()
	}
	if err := errors.Join(s.SyncPath(made), before()); err != nil {
		return false, err
	}
	if !shadow.IsThere(base + ".pack") { // it was removed meanwhile
		return false, nil
	}
	if err := os.Rename(made, base+".idx"); err != nil {
		return false, gitstore.Ignoring(err, fs.ErrNotExist) // another process was at it too
	}
	return true, errors.Join(s.Syncer().Dir(s.PackDir()), s.Rescan())
}

// rescue writes again what can be read of a damaged pack by its index.
func (g *salvaging) rescue(base string) error {
	if !shadow.IsThere(base + ".pack") {
		return nil
	}
	s := g.store
	info, err := os.Stat(base + ".idx")
	var p *objects.Pack
	if err == nil {
		p, err = s.OpenPack(base, info)
	}
	if err != nil || p.VerifyIndex(g.ctx) != nil {
		return nil // two files are damaged at once: nothing says where an object begins
	}
	kept := p.Kept()
	batch := s.NewBatch()
	defer batch.Discard()
	for n := range p.Count() {
		if err := g.ctx.Err(); err != nil {
			return err
		}
		id, err := p.Name(n)
		if err != nil || kept && g.reach != nil && g.reach.Seen[id] == 0 {
			continue
		}
		off, err := p.Offset(n)
		if err != nil {
			continue
		}
		t, data, err := p.Read(s.Reader, off)
		if err != nil || gitstore.HashFast(t, data) != id {
			continue
		}
		s.Distrust(id) // so that it is written
		if _, err := batch.Write(t, data); err != nil {
			return err
		}
	}
	return batch.Flush(g.ctx)
}
