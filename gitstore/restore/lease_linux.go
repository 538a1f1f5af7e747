package restore

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// holdOffWriters makes sure that nobody has a file open for writing, nor mapped
// for it, and that nobody will until it is closed: a read lease, which the
// kernel gives only then (fcntl(2), "Leases"). Where there are no leases, or
// none for a file of somebody else's, it does nothing and sure is false: what is
// written through a handle after the last look is lost there.
func holdOffWriters(file *os.File) (sure bool, err error) {
	_, err = unix.FcntlInt(file.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	if errors.Is(err, unix.EAGAIN) {
		return false, errWriters
	}
	return err == nil, nil
}
