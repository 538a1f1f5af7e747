package presence

import (
	"fmt"
	"os"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// maxParentSteps bounds how many processes there may be between a hook and its agent.
const maxParentSteps = 16

// FindAgentProcess finds the process of the agent that a hook was called by, for a
// HookRequest: pid or the nearest above it that runs the agent. It is 0 if there
// is none, if the system does not tell, if the agent says itself which it is, or if
// the nearest is a server of it.
// It reads the system's process table: the hook's own process asks, since a
// daemon sees another one at worst.
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
	for range maxParentSteps {
		if pid <= 1 {
			return 0
		}
		switch agent, server := runsAgent(a, pid); {
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

// How long an agent whose process is not known may be silent, and its session
// file unchanged, until it counts as gone: in a turn, and between turns, where
// it may well wait for its user over night. One that speaks after all goes on.
const (
	MaxSilenceInTurn = time.Hour
	MaxSilenceIdle   = 24 * time.Hour
)

// IsAgentGone reports whether the mission's lifecycle has an agent that is known or,
// with no process to look at, supposed to be no more.
func (o *Observer) IsAgentGone(m *projects.Mission) bool {
	return isAgentLost(m) || o.isAgentLongSilent(m)
}

// IsAgentStillGone is gone for a mission that was read some time before: its keeper may
// have told the end of the agent since, and ended itself.
func (o *Observer) IsAgentStillGone(m *projects.Mission) bool {
	now, err := o.LoadMission(m.Project, m.ID)
	return err == nil && o.IsAgentGone(now)
}

// isAgentLongSilent is gone for an agent whose process is not known, or can't be seen
// from here.
func (o *Observer) isAgentLongSilent(m *projects.Mission) bool {
	if !missions.HasAgent(m.Lifecycle) || !HasUnknownProcess(m) {
		return false
	}
	if m.Live.Boot != "" && o.Self.Boot != "" && m.Live.Boot != o.Self.Boot {
		return true
	}
	patience := MaxSilenceIdle
	if missions.InTurn(m.Lifecycle) {
		patience = MaxSilenceInTurn
	}
	if o.Now().Sub(lastSignOfLife(m)) < patience || o.ElapsedSinceHook(m) < patience { // the clock may have been set on
		return false
	}
	_, alive := o.SessionProcess(m)
	return !alive
}

// isAgentLost reports whether the mission's agent is known to be gone while its
// lifecycle still has one.
func isAgentLost(m *projects.Mission) bool {
	return missions.HasAgent(m.Lifecycle) && m.Live.Liveness() == lock.Gone
}

// HasUnknownProcess reports whether nothing is known of the processes of a mission: none
// was noted, or they can't be looked at from here.
func HasUnknownProcess(m *projects.Mission) bool { return m.Live.Liveness() == lock.Unknown }

// IsAgentHidden reports whether the mission has an agent whose process was noted, but
// can't be looked at from here: one in another pid namespace. It may well live.
func (o *Observer) IsAgentHidden(m *projects.Mission) bool {
	noted := m.Live.Agent != nil || m.Live.Keeper != nil
	return noted && missions.HasAgent(m.Lifecycle) && HasUnknownProcess(m) && !o.IsAgentGone(m)
}

// HiddenAgentHint is what to type about an agent of which nothing is known.
func HiddenAgentHint(m *projects.Mission) string {
	return fmt.Sprintf("end it in its own terminal; if it has ended: umbra mission stop %s --force", m.Name)
}

// lastSignOfLife is when the mission's agent was last heard of, or its session file
// written.
func lastSignOfLife(m *projects.Mission) time.Time {
	at := m.LastUsed()
	if m.Live.LastHookAt.After(at) {
		at = m.Live.LastHookAt
	}
	if m.Binding.SessionPath == "" {
		return at
	}
	if info, err := os.Stat(m.Binding.SessionPath); err == nil && info.ModTime().After(at) {
		at = info.ModTime()
	}
	return at
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
