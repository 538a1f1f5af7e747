package presence

import (
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// maxParentSteps bounds how many processes there may be between a hook and its agent.
const maxParentSteps = 16

// FindAgentProcess finds the process of the agent that called a hook, for a HookRequest:
// pid, or the nearest process above it that runs the agent. It is 0 if there is none, if the
// system does not tell, if the agent names its process itself, or if the nearest is the
// agent's server. It reads the system's process table, so the hook's own process calls it: a
// daemon may see another table.
func FindAgentProcess(agent string, c missions.Caller, pid int) int {
	for _, a := range projects.Agents() {
		if a.Name() != agent {
			continue
		}
		if t, ok := a.(sessions.Telling); ok {
			if _, told := t.PID(projects.CallerEnv(c)); told {
				return 0
			}
		}
		return findAgentAbove(a, pid)
	}
	return 0
}

func findAgentAbove(a sessions.Adapter, pid int) int {
	for pid := range ProcessesAbove(pid) {
		switch agent, server := runsAgent(a, pid); {
		case agent:
			return pid
		case server:
			return 0 // who is above it has started it, and may be another's agent
		}
	}
	return 0
}

// ProcessesAbove are a process and those that it descends from, the nearest first, as far
// as the system tells.
func ProcessesAbove(pid int) iter.Seq[int] {
	return func(yield func(int) bool) {
		at := pid // the sequence begins anew each time it is gone through
		for range maxParentSteps {
			if at <= 1 || !yield(at) {
				return
			}
			parent, err := lock.Parent(at)
			if err != nil {
				return
			}
			at = parent
		}
	}
}

// runsAgent reports whether a process is the agent, as it calls itself or by the file that it
// runs, or only the agent's program: by their further words Codex is told from its
// server, which runs the conversations of many.
func runsAgent(a sessions.Adapter, pid int) (agent, server bool) {
	var names []string
	argv, err := lock.CommandLine(pid)
	if err == nil && len(argv) > 0 {
		names = append(names, argv[0])
	}
	if program, err := lock.Program(pid); err == nil {
		names = append(names, program)
	}
	for _, name := range names {
		if a.Runs(append([]string{name}, argv[min(1, len(argv)):]...)) {
			return true, false
		}
		server = server || a.Runs([]string{name})
	}
	return false, server
}

// SessionProcess is the process in which the mission's session is open, as the
// agent's own files say.
func (o *Observer) SessionProcess(m *projects.Mission) (pid int, alive bool) {
	a, ok := o.Adapter(m.Agent).(sessions.Registering)
	if !ok || m.Stored.Session == "" {
		return 0, false
	}
	return a.Live(m.AdapterEnv(), m.Stored.Session)
}

// WaitedForProcess is the agent's program where a process is only the script that was
// started in its place, and has handed it all of its own words: nil if there is none, or if
// the system does not tell. Such a script may hear no signal while it waits, as that which
// npm installs for Copilot CLI; ended alone, it leaves the program behind.
func (o *Observer) WaitedForProcess(m *projects.Mission, script *lock.Owner) *lock.Owner {
	a := o.Adapter(m.Agent)
	if a == nil || script == nil || script.Liveness() != lock.Alive {
		return nil
	}
	words, err := lock.CommandLine(script.PID)
	if err != nil {
		return nil
	}
	for _, pid := range childrenOf(script.PID) {
		given, err := lock.CommandLine(pid)
		if err != nil || len(given) == 0 || len(words) != len(given)+1 || !slices.Equal(words[2:], given[1:]) {
			continue
		}
		if runs, _ := runsAgent(a, pid); runs && a.Runs(words) {
			owner := lock.Process(pid, "")
			return &owner
		}
	}
	return nil
}

// childrenOf are the processes that another has started, none where the system does not
// tell: only Linux does.
func childrenOf(pid int) (children []int) {
	process := strconv.Itoa(pid)
	list, _ := os.ReadFile(filepath.Join("/proc", process, "task", process, "children"))
	for _, word := range strings.Fields(string(list)) {
		if child, err := strconv.Atoi(word); err == nil {
			children = append(children, child)
		}
	}
	return children
}

// CanRelaunchAgent reports whether the mission has an agent that can be ended, and a
// keeper that would launch it again: one that has told of its start.
func CanRelaunchAgent(m *projects.Mission) bool {
	a := m.Live.Agent
	return missions.HasAgent(m.Lifecycle) && m.Live.HasKeeper() && m.Live.KeeperChild != nil && a != nil && a.Liveness() == lock.Alive
}
