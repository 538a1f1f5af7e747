package commands

import "github.com/umbra-vcs/umbra/commands/call"

func missionCommand() *call.Verb {
	return &call.Verb{
		Name: "mission", Short: "missions: agents at work in workspaces",
		Verbs: []*call.Verb{
			missionNewCommand(), missionLsCommand(), missionShowCommand(), missionResumeCommand(), missionWaitCommand(),
			missionStopCommand(), missionRenameCommand(), missionRmCommand(),
		},
	}
}
