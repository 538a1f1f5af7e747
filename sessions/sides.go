package sessions

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// SidesBelow lists the regular files below a directory, which need not exist, as side files
// whose names begin with prefix. What vanishes meanwhile is not there.
func SidesBelow(dir, prefix string) (sides []Side, err error) {
	err = filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err == nil && !e.Type().IsRegular() {
			return nil
		}
		var info fs.FileInfo
		if err == nil {
			info, err = e.Info()
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		sides = append(sides, Side{Name: prefix + filepath.ToSlash(rel), Path: p, Size: info.Size(), Mode: info.Mode().Perm()})
		return err
	})
	return sides, err
}
