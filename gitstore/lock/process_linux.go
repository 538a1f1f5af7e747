package lock

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/disk"
)

// startOf is field 22 of /proc/<pid>/stat. A process that has ended and that its
// parent has not asked after (field 3; for ever, in a container whose first
// process asks after nobody) is gone, unless some of its threads (field 20)
// outlive the first.
func startOf(pid int) (uint64, error) {
	fields, err := statOf(pid)
	if err != nil {
		return 0, err
	}
	if ended := fields[0] == "Z" || fields[0] == "X"; ended && (fields[17] == "0" || fields[17] == "1") {
		return 0, fmt.Errorf("process %d has ended: %w", pid, fs.ErrNotExist)
	}
	return strconv.ParseUint(fields[19], 10, 64)
}

func bootID() string {
	id, _ := disk.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
}

func pidNamespace() string {
	name, _ := os.Readlink("/proc/self/ns/pid")
	return name
}

// Parent is the process that started another one, or took it over. It is an
// error where the system does not tell: only Linux does.
func Parent(pid int) (int, error) {
	fields, err := statOf(pid)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(fields[1])
}

// CommandLine is what a process calls itself, word by word: what it was started
// with, unless it has written something else over that, as node does for a title.
// Words that are empty at its end are left out.
func CommandLine(pid int) ([]string, error) {
	line, err := disk.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil {
		return nil, err
	}
	line = bytes.TrimRight(line, "\x00")
	if len(line) == 0 {
		return nil, nil
	}
	return strings.Split(string(line), "\x00"), nil
}

// Program is the file that a process runs.
func Program(pid int) (string, error) {
	return os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
}

// statOf are the fields of /proc/<pid>/stat (proc(5)) from the third, the state,
// on; the second may hold spaces and parentheses.
func statOf(pid int) ([]string, error) {
	stat, err := disk.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 {
		return nil, fmt.Errorf("/proc/%d/stat: %d fields", pid, len(fields))
	}
	return fields, nil
}
