//go:build unix

package fork

import (
	"errors"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/git"
)

func notEmpty(err error) bool {
	return errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST) || errors.Is(err, unix.EBUSY)
}

func crossDevice(err error) bool { return errors.Is(err, beneath.ErrCrossDevice) }

// renameNew renames, unless the new name exists (fs.ErrExist).
func renameNew(from, to string) error {
	a, err := beneath.Open(filepath.Dir(from))
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := beneath.Open(filepath.Dir(to))
	if err != nil {
		return err
	}
	defer b.Close()
	err = beneath.RenameNoReplace(a, filepath.Base(from), b, filepath.Base(to))
	if !errors.Is(err, beneath.ErrNoExchange) {
		return err
	}
	// The new name is in the trash, or Umbra's own: a directory is only ever
	// renamed over an empty one.
	return beneath.Rename(a, filepath.Base(from), b, filepath.Base(to))
}

func exitedWith(err error, code int) bool {
	failed := (*git.Error)(nil)
	return errors.As(err, &failed) && failed.ExitCode == code
}
