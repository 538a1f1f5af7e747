// Package mission has the verbs of missions, forks and projects: begin, list, resume, stop,
// remove. What has an agent on this terminal ends in package keeper.
package mission

import (
	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/forks"
)

func Command() *call.Verb {
	return &call.Verb{
		Name: "mission", Short: "missions: agents at work in workspaces",
		Verbs: []*call.Verb{
			missionNewCommand(), missionLsCommand(), missionShowCommand(), missionResumeCommand(), missionWaitCommand(),
			missionStopCommand(), missionRenameCommand(), missionRmCommand(), forks.Output(),
		},
	}
}
