package git

import (
	"syscall"

	"golang.org/x/sys/unix"
)

func groupAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// lowPriority gives a process group little of the processor while others want it. It
// is no harm if the system refuses.
func lowPriority(group int) { _ = unix.Setpriority(unix.PRIO_PGRP, group, lowNice) }
