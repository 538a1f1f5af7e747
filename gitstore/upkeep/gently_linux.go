package upkeep

import (
	"errors"
	"runtime"

	"golang.org/x/sys/unix"
)

// Gently runs fn on a thread of its own that leaves processor and disk to others, as git does
// that packs. So fn holds no lock that others wait for.
func Gently(fn func() error) error {
	const nice, ofThread, idle = 10, 1, 3 << 13 // ioprio_set(2)
	done := make(chan error, 1)
	go func() {
		err := errors.New("it ended before it was done")
		defer func() { done <- err }()
		runtime.LockOSThread() // for good: the thread ends with this goroutine
		thread := unix.Gettid()
		// It is no harm if the system refuses.
		_ = unix.Setpriority(unix.PRIO_PROCESS, thread, nice)
		_, _, _ = unix.Syscall(unix.SYS_IOPRIO_SET, ofThread, uintptr(thread), idle)
		err = fn()
	}()
	return <-done
}
