package restore

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

const (
	canSyncFileSystem = true
	setGroupID        = unix.S_ISGID
)

// syncFileSystem makes everything durable that was written to the file system
// that dir is on.
func syncFileSystem(dir string) error {
	file, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(os.NewSyscallError("syncfs", unix.Syncfs(int(file.Fd()))), file.Close())
}
