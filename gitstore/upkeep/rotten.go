package upkeep

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/flock"
	"github.com/umbra-vcs/umbra/gitstore/objects"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// RottenFile is a file of the object store that is not what it must be.
type RottenFile struct {
	// Path is the file: a loose object, a pack, an index.
	Path string
	// Why is what is wrong with it, for people.
	Why string
}

// RottenFiles reads the whole object store, but not its alternates, and lists the
// files that don't hold what they must: a loose object that is not its id's, a
// pack or index that does not have its checksum, one without the other. What is
// being written is left out.
func RottenFiles(ctx context.Context, s *shadow.Store) ([]RottenFile, error) {
	list, err := rottenPacks(ctx, s)
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(filepath.Join(s.Dir(), "objects"), func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		id, err := gitstore.ParseID(filepath.Base(filepath.Dir(path)) + e.Name())
		if err != nil {
			return nil
		}
		if why := rottenLoose(s, path, id); why != "" {
			list = append(list, RottenFile{path, why})
		}
		return nil
	})
	return list, err
}

func rottenLoose(s *shadow.Store, path string, id gitstore.ID) string {
	t, data, err := s.ReadLoose(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ""
	case err == nil && gitstore.HashFast(t, data) == id:
		return ""
	case err == nil:
		return "it holds another object than its name says"
	}
	if fi, e := os.Lstat(path); e == nil && fi.Size() == 0 {
		return "it is empty"
	}
	if errors.Is(err, gitstore.ErrDamaged) {
		return "its bytes are damaged"
	}
	return "it can't be read: " + err.Error()
}

func rottenPacks(ctx context.Context, s *shadow.Store) ([]RottenFile, error) {
	entries, err := os.ReadDir(s.PackDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var list []RottenFile
	for _, e := range entries {
		path := filepath.Join(s.PackDir(), e.Name())
		if !strings.HasPrefix(e.Name(), "pack-") {
			continue
		}
		if ext := filepath.Ext(path); ext != ".idx" && ext != ".pack" {
			continue
		}
		why, err := sumOf(ctx, path)
		if err != nil {
			return nil, err
		}
		if why == "" {
			why = widowed(s, e.Name())
		}
		if why != "" {
			list = append(list, RottenFile{path, why})
		}
	}
	return list, nil
}

// unpaired lists the packs and indexes without the other, of which nothing is
// read.
func unpaired(s *shadow.Store) ([]RottenFile, error) {
	entries, err := os.ReadDir(s.PackDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var list []RottenFile
	for _, e := range entries {
		if why := widowed(s, e.Name()); why != "" {
			list = append(list, RottenFile{filepath.Join(s.PackDir(), e.Name()), why})
		}
	}
	return list, nil
}

// widowed says what a pack or an index lacks, "" if nothing.
func widowed(s *shadow.Store, name string) string {
	path := filepath.Join(s.PackDir(), name)
	base := strings.TrimSuffix(path, filepath.Ext(path))
	switch {
	case !strings.HasPrefix(name, "pack-"):
	case filepath.Ext(name) == ".idx" && !shadow.IsThere(base+".pack"):
		return "its pack is gone"
	case filepath.Ext(name) == ".pack" && isUnindexed(path) && !arriving(path) && isUnindexed(path): // it may have come before the flock was looked at
		return "its index is gone"
	}
	return ""
}

// sumOf says what is wrong with a file that ends with its checksum, "" if nothing
// is, or the file has gone.
func sumOf(ctx context.Context, path string) (string, error) {
	_, _, err := objects.TrailerOf(ctx, path)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err == nil, errors.Is(err, fs.ErrNotExist):
		return "", nil
	case errors.Is(err, gitstore.ErrDamaged):
		return "its bytes are damaged", nil
	}
	return "it can't be read: " + err.Error(), nil
}

// arriving tells of a pack that somebody is bringing: whoever does holds it until
// its index has its name too.
func arriving(path string) bool {
	f, err := flock.Hold(path, os.O_RDONLY, unix.LOCK_EX)
	if err != nil {
		return true
	}
	_ = flock.Release(f)
	return false
}
