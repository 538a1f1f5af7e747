//go:build unix

package claude

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
)

// alive reports whether a process has that id; one of another user's counts.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// startedAt reports whether the process began at that many clock ticks after
// boot, the form that Claude Code records on Linux. What can't be told passes.
func startedAt(pid int, ticks string) bool {
	if runtime.GOOS != "linux" {
		return true
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	// The second field, the program's name in brackets, may hold spaces.
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	const startTime = 19 // field 22 of proc(5), counted from the third
	return len(fields) <= startTime || string(fields[startTime]) == ticks
}
