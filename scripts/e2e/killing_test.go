package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// A victim is a process that is killed.
type victim string

const (
	daemonDies  victim = "daemon"
	keeperDies  victim = "keeper"
	agentDies   victim = "agent"
	commandDies victim = "command" // that runs forks in the background
)

// A killer holds the daemon at a step, and kills one of the processes meanwhile.
type killer struct {
	*terminal // nil for agents without one
	p         *person
	daemon    *exec.Cmd
	points    string // where FIFOs are that hold it
}

// killer starts a daemon that can be held at its failpoints (gitstore/failpoint says how).
func (p *person) killer() *killer {
	p.Helper()
	k := &killer{p: p, points: p.TempDir()}
	k.daemon = exec.Command(p.binary, "daemon", "run")
	k.daemon.Dir, k.daemon.Env = p.home, append(p.env, "UMBRA_FAILPOINT_HOLD="+k.points)
	if err := k.daemon.Start(); err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() {
		_ = k.daemon.Process.Kill() // it may have ended
		_ = k.daemon.Wait()
	})
	p.wait("the daemon to serve", func() bool { return p.run(p.home, "umbra", "daemon", "status").code == 0 })
	return k
}

// launches has an agent of a mission tui on a terminal.
func (k *killer) launches() *killer {
	k.p.Helper()
	d := k.p.speaks()
	k.terminal = k.p.terminal(append([]string{k.p.binary, "mission", "new", "--name", "tui", "--"}, d.terminal...)...)
	k.see(d.ready)
	return k
}

// killAt kills the victim while the daemon waits at a point to which something leads. What
// leads there may ask again and again whether that is so.
func (k *killer) killAt(v victim, point string, lead func(reached func() bool)) {
	k.p.Helper()
	k.whileAt(point, func() { k.kill(v) }, lead)
}

func (k *killer) whileAt(point string, do func(), lead func(reached func() bool)) {
	k.p.Helper()
	name := filepath.Join(k.points, point)
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		k.p.Fatal(err)
	}
	var held *os.File
	lead(func() bool {
		if held != nil {
			return true
		}
		f, err := os.OpenFile(name, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if err != nil && !errors.Is(err, syscall.ENXIO) { // nobody reads it yet
			k.p.Fatal(err)
		}
		if err == nil {
			held = f
		}
		return held != nil
	})
	do()
	if err := errors.Join(os.Remove(name), held.Close()); err != nil {
		k.p.Fatal(err)
	}
}

// kill kills the victim, and waits for its end where nobody else does.
func (k *killer) kill(v victim) {
	k.p.Helper()
	if v == daemonDies {
		if err := k.daemon.Process.Kill(); err != nil {
			k.p.Fatal(err)
		}
		_ = k.daemon.Wait() // it was killed
		return
	}
	pid := k.keeper()
	if v == agentDies {
		pid = k.agent()
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); pid <= 0 || err != nil {
		k.p.Fatalf("kill the %s, %d: %v", v, pid, err)
	}
	switch {
	case v == keeperDies && k.terminal != nil:
		k.endsBy()
	case v == agentDies: // what is looked at next is not to be what it has left on the screen
		k.p.wait("the agent to end", func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) })
	}
}

// endsBy waits for the end of the terminal's program, however it ends.
func (k *killer) endsBy() {
	k.p.Helper()
	k.p.wait("the keeper to end", func() bool {
		k.tmux("run-shell", "kill -CHLD #{pid}") // tmux may have lost the signal of its end
		return k.dead()
	})
}

// keeper is the process of the terminal's program, or that which keeps the one background
// fork, 0 if there is none.
func (k *killer) keeper() int {
	k.p.Helper()
	if k.terminal == nil {
		for _, process := range lab.ProcessesWith("HOME=" + k.p.home + "\x00") {
			words, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", process)) // it may have ended
			if strings.Contains(string(words), "\x00keep-fork\x00") {
				return int(process)
			}
		}
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(k.tmux("display-message", "-p", "#{pane_pid}")))
	if err != nil {
		k.p.Fatal(err)
	}
	return pid
}

// agent is the process that the keeper has started, 0 if there is none. It may have started a
// daemon too.
func (k *killer) agent() int {
	k.p.Helper()
	for _, pid := range childrenOf(k.keeper()) {
		if argv, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); !strings.Contains(string(argv), "\x00daemon\x00run\x00") {
			return pid
		}
	}
	return 0
}

// isAgent reports whether a process is the agent, or what npm's script of it has started.
func (k *killer) isAgent(pid int) bool {
	k.p.Helper()
	agent := k.agent()
	return agent != 0 && (pid == agent || slices.Contains(childrenOf(agent), pid))
}

func childrenOf(pid int) (children []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, name := range lists {
		words, _ := os.ReadFile(name) // a thread may have ended
		for _, word := range strings.Fields(string(words)) {
			if child, err := strconv.Atoi(word); err == nil {
				children = append(children, child)
			}
		}
	}
	return children
}

// settles waits until nothing that was cut off goes on, and returns the mission that has the
// terminal. If the terminal has ended, the parent is resumed in another.
func (k *killer) settles() (holder string) {
	k.p.Helper()
	for range 2 {
		k.watch("a mission to have the terminal", func() bool {
			holder = k.holder()
			return holder != "" || k.dead()
		})
		if holder != "" {
			return holder
		}
		k.begin(k.p.repo, k.p.binary, "mission", "resume", "tui")
	}
	k.p.Fatalf("umbra mission resume ends; the screen is\n%s", k.screen())
	return ""
}

// holder is the mission that has the terminal for good, "" if none has.
func (k *killer) holder() (holder string) {
	k.p.Helper()
	if k.dead() {
		return ""
	}
	for _, m := range asked[[]mission](k.p, "mission", "ls") {
		switch {
		case m.PID == 0:
		case k.isHanding(m.ID) || m.State != "idle" || !k.isAgent(m.PID) || holder != "":
			return ""
		default:
			holder = m.Name
		}
	}
	if !strings.Contains(k.screen(), k.p.speaks().ready) {
		return ""
	}
	return holder
}

// isHanding reports whether the terminal of a mission is being passed on, or its agent ended,
// or whether something waits for the end of its turn.
func (k *killer) isHanding(id string) bool {
	k.p.Helper()
	journal := filepath.Join(k.p.home, ".local", "share", "umbra", "journal")
	logs, _ := filepath.Glob(filepath.Join(journal, "*", "phases"))
	for _, name := range logs {
		if text, err := os.ReadFile(name); err == nil && !strings.Contains(string(text), "\ndone ") {
			return true
		}
	}
	text, err := os.ReadFile(filepath.Join(journal, "live", id+".log"))
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err != nil {
		k.p.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	_, last, _ := strings.Cut(lines[len(lines)-1], " ")
	var live struct {
		Waiting struct {
			Handover      json.RawMessage `json:"handover"`
			QueuedRestore json.RawMessage `json:"queued"`
		} `json:"waiting"`
	}
	if err := json.Unmarshal([]byte(last), &live); err != nil {
		return true // somebody writes
	}
	return live.Waiting.Handover != nil || live.Waiting.QueuedRestore != nil
}
