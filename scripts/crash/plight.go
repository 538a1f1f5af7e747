package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// toldLines is how many of the newest lines of a log a plight has.
const toldLines = 40

// plight is what can be seen of a stage in which something does not go on: its
// processes, what they wait for and what they have open (proc(5)), the newest of
// what is known of the mission, and of the daemon's log. Then each of its
// processes in Go says what its goroutines do, and ends: a daemon in its log, a
// keeper on its terminal.
func (s *stage) plight() string {
	home := filepath.Join(s.umbra.Base, "umbra")
	var b strings.Builder
	list := lab.ProcessesWith("UMBRA_HOME=" + home + "\x00")
	for _, p := range list {
		b.WriteString(process(int(p)))
	}
	for _, log := range []string{filepath.Join(home, "journal", "live", s.mission.ID+".log"), filepath.Join(home, "daemon.log")} {
		text, err := os.ReadFile(log)
		fmt.Fprintf(&b, "%s (error %v), the end of it:\n%s\n", log, err, lastLines(text))
	}
	for _, p := range list {
		_ = syscall.Kill(int(p), syscall.SIGQUIT)
	}
	return b.String()
}

// peopled reports whether the mission has an agent or one of its hooks, also one
// that a keeper has started in the instant of its death.
func (s *stage) peopled() bool {
	return len(lab.ProcessesWith("UMBRA_MISSION="+s.mission.ID+"\x00")) > 0
}

// process tells of one process.
func process(pid int) string {
	var b strings.Builder
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	argv, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
	stat, _ := os.ReadFile(filepath.Join(dir, "stat"))
	fmt.Fprintf(&b, "%s\n  %s\n", bytes.ReplaceAll(argv, []byte{0}, []byte{' '}), bytes.TrimSpace(stat))
	threads, _ := filepath.Glob(filepath.Join(dir, "task", "*", "wchan"))
	for _, name := range threads {
		at, _ := os.ReadFile(name)
		fmt.Fprintf(&b, "  thread %s waits in %s\n", filepath.Base(filepath.Dir(name)), at)
	}
	open, _ := os.ReadDir(filepath.Join(dir, "fd"))
	for _, fd := range open {
		to, _ := os.Readlink(filepath.Join(dir, "fd", fd.Name()))
		fmt.Fprintf(&b, "  %s -> %s\n", fd.Name(), to)
	}
	return b.String()
}

func lastLines(text []byte) []byte {
	lines := bytes.SplitAfter(text, []byte("\n"))
	return bytes.Join(lines[max(0, len(lines)-toldLines):], nil)
}
