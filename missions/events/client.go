package events

import (
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/sessions"
)

// agentVersion is the version of the agent whose turn has ended; "" where nothing
// tells.
func agentVersion(a sessions.Adapter, e sessions.Event) string {
	v, ok := a.(sessions.Versioned)
	if !ok || e.Kind != sessions.KindStop || e.Transcript == "" {
		return ""
	}
	if p, ok := a.(sessions.Packaged); ok && e.PID > 0 {
		if argv, err := lock.CommandLine(e.PID); err == nil {
			return p.Installed(argv)
		}
	}
	return v.Client(e.Transcript)
}
