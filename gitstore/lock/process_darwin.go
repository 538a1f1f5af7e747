package lock

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// endedState is p_stat of a process that its parent has not asked after (SZOMB
// of sys/proc.h).
const endedState = 5

func describe(pid int) (*unix.KinfoProc, error) {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return nil, fmt.Errorf("process %d: %w", pid, fs.ErrNotExist)
	}
	return p, err
}

// startOf is when a process was started, in microseconds.
func startOf(pid int) (uint64, error) {
	p, err := describe(pid)
	if err != nil {
		return 0, err
	}
	if p.Proc.P_stat == endedState {
		return 0, fmt.Errorf("process %d has ended: %w", pid, fs.ErrNotExist)
	}
	at := p.Proc.P_starttime
	return uint64(at.Sec)*1e6 + uint64(at.Usec), nil
}

// Parent is the process that started another one, or took it over.
func Parent(pid int) (int, error) {
	p, err := describe(pid)
	if err != nil {
		return 0, err
	}
	return int(p.Eproc.Ppid), nil
}

// CommandLine is what a process was started with, word by word.
func CommandLine(pid int) ([]string, error) {
	_, words, err := arguments(pid)
	return words, err
}

// Program is the file that a process runs.
func Program(pid int) (string, error) {
	program, _, err := arguments(pid)
	return program, err
}

// arguments reads kern.procargs2: the number of words, the program's path, NULs,
// then the words and the environment, each ended by a NUL.
func arguments(pid int) (program string, words []string, err error) {
	raw, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return "", nil, err
	}
	if len(raw) < 4 {
		return "", nil, fmt.Errorf("kern.procargs2 of %d: %d bytes", pid, len(raw))
	}
	count := int(binary.LittleEndian.Uint32(raw))
	path, rest, _ := bytes.Cut(raw[4:], []byte{0})
	rest = bytes.TrimLeft(rest, "\x00")
	for range count {
		word, after, found := bytes.Cut(rest, []byte{0})
		if !found {
			break
		}
		words, rest = append(words, string(word)), after
	}
	return string(path), words, nil
}

func bootID() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}

// pidNamespace is the one there is.
func pidNamespace() string { return "darwin" }
