//go:build unix

package lock

import (
	"context"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/disk"
)

// waitingFile is the file that each process holds, shared, while it waits for a lock. It is there
// only for locks of which somebody gives way.
func waitingFile(path string) string { return path + ".waiting" }

// GiveWay returns when nobody waits for the lock at path any more, or when the context ends.
// A process that takes a lock again and again calls it before each time: those that wait look
// only now and then whether the lock is free, and would miss the moment at which it is.
// The caller does not hold the lock.
func GiveWay(ctx context.Context, path string) error {
	file, err := open(waitingFile(path))
	if err != nil {
		return err
	}
	defer file.Close()
	const first, most = 200 * time.Microsecond, 5 * time.Millisecond
	for pause := first; ; pause = min(2*pause, most) {
		err := flock(file, unix.LOCK_EX|unix.LOCK_NB)
		if err != unix.EWOULDBLOCK {
			_ = flock(file, unix.LOCK_UN)
			return err
		}
		if !sleep(ctx, pause) {
			return context.Cause(ctx)
		}
	}
}

// waitInTurn holds the file that says that somebody waits for a lock, nil if nobody asks.
func waitInTurn(path string) *os.File {
	file, err := disk.OpenFile(waitingFile(path), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	if flock(file, unix.LOCK_SH|unix.LOCK_NB) != nil {
		file.Close()
		return nil
	}
	return file
}
