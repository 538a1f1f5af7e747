package missions

import (
	"fmt"
	"os"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/sessions"
)

// mostAbove bounds how many processes there may be between a hook and its agent.
const mostAbove = 16

// AgentAbove finds the process of the agent that a hook was called by, for a
// HookRequest: pid or the nearest above it that runs the agent. It is 0 if there
// is none, if the system does not tell, if the agent says itself which it is, or if
// the nearest is a server of it.
// It reads the system's process table: the hook's own process asks, since a
// daemon sees another one at worst.
func AgentAbove(agent string, c Caller, pid int) int {
	for _, a := range Agents() {
		if a.Name() != agent {
			continue
		}
		if t, ok := a.(sessions.Telling); ok {
			if _, told := t.PID(callerEnv(c)); told {
				return 0
			}
		}
		return above(a, pid)
	}
	return 0
}

func above(a sessions.Adapter, pid int) int {
	for range mostAbove {
		if pid <= 1 {
			return 0
		}
		switch agent, server := runs(a, pid); {
		case agent:
			return pid
		case server:
			return 0 // who is above it has started it, and may be another's agent
		}
		parent, err := lock.Parent(pid)
		if err != nil {
			return 0
		}
		pid = parent
	}
	return 0
}

// runs reports whether a process is the agent, as it calls itself or by the file that it
// runs, or only the agent's program: by their further words Codex is told from its
// server, which runs the conversations of many.
func runs(a sessions.Adapter, pid int) (agent, server bool) {
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

// How long an agent whose process is not known may be silent, and its session
// file unchanged, until it counts as gone: in a turn, and between turns, where
// it may well wait for its user over night. One that speaks after all goes on.
const (
	silentInTurn = time.Hour
	silentIdle   = 24 * time.Hour
)

// gone reports whether the mission's lifecycle has an agent that is known or,
// with no process to look at, supposed to be no more.
func (l *Local) gone(m *loaded) bool { return m.lost() || l.unheardOf(m) }

// stillGone is gone for a mission that was read some time before: its keeper may
// have told the end of the agent since, and ended itself.
func (l *Local) stillGone(m *loaded) bool {
	now, err := l.load(m.project, m.ID)
	return err == nil && l.gone(now)
}

// unheardOf is gone for an agent whose process is not known, or can't be seen
// from here.
func (l *Local) unheardOf(m *loaded) bool {
	if !HasAgent(m.life) || !m.nameless() {
		return false
	}
	if m.live.Boot != "" && l.self.Boot != "" && m.live.Boot != l.self.Boot {
		return true
	}
	patience := silentIdle
	if InTurn(m.life) {
		patience = silentInTurn
	}
	if l.now().Sub(m.lastSign()) < patience || l.sinceHeard(m) < patience { // the clock may have been set on
		return false
	}
	_, alive := l.sessionProcess(m)
	return !alive
}

// lost reports whether the mission's agent is known to be gone while its
// lifecycle still has one.
func (m *loaded) lost() bool {
	return HasAgent(m.life) && m.live.liveness() == lock.Gone
}

// nameless reports whether nothing is known of the processes of a mission: none
// was noted, or they can't be looked at from here.
func (m *loaded) nameless() bool { return m.live.liveness() == lock.Unknown }

// unseen reports whether the mission has an agent whose process was noted, but
// can't be looked at from here: one in another pid namespace. It may well live.
func (l *Local) unseen(m *loaded) bool {
	noted := m.live.Agent != nil || m.live.Keeper != nil
	return noted && HasAgent(m.life) && m.nameless() && !l.gone(m)
}

// unseenHint is what to type about an agent of which nothing is known.
func unseenHint(m *loaded) string {
	return fmt.Sprintf("end it in its own terminal; if it has ended: umbra mission stop %s --force", m.Name)
}

// lastSign is when the mission's agent was last heard of, or its session file
// written.
func (m *loaded) lastSign() time.Time {
	at := m.used()
	if m.live.Heard.After(at) {
		at = m.live.Heard
	}
	if m.bind.Session == "" {
		return at
	}
	if info, err := os.Stat(m.bind.Session); err == nil && info.ModTime().After(at) {
		at = info.ModTime()
	}
	return at
}

// sessionProcess is the process in which the mission's session is open, as the
// agent's own files say.
func (l *Local) sessionProcess(m *loaded) (pid int, alive bool) {
	a, ok := l.adapter(m.Agent).(sessions.Registering)
	if !ok || m.stored.Session == "" {
		return 0, false
	}
	return a.Live(m.adapterEnv(), m.stored.Session)
}
