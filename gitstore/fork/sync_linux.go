package fork

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/failpoint"
)

// wholeFileSystem says that one call syncs all of a file system.
const wholeFileSystem = true

func syncDirectory(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	failpoint.Hit("fork.sync")
	return errors.Join(os.NewSyscallError("syncfs", unix.Syncfs(int(f.Fd()))), f.Close())
}
