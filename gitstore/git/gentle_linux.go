package git

import (
	"syscall"

	"golang.org/x/sys/unix"
)

func gentleAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// The idle class of the disk's scheduler, for a process group (ioprio_set(2)).
const (
	ioprioWhoGroup = 2
	ioprioIdle     = 3 << 13
)

// lowestPriority gives a process group what is left of processor and disk. It
// is no harm if the system refuses.
func lowestPriority(group int) {
	_ = unix.Setpriority(unix.PRIO_PGRP, group, 19)
	_, _, _ = unix.Syscall(unix.SYS_IOPRIO_SET, ioprioWhoGroup, uintptr(group), ioprioIdle)
}
