package hooks

import (
	"bytes"
	"fmt"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/agents"
)

// addServer adds Umbra's tools to settings that hold hooks, unless the user wants none or
// has a server of that name.
func (at HookPlace) addServer(settings []byte, binary string) (out []byte, theirs bool, err error) {
	if at.server == nil || !at.wantsServer {
		return settings, false, nil
	}
	return at.server.InstallServer(settings, agents.ToolServer(binary))
}

// dropServer takes Umbra's tools out of settings that hold anything.
func (at HookPlace) dropServer(settings []byte) ([]byte, error) {
	if at.server == nil || len(bytes.TrimSpace(settings)) == 0 {
		return settings, nil
	}
	return at.server.UninstallServer(settings)
}

// describeServer says whether the agent has Umbra's tools.
func (at HookPlace) describeServer(r *missions.HooksResult, settings []byte, binary string) {
	if at.server == nil || !at.wantsServer || binary == "" {
		return
	}
	with, theirs, err := at.addServer(settings, binary)
	switch {
	case err != nil:
		r.Problems = append(r.Problems, err.Error())
	case theirs:
		r.Extras = append(r.Extras, "your server of tools that is called umbra, as it is")
	case bytes.Equal(with, settings):
		r.Extras = append(r.Extras, "Umbra's tools for the agent (umbra mcp)")
	default:
		r.Problems = append(r.Problems, fmt.Sprintf("Umbra's tools for the agent are not there, or of another umbra: umbra hooks install %s mends it", r.Name))
	}
}
