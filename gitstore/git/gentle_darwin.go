package git

import (
	"syscall"

	"golang.org/x/sys/unix"
)

func gentleAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// lowestPriority gives a process group what is left of the processor. It is no
// harm if the system refuses.
func lowestPriority(group int) { _ = unix.Setpriority(unix.PRIO_PGRP, group, 19) }
