package mission

import (
	"os/exec"
	"strings"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/settings"
)

// open runs the configured launch.open for each fork, for example
// `tmux split-window -h 'umbra mission resume {id}'`. Only the user's own file
// names it. It reports whether there is one.
func open(c *call.Call, list []missions.Mission) (opened bool, err error) {
	h, err := c.HomeDir()
	if err != nil {
		return false, err
	}
	config, err := settings.Load(home.Home{Dir: h}.ConfigFile())
	if err == nil {
		config, err = config.OverriddenBy(c.Getenv)
	}
	if err != nil || config.Launch.Open == "" {
		return false, err
	}
	for _, m := range list {
		cmd := exec.Command("/bin/sh", "-c", strings.ReplaceAll(config.Launch.Open, "{id}", m.ID))
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = m.Workspace, c.Environ(), c.Stderr, c.Stderr
		if err := c.Run(cmd); err != nil {
			return true, missions.Errorf(missions.KindFailed, "umbra mission resume "+m.Name+" launches it by hand",
				"launch.open for %s: %w", m.Name, err)
		}
	}
	return true, nil
}
