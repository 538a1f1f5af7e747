package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// MakeDirs makes path, a directory below base, and those between that are missing,
// for their owner alone. It never makes base, of which the error is fs.ErrNotExist: who
// moves or removes it while a process is at work in it is not to find it there again.
func MakeDirs(base, path string) error {
	err := os.Mkdir(path, 0o700)
	if !errors.Is(err, fs.ErrNotExist) {
		return ifMissing(path, err)
	}
	parent := filepath.Dir(path)
	if parent == path || parent == filepath.Clean(base) {
		return err
	}
	if err := MakeDirs(base, parent); err != nil {
		return err
	}
	return ifMissing(path, os.Mkdir(path, 0o700))
}

// ifMissing is the error of making a directory, none if it is there.
func ifMissing(path string, err error) error {
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if info, statErr := os.Stat(path); statErr != nil || !info.IsDir() {
		return err
	}
	return nil
}
