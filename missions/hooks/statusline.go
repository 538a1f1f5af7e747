package hooks

import (
	"bytes"
	"fmt"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// statusLineCommand is what an agent runs for its status line.
func statusLineCommand(binary string) string { return home.ShellQuote(binary) + " status --statusline" }

// addStatusLine gives the agent Umbra's status line, unless its user has one.
func (at HookPlace) addStatusLine(settings []byte, binary string) (out []byte, theirs bool, err error) {
	if at.statusLine == nil {
		return settings, false, nil
	}
	return at.statusLine.InstallStatusLine(settings, statusLineCommand(binary))
}

// dropStatusLine takes Umbra's status line out of settings that hold anything.
func (at HookPlace) dropStatusLine(settings []byte) ([]byte, error) {
	if at.statusLine == nil || len(bytes.TrimSpace(settings)) == 0 {
		return settings, nil
	}
	return at.statusLine.UninstallStatusLine(settings)
}

// describeStatusLine says whether the agent's status line is Umbra's, and how
// Umbra's is added to the user's.
func (at HookPlace) describeStatusLine(r *missions.HooksResult, settings []byte, binary string) {
	if at.statusLine == nil || binary == "" {
		return
	}
	with, theirs, err := at.addStatusLine(settings, binary)
	switch {
	case err != nil:
		r.Problems = append(r.Problems, err.Error())
	case theirs:
		r.Extras = append(r.Extras, "your status line as it is; to have Umbra's words in it, let its command hand its input on to: "+statusLineCommand(binary))
	case bytes.Equal(with, settings):
		r.Extras = append(r.Extras, "a status line")
	default:
		r.Problems = append(r.Problems, fmt.Sprintf("the status line is not there, or of another umbra: umbra hooks install %s mends it", r.Name))
	}
}
