package journal

import (
	"errors"

	"golang.org/x/sys/unix"
)

// renameNew renames unless the new name exists.
func renameNew(from, to string) error {
	err := unix.RenamexNp(from, to, unix.RENAME_EXCL)
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EINVAL) {
		return linkNew(from, to)
	}
	return err
}
