// Package automations runs commands of the user's because a mission has changed its state,
// each in a process of its own.
package automations

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/watcher/daemon"
)

// Command runs one command of the user's because a mission has changed
// its state. Umbra calls it, in a session of its own, so that neither an agent
// nor the end of the process that called it has to do with how long it takes.
func Command() *call.Verb {
	return &call.Verb{
		Name: "run-automation", Hidden: true, Short: "run one automation, which is on stdin as JSON (called by umbra)",
		Run: func(c *call.Call) error {
			var a agents.Automation
			if err := json.NewDecoder(c.Stdin).Decode(&a); err != nil {
				return missions.Errorf(missions.KindUsage, "umbra config set automations.idle COMMAND", "no automation on stdin: %w", err)
			}
			c.ReleaseSignals()
			daemon.DropInherited()
			return runAutomation(c.Env, a)
		},
	}
}

// Starter gives the function that starts automations in processes of their own.
func Starter(env call.Env) func(agents.Automation) error {
	return func(a agents.Automation) error {
		spec, err := json.Marshal(a)
		if err != nil {
			return err
		}
		return call.StartApart(env, spec, "run-automation")
	}
}

// How much of an automation's output is kept, how long its log may grow before a
// new one is begun (one old log is kept), and how long a command that is asked
// to end has until it is killed.
const (
	mostOutput    = 32 << 10
	mostLog       = 1 << 20
	killAfter     = 2 * time.Second
	outputBeyond  = time.Second // for what a command leaves running behind it
	logTimeFormat = time.RFC3339
)

// runAutomation runs it to its end, or to its limit, and logs what came of it.
func runAutomation(env call.Env, a agents.Automation) error {
	began := env.Now()
	out := &bounded{most: mostOutput}
	cmd := exec.Command("/bin/sh", "-c", a.Command)
	cmd.Dir, cmd.Stdout, cmd.Stderr = a.Dir, out, out
	cmd.Env = append([]string{}, env.Environ()...)
	for name, value := range a.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = outputBeyond
	how := "ended"
	if err := cmd.Start(); err != nil {
		how = "not started: " + err.Error()
	} else if err := waitAtMost(cmd, a.Limit); err != nil {
		how = err.Error()
	}
	head := fmt.Sprintf("%s %s of %s (%s), %s: %s: %s\n", began.Format(logTimeFormat), a.On, print.Clean(a.Name), a.Mission,
		env.Now().Sub(began).Round(time.Millisecond), print.Clean(a.Command), how)
	return appendLog(a.Log, head+out.text())
}

// waitAtMost waits for a command, and kills its whole process group when its
// time is over. The error says how it ended, if not well.
func waitAtMost(cmd *exec.Cmd, limit time.Duration) error {
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	over := time.NewTimer(limit)
	defer over.Stop()
	select {
	case err := <-ended:
		if errors.Is(err, exec.ErrWaitDelay) {
			return nil // it ended well; what it left running is heard no more
		}
		return err
	case <-over.C:
	}
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
	select {
	case <-ended:
	case <-time.After(killAfter):
	}
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what is left of the group
	return fmt.Errorf("killed after %s (automations.time_limit)", limit)
}

// bounded keeps the beginning of what is written. It is safe for concurrent use.
type bounded struct {
	most int

	mu   sync.Mutex
	kept []byte
	more int
}

func (b *bounded) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := min(len(p), b.most-len(b.kept))
	b.kept = append(b.kept, p[:n]...)
	b.more += len(p) - n
	return len(p), nil
}

// text is what was kept, each line indented.
func (b *bounded) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var s strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(string(b.kept), "\n"), "\n") {
		if line != "" {
			s.WriteString("    " + print.Clean(line) + "\n")
		}
	}
	if b.more > 0 {
		fmt.Fprintf(&s, "    … and %d bytes more\n", b.more)
	}
	return s.String()
}

// appendLog adds to a log in one write, since several may end at once. One at a
// time puts a long one aside: the next would put the short one in its place.
func appendLog(name, text string) (err error) {
	dir, err := os.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // which gives the lock back
	if err := unix.Flock(int(dir.Fd()), unix.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", dir.Name(), err)
	}
	if info, err := os.Stat(name); err == nil && info.Size()+int64(len(text)) > mostLog {
		if err := os.Rename(name, name+".1"); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
