package git

import (
	"syscall"

	"golang.org/x/sys/unix"
)

func groupAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// The idle class of the disk's scheduler, for a process group (ioprio_set(2)).
const (
	ioprioWhoGroup = 2
	ioprioIdle     = 3 << 13
)

// lowPriority gives a process group about a tenth of the processor time that another
// program gets that wants it too, and what is left of the disk. The lowest of all would get
// a hundredth or less, and on a busy machine come to no end. It is no harm if the system
// refuses.
func lowPriority(group int) {
	_ = unix.Setpriority(unix.PRIO_PGRP, group, lowNice)
	_, _, _ = unix.Syscall(unix.SYS_IOPRIO_SET, ioprioWhoGroup, uintptr(group), ioprioIdle)
}
