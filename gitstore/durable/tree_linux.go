package durable

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/failpoint"
)

// WholeFileSystem says that Tree syncs all of a file system.
const WholeFileSystem = true

// Tree makes a directory durable, with all that is below it.
func Tree(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	failpoint.Hit("fork.sync")
	return errors.Join(os.NewSyscallError("syncfs", unix.Syncfs(int(f.Fd()))), f.Close())
}
