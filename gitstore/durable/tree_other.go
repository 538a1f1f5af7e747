//go:build unix && !linux

package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// WholeFileSystem says that Tree syncs all of a file system. Here there is
// none that tells of errors: each file is synced. What git wrote into the user's
// repository it syncs as core.fsync says.
const WholeFileSystem = false

// Tree makes a directory durable, with all that is below it.
func Tree(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() && !e.Type().IsRegular() {
			return err
		}
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrPermission) {
			return nil // copied with a mode that lets nobody open it again
		}
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
}
