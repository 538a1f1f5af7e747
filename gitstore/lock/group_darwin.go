package lock

import (
	"bytes"

	"golang.org/x/sys/unix"
)

// GroupMembers are the processes of a process group that have not ended.
func GroupMembers(group int) (pids []int, err error) {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.pgrp", group)
	if err != nil {
		return nil, err
	}
	for _, p := range list {
		if p.Proc.P_stat != endedState {
			pids = append(pids, int(p.Proc.P_pid))
		}
	}
	return pids, nil
}

// HasVariable reports whether a process was started with a variable, NAME=VALUE, in its
// environment, as far as the system tells: of its own programs it does not.
func HasVariable(pid int, variable string) bool {
	raw, err := unix.SysctlRaw("kern.procargs2", pid)
	return err == nil && bytes.Contains(raw, []byte("\x00"+variable+"\x00"))
}
