package lock

import (
	"bytes"
	"os"
	"slices"
	"strconv"

	"github.com/umbra-vcs/umbra/gitstore/disk"
)

// GroupMembers are the processes of a process group (proc(5), field 5) that have not ended.
func GroupMembers(group int) (pids []int, err error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	want := strconv.Itoa(group)
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if fields, err := statOf(pid); err != nil || fields[2] != want {
			continue
		}
		if _, err := startOf(pid); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// HasVariable reports whether a process was started with a variable, NAME=VALUE, in its
// environment, as far as the system tells.
func HasVariable(pid int, variable string) bool {
	environ, err := disk.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return err == nil && slices.ContainsFunc(bytes.Split(environ, []byte{0}), func(v []byte) bool { return string(v) == variable })
}
