package lab

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Holds is what a repository consists of.
type Holds struct {
	Bytes     int64 // on disk, in whole blocks
	Loose     int   // objects
	Packs     int
	Leftovers int // temporary files and locks
}

// Weigh looks at a repository at rest.
func Weigh(repository string) (Holds, error) {
	var h Holds
	err := filepath.WalkDir(repository, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name := entry.Name()
		switch {
		case strings.HasPrefix(name, "tmp_"), strings.HasPrefix(name, ".tmp"), strings.HasSuffix(name, ".lock"):
			h.Leftovers++
		case filepath.Ext(name) == ".pack":
			h.Packs++
		case len(name) == 38 && len(filepath.Base(filepath.Dir(path))) == 2:
			h.Loose++
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		h.Bytes += onDisk(info)
		return nil
	})
	return h, err
}

// onDisk is the space that a file takes, in bytes.
func onDisk(info fs.FileInfo) int64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Blocks * 512
	}
	return info.Size()
}

// WeighCollected weighs what a fresh git gc makes of a copy of the repository,
// which it leaves at copied.
func WeighCollected(ctx context.Context, repository, copied string) (Holds, error) {
	for _, args := range [][]string{
		{"cp", "-a", repository, copied},
		{"git", "--git-dir=" + copied, "gc", "-q", "--prune=now"},
	} {
		if _, _, err := (Command{Args: args, Env: GitEnv(filepath.Dir(copied))}).Run(ctx); err != nil {
			return Holds{}, err
		}
	}
	return Weigh(copied)
}
