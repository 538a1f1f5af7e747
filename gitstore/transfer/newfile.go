package transfer

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/flock"
)

// NewFile is a file that is written beside its place, and takes it once it is whole and
// durable. Until then nothing is changed there.
type NewFile struct {
	*os.File
	place string
}

// CreateFile begins a file, and removes what killed processes have left of it.
func CreateFile(place string) (*NewFile, error) {
	dir, name := filepath.Dir(place), "."+filepath.Base(place)+".umbra-"
	if err := clearUnfinished(dir, name); err != nil {
		return nil, err
	}
	f, err := flock.CreateTemp(dir, name+"*")
	if err != nil {
		return nil, err
	}
	return &NewFile{f, place}, nil
}

// Publish gives the file its place, durably. A file that is there is replaced.
func (f *NewFile) Publish() error {
	if err := f.Sync(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), f.place); err != nil {
		return err
	}
	dir, err := disk.Open(filepath.Dir(f.place))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Drop takes away what was not published.
func (f *NewFile) Drop() { flock.DropTemp(f.File) }

// clearUnfinished removes what killed processes have left of a file.
func clearUnfinished(dir, prefix string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		held, err := flock.Hold(path, os.O_RDONLY, unix.LOCK_EX)
		if err != nil {
			continue // somebody's, or gone
		}
		if err := errors.Join(os.Remove(path), flock.Release(held)); err != nil {
			return err
		}
	}
	return nil
}
