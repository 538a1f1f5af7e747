package upkeep

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/objects"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// Bulk is how much a repository holds that Repack would pack together.
type Bulk struct {
	// Loose is about how many loose objects there are, Packs how many packs
	// that may be repacked.
	Loose, Packs int
	// Bytes is about what Repack would write again: the loose objects, and the packs
	// that it would make one of. Versions of a file stand in them whole. Each Repack
	// makes fewer of them, until there are none, whether it saved anything or not: what
	// has come since alone makes the next one due.
	Bytes int64
}

// sampledDirs is of how many of the 256 directories of loose objects Bulk counts
// the files.
const sampledDirs = 16

// BulkOf counts packs, and loose objects in a sample of their directories: ids are
// spread evenly, and none is large, since large files go to packs at once. It is cheap
// enough to be asked often.
func BulkOf(s *shadow.Store) (Bulk, error) {
	var b Bulk
	dir := filepath.Join(s.Dir(), "objects")
	for n := range sampledDirs {
		names, err := os.ReadDir(filepath.Join(dir, fmt.Sprintf("%02x", n*256/sampledDirs)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return b, err
		}
		b.Loose += len(names) * (256 / sampledDirs)
		for _, e := range names {
			if info, err := e.Info(); err == nil { // else it is gone
				b.Bytes += info.Size() * (256 / sampledDirs)
			}
		}
	}
	if err := s.Rescan(); err != nil {
		return b, err
	}
	packs := slices.DeleteFunc(slices.Clone(s.Own().Packs), func(p *objects.Pack) bool { return p.Broken != nil || p.Kept() })
	b.Packs = len(packs)
	for _, p := range outOfProgression(packs) {
		if info, err := os.Stat(p.Base + ".pack"); err == nil {
			b.Bytes += info.Size()
		}
	}
	return b, nil
}

// outOfProgression lists the packs that a geometric repack makes one of: of the smallest
// as many as keep the packs from being, each, at least twice as large as the one before,
// by the objects in them. It is what git-repack(1) does for --geometric=2.
func outOfProgression(packs []*objects.Pack) []*objects.Pack {
	slices.SortFunc(packs, func(a, b *objects.Pack) int { return a.Count() - b.Count() })
	n := len(packs) - 1
	for n > 0 && packs[n].Count() >= 2*packs[n-1].Count() {
		n--
	}
	if n <= 0 {
		return nil
	}
	n++ // the larger of the pair that is too close is one of them
	sum := 0
	for _, p := range packs[:n] {
		sum += p.Count()
	}
	for n < len(packs) && packs[n].Count() < 2*sum {
		sum += packs[n].Count()
		n++
	}
	return packs[:n]
}
