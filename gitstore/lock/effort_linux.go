package lock

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/disk"
)

// clockTick is the unit of times in /proc/<pid>/stat on every architecture that Go
// runs on.
const clockTick = 10 * time.Millisecond

// EffortOf reads the process table; false if the process is gone.
func EffortOf(pid int) (Effort, bool) {
	e := Effort{}
	if !e.add(pid) {
		return e, false
	}
	e.Spoke = spoke(pid)
	below(pid, e.add)
	return e, true
}

// below visits the processes that a process has started, and what those have of which
// visit says that they are there.
func below(pid int, visit func(pid int) bool) {
	queue := children(pid)
	for seen := 0; len(queue) > 0 && seen < mostProcesses; seen++ {
		if next := queue[0]; visit(next) {
			queue = append(queue, children(next)...)
		}
		queue = queue[1:]
	}
}

// Began reports whether a process that another one has started, or one that such a one
// has, leads a process group (proc(5), field 5), runs now and began when the system had
// been up for more than from, and at most to (see Uptime).
func Began(pid int, from, to time.Duration) (began bool) {
	below(pid, func(pid int) bool {
		ticks, err := startOf(pid)
		fields, err2 := statOf(pid)
		if err != nil || err2 != nil {
			return false
		}
		at := time.Duration(ticks) * clockTick
		began = began || at > from && at <= to && fields[2] == strconv.Itoa(pid)
		return !began
	})
	return began
}

// add adds a process, with those of its children that have ended: fields 3 and 14
// to 17 of /proc/<pid>/stat.
func (e *Effort) add(pid int) bool {
	fields, err := statOf(pid)
	if err != nil || len(fields) < 15 {
		return false
	}
	for _, f := range fields[11:15] {
		if ticks, err := strconv.ParseInt(f, 10, 64); err == nil {
			e.Time += time.Duration(ticks) * clockTick
		}
	}
	e.Active = e.Active || fields[0] == "R" || fields[0] == "D"
	return true
}

// children are the processes that any thread of a process has started.
func children(pid int) (pids []int) {
	dir := "/proc/" + strconv.Itoa(pid) + "/task/"
	tasks, _ := os.ReadDir(dir)
	for _, task := range tasks {
		list, _ := disk.ReadFile(dir + task.Name() + "/children")
		for word := range strings.FieldsSeq(string(list)) {
			if child, err := strconv.Atoi(word); err == nil {
				pids = append(pids, child)
			}
		}
	}
	return pids
}

// spoke is when the terminal was written to that a process's output or errors go
// to.
func spoke(pid int) (at time.Time) {
	for _, fd := range []string{"1", "2"} {
		info, err := os.Stat("/proc/" + strconv.Itoa(pid) + "/fd/" + fd)
		if err != nil {
			continue
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok && isTerminal(unix.Major(uint64(stat.Rdev))) && info.ModTime().After(at) {
			at = info.ModTime()
		}
	}
	return at
}

// isTerminal reports whether a device's major number is that of consoles and
// serial lines, or of pseudo-terminals (devices.txt of the kernel).
func isTerminal(major uint32) bool { return major == 4 || 136 <= major && major <= 143 }
