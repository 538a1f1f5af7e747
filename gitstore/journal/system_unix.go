//go:build unix

package journal

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// claim locks the open file, without waiting.
func claim(file *os.File) error { return flock(file, unix.LOCK_EX|unix.LOCK_NB) }

func isClaimed(err error) bool { return errors.Is(err, unix.EWOULDBLOCK) }

// unclaim unlocks before the close: a child being started holds a copy of the
// descriptor for a moment.
func unclaim(file *os.File) error { return flock(file, unix.LOCK_UN) }

func flock(file *os.File, how int) error {
	for {
		if err := unix.Flock(int(file.Fd()), how); err != unix.EINTR {
			return err
		}
	}
}

func openClaimable(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.EISDIR) {
		return os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_DIRECTORY, 0)
	}
	return file, err
}

// linkNew publishes by a second name, which never replaces.
func linkNew(from, to string) error {
	if err := os.Link(from, to); err != nil {
		return err
	}
	return os.Remove(from)
}
