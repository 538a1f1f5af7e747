package lock

import (
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// OnExit calls gone once, on a goroutine of its own, when the process has ended.
// Waiting costs nothing. It is an error if the process is not known to live, or
// if the system can't tell (Linux before 5.10, other systems): look at Liveness
// from time to time then. After stop has returned, gone is not called any more;
// gone must not call it.
func (o Owner) OnExit(gone func()) (stop func(), err error) {
	process, err := o.descriptor()
	if err != nil {
		return nil, fmt.Errorf("wait for the end of process %d: %w", o.PID, err)
	}
	raw, err := process.SyscallConn()
	if err != nil {
		_ = process.Close()
		return nil, fmt.Errorf("wait for the end of process %d: %w", o.PID, err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		// A descriptor that was closed is the one error there can be.
		if raw.Read(ended) == nil {
			gone()
		}
	}()
	return func() {
		_ = process.Close() // it has nothing to write
		<-done
	}, nil
}

// descriptor opens the process itself, which a pid that is used again is not.
func (o Owner) descriptor() (*os.File, error) {
	fd, err := unix.PidfdOpen(o.PID, unix.PIDFD_NONBLOCK)
	if err != nil {
		return nil, err
	}
	process := os.NewFile(uintptr(fd), "process")
	if o.Liveness() != Alive {
		err = fs.ErrNotExist
	} else {
		err = process.SetReadDeadline(time.Time{}) // fails where it can't be waited for
	}
	if err != nil {
		_ = process.Close()
		return nil, err
	}
	return process, nil
}

// ended reports whether the process behind a descriptor has ended.
func ended(fd uintptr) bool {
	ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(ready, 0)
	return err == nil && n == 1
}
