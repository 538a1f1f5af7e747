package agents

import (
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// chooseAgent finds the agent and its command: as the request says; otherwise the first
// known agent on the caller's PATH; otherwise the caller's shell.
func (l *Launcher) chooseAgent(r missions.NewMissionRequest) (agent string, command []string, err error) {
	if len(r.Command) > 0 {
		if r.Command[0] == "" {
			return "", nil, missions.Errorf(missions.KindUsage, "umbra mission new -- COMMAND", "the command is empty")
		}
		agent = l.AgentOf(r.Command)
		if r.Agent != "" {
			if _, err := l.AgentCommand(r.Agent); err != nil {
				return "", nil, err
			}
			agent = r.Agent
		}
		return agent, r.Command, projects.MayRecord(r.Command)
	}
	if r.Agent != "" {
		command, err = l.AgentCommand(r.Agent)
		return r.Agent, command, err
	}
	for _, a := range l.Adapters {
		if IsOnPath(r.Caller.Env["PATH"], a.Name()) {
			return a.Name(), []string{a.Name()}, nil
		}
	}
	if r.Prompt != "" { // which a shell could not be given
		return "", nil, missions.Errorf(missions.KindUsage, "install one of them, or put the prompt into a command: umbra mission new -- COMMAND",
			"no agent to give the prompt to is on your PATH: %s were looked for", agentNames(l.Adapters))
	}
	shell := r.Caller.Env["SHELL"]
	if shell == "" {
		shell = "/bin/sh"
	}
	return filepath.Base(shell), []string{shell}, nil
}

// AgentCommand is the program of an agent that Umbra can start.
func (l *Launcher) AgentCommand(agent string) ([]string, error) {
	if a := l.Adapter(agent); a == nil || projects.IsForeignAdapter(a) {
		return nil, l.unknownAgentError(agent)
	}
	return []string{agent}, nil
}

func (l *Launcher) unknownAgentError(name string) error {
	return missions.Errorf(missions.KindUsage, "for any other command: umbra mission new -- COMMAND", "no agent %q; Umbra knows %s", name, agentNames(l.Adapters))
}

func agentNames(adapters []sessions.Adapter) string {
	var names []string
	for _, a := range adapters {
		names = append(names, a.Name())
	}
	return strings.Join(names, ", ")
}

// IsOnPath reports whether a program of that name is in one of PATH's
// directories.
func IsOnPath(path, name string) bool {
	for _, dir := range filepath.SplitList(path) {
		if filepath.IsAbs(dir) {
			if _, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
				return true
			}
		}
	}
	return false
}
