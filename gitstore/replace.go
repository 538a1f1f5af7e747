package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Replace removes packs that Verify found damaged, after all that is reachable
// of them was written again: from themselves where they can be read, else from
// copies that captures have made since. Objects that can't be had anywhere are
// returned, and then nothing is removed. Reachable is what a ref leads to, and
// what the roots do: snapshots that are written and not published. The caller
// holds the project's lock exclusively: nobody relies meanwhile on what the
// packs hold.
func (s *Store) Replace(ctx context.Context, packs []string, roots []ID) (lost []ID, err error) {
	if err := s.rescan(); err != nil {
		return nil, err
	}
	r, err := s.reach(ctx, roots)
	if err != nil {
		return nil, err
	}
	ids := slices.SortedFunc(maps.Keys(r.seen), ID.Compare)
	lost = slices.Collect(maps.Keys(r.unread))
	batch := s.NewBatch()
	defer batch.Discard()
	for i, at := range s.locate(ids) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if at.pack == nil || !slices.Contains(packs, filepath.Base(at.pack.base)) {
			continue
		}
		t, data, err := s.Object(ids[i])
		switch {
		case errors.Is(err, ErrDamaged):
			lost = append(lost, ids[i])
			continue
		case err != nil:
			return nil, err
		}
		s.Distrust(ids[i]) // so that it is written
		if _, err := batch.Write(t, data); err != nil {
			return nil, err
		}
	}
	if err := batch.Flush(ctx); err != nil || len(lost) > 0 {
		return lost, err
	}
	for _, name := range packs {
		if err := s.removePack(name); err != nil {
			return nil, fmt.Errorf("remove %s: %w", name, err)
		}
	}
	return nil, errors.Join(s.sync.dir(s.packDir()), s.rescan())
}

// removePack removes a pack for good, the index first: nobody begins to read the
// rest then.
func (s *Store) removePack(name string) error {
	base := filepath.Join(s.packDir(), name)
	for _, path := range []string{base + ".idx", base + ".pack", base + ".rev", base + keepSuffix, filepath.Join(s.dir, unverifiedDir, name)} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Source is where a borrowed pack came from, "" if that is not known.
func (s *Store) Source(pack string) string {
	text, err := os.ReadFile(filepath.Join(s.packDir(), pack+keepSuffix))
	if err != nil {
		return ""
	}
	path, _ := strings.CutPrefix(strings.TrimSpace(string(text)), keepIntro)
	return path
}
