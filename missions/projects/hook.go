package projects

import (
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/lock"
)

// RelativePath names a file of the workspace as its snapshots do; any other target of a
// tool stays as it is.
func (m *Mission) RelativePath(target string) string {
	return strings.TrimPrefix(target, m.Binding.Workspace+string(filepath.Separator))
}

// IsAgentProcess reports whether the mission's agent is the process with this pid.
func (l *ProcessState) IsAgentProcess(pid int) bool {
	return l.Agent != nil && l.Agent.PID == pid && l.Agent.Liveness() == lock.Alive
}
