//go:build linux && amd64

package faults

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// An Injector hears of the file-system calls of a process and its children before
// the kernel does them (seccomp's user notification), counts those below a
// directory, and fails one of them.
type Injector struct {
	dir      string
	fault    Fault
	name     Namer
	listener int
	asleep   atomic.Bool // nothing is counted, and nothing fails
	stop     *os.File    // closed: it ends
	done     chan error

	// Calls counts them, with those of each kind anywhere. It is read after End, as the rest.
	Calls  map[Spot]int
	places map[string]string // by path below dir
	Hit    bool              // the call failed that was to
	At     string            // the file of that call
}

// How a call names the file: by a descriptor, by a path, or by a path below a
// directory's descriptor, and in which argument.
type naming struct {
	kind string
	fd   int // of the arguments, -1: none
	path int // of the arguments, -1: none
}

// named are the calls that are heard of, by number.
var named = map[int]naming{
	unix.SYS_OPEN:            {"open", -1, 0},
	unix.SYS_OPENAT:          {"open", 0, 1},
	unix.SYS_OPENAT2:         {"open", 0, 1},
	unix.SYS_STAT:            {"stat", -1, 0},
	unix.SYS_LSTAT:           {"stat", -1, 0},
	unix.SYS_NEWFSTATAT:      {"stat", 0, 1},
	unix.SYS_STATX:           {"stat", 0, 1},
	unix.SYS_ACCESS:          {"stat", -1, 0},
	unix.SYS_FACCESSAT:       {"stat", 0, 1},
	unix.SYS_FACCESSAT2:      {"stat", 0, 1},
	unix.SYS_READ:            {"read", 0, -1},
	unix.SYS_PREAD64:         {"read", 0, -1},
	unix.SYS_GETDENTS64:      {"list", 0, -1},
	unix.SYS_READLINK:        {"readlink", -1, 0},
	unix.SYS_READLINKAT:      {"readlink", 0, 1},
	unix.SYS_WRITE:           {"write", 0, -1},
	unix.SYS_PWRITE64:        {"write", 0, -1},
	unix.SYS_FSYNC:           {"sync", 0, -1},
	unix.SYS_FDATASYNC:       {"sync", 0, -1},
	unix.SYS_FTRUNCATE:       {"truncate", 0, -1},
	unix.SYS_FALLOCATE:       {"truncate", 0, -1},
	unix.SYS_MKDIR:           {"mkdir", -1, 0},
	unix.SYS_MKDIRAT:         {"mkdir", 0, 1},
	unix.SYS_RENAME:          {"rename", -1, 1},
	unix.SYS_RENAMEAT:        {"rename", 2, 3},
	unix.SYS_RENAMEAT2:       {"rename", 2, 3},
	unix.SYS_LINK:            {"link", -1, 1},
	unix.SYS_LINKAT:          {"link", 2, 3},
	unix.SYS_SYMLINK:         {"symlink", -1, 1},
	unix.SYS_SYMLINKAT:       {"symlink", 1, 2},
	unix.SYS_UNLINK:          {"unlink", -1, 0},
	unix.SYS_RMDIR:           {"unlink", -1, 0},
	unix.SYS_UNLINKAT:        {"unlink", 0, 1},
	unix.SYS_CHMOD:           {"chmod", -1, 0},
	unix.SYS_FCHMOD:          {"chmod", 0, -1},
	unix.SYS_FCHMODAT:        {"chmod", 0, 1},
	unix.SYS_UTIMENSAT:       {"times", 0, 1},
	unix.SYS_COPY_FILE_RANGE: {"copy", 2, -1},
	unix.SYS_IOCTL:           {"copy", 0, -1},
}

// Inject starts a command with an injector for the file-system calls below dir, at
// work or asleep.
// Who started it ends the injector when the command has ended.
func Inject(cmd *exec.Cmd, dir string, f Fault, name Namer, asleep bool) (*Injector, error) {
	woken, stop, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	in := &Injector{dir: dir, fault: f, name: name, stop: stop, done: make(chan error, 1), Calls: map[Spot]int{}, places: map[string]string{}}
	in.asleep.Store(asleep)
	started := make(chan error)
	go func() {
		// A filter stays for as long as its thread, and what it starts inherits it: so
		// the thread is this goroutine's alone, and ends with it.
		runtime.LockOSThread()
		if in.listener, err = filter(); err != nil {
			started <- fmt.Errorf("hear of system calls: %w", errors.Join(err, woken.Close(), stop.Close()))
			return
		}
		go func() { in.done <- errors.Join(in.serve(woken), unix.Close(in.listener), woken.Close()) }()
		started <- cmd.Start()
	}()
	if err := <-started; err != nil {
		if in.listener > 0 {
			err = errors.Join(err, in.End())
		}
		return nil, err
	}
	return in, nil
}

// Wake has it count, and its call fail, from now on.
func (in *Injector) Wake() { in.asleep.Store(false) }

// End ends it, after which its counts can be read.
func (in *Injector) End() error {
	return errors.Join(in.stop.Close(), <-in.done)
}

// filter has this thread, and what it starts, announce its file-system calls, and
// returns where they are heard of.
func filter() (int, error) {
	program := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}}
	for number := range named {
		program = append(program,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: uint32(number), Jf: 1},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF})
	}
	program = append(program, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	about := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return 0, err
	}
	// Once it is heard of, a call is not interrupted by the signals that Go sends itself.
	const untilKilled = 1 << 5
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|untilKilled, uintptr(unsafe.Pointer(&about)))
	if errno != 0 {
		return 0, errno
	}
	return int(fd), nil
}

// A notice and an answer are the kernel's struct seccomp_notif and seccomp_notif_resp.
type notice struct {
	id      uint64
	pid     uint32
	flags   uint32
	number  int32
	arch    uint32
	pointer uint64
	args    [6]uint64
}

type answer struct {
	id    uint64
	value int64
	err   int32
	flags uint32
}

// serve answers until it is woken.
func (in *Injector) serve(woken *os.File) error {
	for {
		fds := []unix.PollFd{{Fd: int32(in.listener), Events: unix.POLLIN}, {Fd: int32(woken.Fd()), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		if fds[0].Revents&unix.POLLIN == 0 {
			if fds[1].Revents != 0 {
				return nil
			}
			if fds[0].Revents != 0 { // nobody is left who could be heard of
				fds[0].Fd = -1
				if _, err := unix.Poll(fds[1:], -1); err != nil && !errors.Is(err, unix.EINTR) {
					return err
				}
			}
			continue
		}
		var n notice
		if errno := control(in.listener, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)); errno != 0 {
			if errno == unix.ENOENT || errno == unix.EINTR {
				continue // it was killed
			}
			return fmt.Errorf("hear of a system call: %w", errno)
		}
		a := in.judge(&n)
		if errno := control(in.listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&a)); errno != 0 && errno != unix.ENOENT {
			return fmt.Errorf("answer a system call: %w", errno)
		}
	}
}

func control(fd int, request uintptr, about unsafe.Pointer) syscall.Errno {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(about))
	return errno
}

// judge counts a call, and says what becomes of it: the kernel does it, or it fails.
func (in *Injector) judge(n *notice) answer {
	does := answer{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	call := named[int(n.number)]
	if n.number == unix.SYS_IOCTL && n.args[1] != unix.FICLONE {
		return does
	}
	path, ok := in.below(n, call)
	if !ok || in.asleep.Load() || !in.counts(call.kind, path) {
		return does
	}
	in.Hit, in.At = true, path
	if in.fault.Err != HalfDone {
		return answer{id: n.id, err: -int32(in.fault.Err)}
	}
	written, err := half(n)
	if err != nil || written == 0 { // of one byte there is no half: the next
		in.Hit, in.At = false, ""
		return does
	}
	return answer{id: n.id, value: int64(written)}
}

// counts counts a call, and reports whether it is the one that is to fail.
func (in *Injector) counts(kind, path string) bool {
	place, known := in.places[path]
	if !known {
		place = in.name(strings.TrimPrefix(path, in.dir+"/"))
		in.places[path] = place
	}
	in.Calls[Spot{kind, ""}]++
	in.Calls[Spot{kind, place}]++
	f := in.fault
	return !in.Hit && kind == f.Kind && (f.Place == "" || f.Place == place) && in.Calls[f.Spot] >= f.Nth
}

// below is the path of what a call is about, if it is below the injector's directory.
func (in *Injector) below(n *notice, call naming) (string, bool) {
	path := ""
	if call.path >= 0 {
		path = text(int(n.pid), n.args[call.path])
	}
	if !filepath.IsAbs(path) {
		from := fmt.Sprintf("/proc/%d/cwd", n.pid)
		if call.fd >= 0 && int32(n.args[call.fd]) != unix.AT_FDCWD {
			from = fmt.Sprintf("/proc/%d/fd/%d", n.pid, int32(n.args[call.fd]))
		}
		base, err := os.Readlink(from)
		if err != nil {
			return "", false
		}
		path = filepath.Join(base, path)
	}
	return path, strings.HasPrefix(path, in.dir+"/")
}

// text reads a path out of another process.
func text(pid int, at uint64) string {
	if at == 0 {
		return ""
	}
	buf := make([]byte, unix.PathMax)
	// What lies behind the end of the path may be no memory of the process: page by page.
	got := 0
	for got < len(buf) && bytes.IndexByte(buf[:got], 0) < 0 {
		page := min(len(buf)-got, os.Getpagesize()-int((at+uint64(got))%uint64(os.Getpagesize())))
		n, err := peek(pid, at+uint64(got), buf[got:got+page])
		if err != nil || n == 0 {
			return ""
		}
		got += n
	}
	path, _, _ := bytes.Cut(buf[:got], []byte{0})
	return string(path)
}

// peek reads the memory of another process.
func peek(pid int, at uint64, into []byte) (int, error) {
	local := []unix.Iovec{{Base: &into[0], Len: uint64(len(into))}}
	return unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(at), Len: len(into)}}, 0)
}

// half does half of a write for the process that asked for it.
func half(n *notice) (int, error) {
	size := int(n.args[2] / 2)
	if size == 0 {
		return 0, nil
	}
	content := make([]byte, size)
	if got, err := peek(int(n.pid), n.args[1], content); err != nil || got != size {
		return 0, errors.Join(err, fmt.Errorf("read %d of %d bytes", got, size))
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", n.pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "\nTgid:")
	var process int
	if _, err := fmt.Sscan(rest, &process); err != nil {
		return 0, err
	}
	handle, err := unix.PidfdOpen(process, 0)
	if err != nil {
		return 0, err
	}
	defer func() { _ = unix.Close(handle) }()
	fd, err := unix.PidfdGetfd(handle, int(int32(n.args[0])), 0)
	if err != nil {
		return 0, err
	}
	defer func() { _ = unix.Close(fd) }()
	if n.number == unix.SYS_PWRITE64 {
		return unix.Pwrite(fd, content, int64(n.args[3]))
	}
	return unix.Write(fd, content)
}
