package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/scripts/patience"
)

// inFront waits until the terminal is that of the program's group whose command
// line begins with these words: what is typed earlier is somebody else's.
func (p *pty) inFront(words string) {
	p.t.Helper()
	front := func() bool {
		group, err := unix.IoctlGetInt(int(p.master.Fd()), unix.TIOCGPGRP)
		return err == nil && slices.ContainsFunc(p.session(), func(m member) bool {
			return m.group == group && strings.HasPrefix(m.command, words)
		})
	}
	if !patience.Until(time.Minute, front) {
		p.t.Fatalf("%q never had the terminal; %s", words, p.scene())
	}
}

// scene is what is to be known of a terminal on which something did not happen:
// what it shows, and of each process of its session the group, the group in the
// foreground, its state and what its threads do. A process of umbra's is made to
// say what its goroutines do, which ends it.
func (p *pty) scene() string {
	var b strings.Builder
	for _, stat := range p.session() {
		fmt.Fprintln(&b, stat)
	}
	for _, stat := range p.session() {
		if strings.Contains(stat.command, "umbra") {
			_ = syscall.Kill(stat.pid, syscall.SIGABRT)
			_ = syscall.Kill(stat.pid, syscall.SIGCONT)
		}
	}
	time.Sleep(time.Second) // the dump is read meanwhile; it is for people
	p.mu.Lock()
	defer p.mu.Unlock()
	return "the terminal shows:\n" + p.said.String() + "\nthe processes were:\n" + b.String()
}

// member is a process of a terminal's session.
type member struct {
	pid     int
	group   int
	command string
	stat    string // what proc(5) says from its state on
	threads []string
}

func (m member) String() string {
	return fmt.Sprintf("%d %q: %s\n\t%s", m.pid, m.command, m.stat, strings.Join(m.threads, "\n\t"))
}

func (p *pty) session() []member {
	var list []member
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		text, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			continue // it has ended
		}
		end := strings.LastIndex(string(text), ") ")
		fields := strings.Fields(string(text[end+1:]))
		if end < 0 || len(fields) < 6 || fields[3] != fmt.Sprint(p.cmd.Process.Pid) {
			continue
		}
		m := member{stat: fmt.Sprintf("state %s, parent %s, group %s, in the foreground %s", fields[0], fields[1], fields[2], fields[5])}
		_, _ = fmt.Sscan(filepath.Base(dir)+" "+fields[2], &m.pid, &m.group)
		command, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		m.command = strings.TrimSpace(strings.ReplaceAll(string(command), "\x00", " "))
		tasks, _ := filepath.Glob(filepath.Join(dir, "task", "*"))
		for _, task := range tasks {
			wchan, _ := os.ReadFile(filepath.Join(task, "wchan"))
			status, _ := os.ReadFile(filepath.Join(task, "status"))
			said := []string{filepath.Base(task), string(wchan)}
			for _, line := range strings.Split(string(status), "\n") {
				if strings.HasPrefix(line, "State:") || strings.HasPrefix(line, "Sig") || strings.HasPrefix(line, "Shd") {
					said = append(said, strings.Join(strings.Fields(line), " "))
				}
			}
			m.threads = append(m.threads, strings.Join(said, " "))
		}
		list = append(list, m)
	}
	return list
}
