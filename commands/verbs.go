package commands

import (
	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/restores"
	"github.com/umbra-vcs/umbra/commands/updates"
)

// allVerbs is the command line. Options live in the verbs, so that each table
// serves one run.
func allVerbs() []*call.Verb {
	return []*call.Verb{
		missionCommand(), forkCommand(), projectCommand(),
		timelineCommand(), snapshotCommand(), logCommand(), showCommand(), catCommand(), diffCommand(),
		restores.Restore(), restores.Promote(offerRemoval), restores.Undo(), restores.Redo(), pinCommand(), unpinCommand(), pinsCommand(), gitCommand(),
		updates.Updates(), statusCommand(), doctorCommand(), configCommand(), daemonCommand(), hooksCommand(), hookCommand(),
		completionCommand(), completeCommand(allVerbs), manCommand(allVerbs), versionCommand(), docsCommand(allVerbs), uninstallCommand(allVerbs),
		duCommand(), trashCommand(), forgetCommand(),
		demoCommand(), scriptedAgentCommand(), automationCommand(),
	}
}
