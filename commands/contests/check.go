package contests

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// stopPatience is how long a check has to end after Ctrl-C.
const stopPatience = 5 * time.Second

// checker runs the user's check in workspaces.
type checker struct {
	c       *call.Call
	home    home.Home
	command string
	reuses  bool // takes what the same check has said of the same snapshot
}

// checkResult is what a check has said, as it is kept beside what it printed.
type checkResult struct {
	Command  string         `json:"command"`
	Snapshot string         `json:"snapshot"` // the newest before the check
	Check    missions.Check `json:"check"`
}

// checkAll runs the check in the workspaces of all forks, as many at a time as there are
// processors. whole is false where it could not be run in one of them.
func checkAll(c *call.Call, command string, reuses bool, forks []missions.ComparedFork) (whole bool, err error) {
	if c.Unwritten != nil {
		return false, c.Unwritten // there is no place for the output
	}
	dir, err := c.HomeDir()
	if err != nil {
		return false, err
	}
	k := checker{c: c, home: home.Home{Dir: dir}, command: command, reuses: reuses}
	var (
		all  sync.WaitGroup
		mu   sync.Mutex // what is below, and the notices
		room = make(chan struct{}, runtime.GOMAXPROCS(0))
		done int
		todo []*missions.ComparedFork
	)
	for i := range forks {
		f := &forks[i]
		if check, known := k.known(f.Fork); known {
			f.Check = &check
			done++
		} else {
			todo = append(todo, f)
		}
	}
	if len(todo) > 0 {
		c.Notice("the check runs in %s", print.Count(len(todo), "workspace"))
	}
	whole = true
	for _, f := range todo {
		all.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			began := c.Now()
			check, err := k.run(c.Context, f.Fork)
			mu.Lock()
			defer mu.Unlock()
			if c.Context.Err() != nil {
				return
			}
			f.Check = &check
			done++
			if err != nil {
				whole = false
				c.Notice("note: the check can't be run in %s: %v", f.Mission, err)
				return
			}
			k.keep(f.Fork, check)
			k.say(f.Fork, check, c.Now().Sub(began))
		})
	}
	all.Wait()
	if c.Context.Err() != nil {
		hint := "the same command checks all again"
		if reuses {
			hint = "umbra contest --continue checks the rest"
		}
		return false, missions.Errorf(missions.KindInterrupted, hint, "interrupted: %d of %s checked", done, print.Count(len(forks), "fork"))
	}
	return whole, nil
}

// known is what the same check has said of the same snapshot, if that may be taken.
func (k checker) known(m missions.Mission) (check missions.Check, known bool) {
	text, err := os.ReadFile(k.home.CheckResultFile(m.ID))
	var r checkResult
	if !k.reuses || err != nil || json.Unmarshal(text, &r) != nil {
		return check, false
	}
	return r.Check, r.Command == k.command && r.Snapshot == m.Head && r.Check.ExitCode != nil
}

// keep keeps what the check has said. One that can't be kept is run again.
func (k checker) keep(m missions.Mission, check missions.Check) {
	text, err := json.Marshal(checkResult{Command: k.command, Snapshot: m.Head, Check: check})
	if err == nil {
		err = os.WriteFile(k.home.CheckResultFile(m.ID), text, 0o600)
	}
	if err != nil {
		k.c.Notice("note: what the check says of %s is not kept: %v", m.Name, err)
	}
}

// say says what the check says of a fork and, if that is not good, what it printed last.
func (k checker) say(m missions.Mission, check missions.Check, took time.Duration) {
	text := fmt.Sprintf("%s is %s, after %s", m.Name, check.State, took.Round(100*time.Millisecond))
	if check.State == missions.CheckUnknown {
		text = fmt.Sprintf("%s: it can't be told, after %s", m.Name, took.Round(100*time.Millisecond))
	}
	if check.State != missions.CheckGood {
		if last := lastLine(k.home.CheckOutputFile(m.ID)); last != "" {
			text += ": " + last
		}
		text += " (umbra mission output " + m.Name + " --check)"
	}
	k.c.Notice("%s", text)
}

// run runs the check in one workspace. The error says why it could not be begun.
func (k checker) run(ctx context.Context, m missions.Mission) (check missions.Check, err error) {
	check = missions.NewCheck(-1)
	if ctx.Err() != nil {
		return check, ctx.Err()
	}
	if info, err := os.Stat(m.Workspace); m.Workspace == "" || err != nil || !info.IsDir() {
		return check, errors.New("its workspace is not there")
	}
	name := k.home.CheckOutputFile(m.ID)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return check, err
	}
	if err := os.Remove(k.home.CheckResultFile(m.ID)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return check, err
	}
	out, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return check, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", k.command)
	cmd.Dir, cmd.Stdout, cmd.Stderr = m.Workspace, out, out
	cmd.Env = append(k.c.Environ(), "UMBRA_MISSION="+m.ID, "PWD="+m.Workspace)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a check that asks on the terminal fails, and does not wait unseen
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = stopPatience
	if err := cmd.Start(); err != nil {
		return check, err
	}
	_ = cmd.Wait() // its exit code says how it ended
	if ctx.Err() != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it has left running
	}
	return missions.NewCheck(cmd.ProcessState.ExitCode()), nil
}

// lastLine is the last line of a file that is not empty, as far as it can be read.
func lastLine(name string) (last string) {
	file, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer file.Close()
	const end = 4 << 10
	if info, err := file.Stat(); err == nil && info.Size() > end {
		_, _ = file.Seek(-end, 2) // else it is read whole
	}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if text := strings.TrimSpace(lines.Text()); text != "" {
			last = text
		}
	}
	return last
}
