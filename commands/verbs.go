package commands

import (
	"github.com/umbra-vcs/umbra/commands/automations"
	"github.com/umbra-vcs/umbra/commands/bisect"
	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/complete"
	"github.com/umbra-vcs/umbra/commands/config"
	"github.com/umbra-vcs/umbra/commands/connect"
	"github.com/umbra-vcs/umbra/commands/contests"
	"github.com/umbra-vcs/umbra/commands/daemon"
	"github.com/umbra-vcs/umbra/commands/demo"
	"github.com/umbra-vcs/umbra/commands/fixes"
	"github.com/umbra-vcs/umbra/commands/history"
	"github.com/umbra-vcs/umbra/commands/hook"
	"github.com/umbra-vcs/umbra/commands/hooks"
	"github.com/umbra-vcs/umbra/commands/keeper"
	"github.com/umbra-vcs/umbra/commands/land"
	"github.com/umbra-vcs/umbra/commands/mcp"
	"github.com/umbra-vcs/umbra/commands/merges"
	"github.com/umbra-vcs/umbra/commands/mission"
	"github.com/umbra-vcs/umbra/commands/reference"
	"github.com/umbra-vcs/umbra/commands/remotes"
	"github.com/umbra-vcs/umbra/commands/restores"
	"github.com/umbra-vcs/umbra/commands/status"
	"github.com/umbra-vcs/umbra/commands/timeline"
	"github.com/umbra-vcs/umbra/commands/uninstall"
	"github.com/umbra-vcs/umbra/commands/updates"
	"github.com/umbra-vcs/umbra/commands/upkeep"
	"github.com/umbra-vcs/umbra/commands/version"
	"github.com/umbra-vcs/umbra/commands/watch"
)

// allVerbs is the command line. Options live in the verbs, so that each table
// serves one run.
func allVerbs() []*call.Verb {
	return []*call.Verb{
		mission.Command(), mission.Fork(), mission.Project(),
		timeline.Command(), history.Snapshot(), history.Log(), history.Show(), history.Search(), history.Blame(), bisect.Command(), watch.Command(), history.Cat(), history.Diff(),
		restores.Restore(), restores.Promote(mission.OfferRemoval), contests.Compare(), contests.Contest(), merges.Merge(), fixes.Fix(), land.Command(), restores.Undo(), restores.Redo(), history.Pin(), history.Unpin(), history.Pins(), history.Git(),
		updates.Updates(), status.Command(), upkeep.Doctor(), config.Command(), daemon.Command(), hooks.Command(), hook.Command(), mcp.Command(),
		complete.Scripts(), complete.Command(allVerbs), reference.Man(allVerbs), version.Command(), reference.Docs(allVerbs), uninstall.Command(allVerbs),
		remotes.Remote(), remotes.Push(), remotes.Fetch(), remotes.Export(),
		upkeep.Du(), upkeep.Import(remotes.ImportFile), upkeep.Trash(), upkeep.Forget(), upkeep.Prune(),
		demo.Command(), demo.ScriptedAgent(), automations.Command(), connect.Housekeeping(), keeper.ForkCommand(),
	}
}
