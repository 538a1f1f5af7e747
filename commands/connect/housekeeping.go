package connect

import (
	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/watcher/daemon"
)

// housekeepingVerb is what the process is called with that does a project's housekeeping.
const housekeepingVerb = "run-housekeeping"

// Housekeeping does a project's housekeeping once nothing is stored in it, as a daemon does
// in an idle moment. A command that does its own work calls it.
func Housekeeping() *call.Verb {
	return &call.Verb{
		Name: housekeepingVerb, Args: "DIR", Min: 1, Max: 1, Hidden: true,
		Short: "do the housekeeping of the project that is kept in DIR, once it is quiet (called by umbra)",
		Run: func(c *call.Call) error {
			daemon.DropInherited()
			service, closer, err := open(c.Env, c.Globals)
			if err != nil {
				return err
			}
			done, err := service.HousekeepWhenQuiet(c.Context, c.Arg(0), daemon.HousekeepQuiet)
			if done.Problem != "" {
				service.Logger.Warn("housekeeping", "project", done.Project, "error", done.Problem)
			}
			if cerr := closer.Close(); err == nil {
				err = cerr
			}
			return err
		},
	}
}

// HousekeepingStarter gives the function that starts such a process.
func HousekeepingStarter(env call.Env, h home.Home) func(dir string) error {
	return func(dir string) error {
		return call.StartApart(env, nil, housekeepingVerb, "--home", h.Dir, dir)
	}
}
