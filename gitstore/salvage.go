package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/flock"
	"github.com/umbra-vcs/umbra/gitstore/git"
)

// damagedDir is where what is rotten is set aside, in a directory for each time.
const damagedDir = "umbra/damaged"

// DamagedDir is where Salvage sets aside; it may not be there. Nothing reads it.
func (s *Store) DamagedDir() string { return filepath.Join(s.dir, damagedDir) }

// salvaging is one Salvage.
type salvaging struct {
	ctx   context.Context
	store *Store
	aside string
	// reach is what is rescued of a borrowed pack, which may hold much that
	// nobody here needs; nil if that is not known.
	reach *reach
}

// Salvage sets rotten files aside, into a directory that it returns, after what
// can still be read of their objects was written again, and after an index that
// is gone or damaged was made again from its pack. Nothing is removed; of a pack
// that was borrowed only what refs and roots lead to is written again. It waits
// for a repack that is under way.
func (s *Store) Salvage(ctx context.Context, files []RottenFile, roots []ID) (aside string, err error) {
	held, err := s.awaitRepack(ctx)
	if err != nil {
		return "", err
	}
	defer func() { _ = flock.Release(held) }()
	parent := s.DamagedDir()
	if err := s.sync.MakeDirs(s.dir, parent); err != nil {
		return "", err
	}
	if aside, err = os.MkdirTemp(parent, time.Now().UTC().Format("20060102-150405-")); err != nil {
		return "", err
	}
	g := &salvaging{ctx: ctx, store: s, aside: aside}
	if r, err := s.reach(ctx, roots); err == nil && len(r.unread) == 0 {
		g.reach = r
	}
	if err := g.all(files); err != nil {
		return aside, err
	}
	if err := errors.Join(s.sync.Dir(aside), s.sync.Dir(s.packDir()), s.rescan()); err != nil {
		return aside, err
	}
	_, err = s.Sweep(ctx) // writes again what segments still hold
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
		case filepath.Dir(file.Path) == g.store.packDir():
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
	if err := g.move(base, ".idx", ".pack", ".rev", ".bitmap", keepSuffix); err != nil {
		return err
	}
	err := os.Remove(filepath.Join(g.store.dir, unverifiedDir, filepath.Base(base)))
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
	if why, err := sumOf(g.ctx, base+".pack"); why != "" || err != nil || !isThere(base+".pack") {
		return false, err
	}
	return g.store.makeIndex(g.ctx, base, func() error { return g.move(base, ".idx", ".rev") })
}

// makeIndex has git make the index of a pack, and calls before when it is about to
// take its place; false if it can't be made.
func (s *Store) makeIndex(ctx context.Context, base string, before func() error) (done bool, err error) {
	made := filepath.Join(s.packDir(), "tmp_umbra_"+filepath.Base(base)+".idx")
	defer os.Remove(made)
	_, err = git.Run(ctx, git.Command{
		Dir: s.dir, GitDir: s.dir, Gentle: true, Config: []string{"pack.writeReverseIndex=false", "pack.threads=1"},
		Args: []string{"index-pack", "--index-version=2", "-o", made, base + ".pack"},
	})
	if err != nil {
		return false, ctx.Err()
	}
	if err := errors.Join(s.syncPath(made), before()); err != nil {
		return false, err
	}
	if err := os.Rename(made, base+".idx"); err != nil {
		return false, ignoring(err, fs.ErrNotExist) // another process was at it too
	}
	return true, errors.Join(s.sync.Dir(s.packDir()), s.rescan())
}

// rescue writes again what can be read of a damaged pack by its index.
func (g *salvaging) rescue(base string) error {
	if !isThere(base + ".pack") {
		return nil
	}
	s := g.store
	info, err := os.Stat(base + ".idx")
	var p *pack
	if err == nil {
		p, err = openPack(base, info, &s.open)
	}
	if err != nil || p.verifyIndex(g.ctx) != nil {
		return nil // two files are damaged at once: nothing says where an object begins
	}
	kept := p.kept()
	batch := s.NewBatch()
	defer batch.Discard()
	for n := range p.count() {
		if err := g.ctx.Err(); err != nil {
			return err
		}
		id, err := p.name(n)
		if err != nil || kept && g.reach != nil && g.reach.seen[id] == 0 {
			continue
		}
		off, err := p.offset(n)
		if err != nil {
			continue
		}
		t, data, err := p.read(s.Objects, off)
		if err != nil || HashFast(t, data) != id {
			continue
		}
		s.Distrust(id) // so that it is written
		if _, err := batch.Write(t, data); err != nil {
			return err
		}
	}
	return batch.Flush(g.ctx)
}
