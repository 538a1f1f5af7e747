package forks

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/settings"
)

// Open runs the configured launch.open for each fork, for example
// `tmux split-window -h 'umbra mission resume {id}'` or `xterm -e umbra mission resume
// {id}`. Only the user's own file names it. It reports whether there is one. What it has
// opened lives on if the user interrupts.
func Open(c *call.Call, list []missions.Mission) (opened bool, err error) {
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
	svc, caller, _, err := c.Asking()
	if err != nil {
		return true, err
	}
	for _, m := range list {
		o, err := startOpener(c, config.Launch.Open, m)
		if err == nil {
			err = o.await(c, svc, caller, max(time.Duration(config.Hooks.MaxWait), leastOpening))
		}
		if err != nil {
			return true, missions.Errorf(missions.KindFailed, "umbra mission resume "+m.Name+" launches it by hand",
				"launch.open for %s: %w", m.Name, err)
		}
	}
	return true, nil
}

// heldPane runs a command, and keeps its pane open if the agent could not be started, or its
// user is told what to type elsewhere: tmux closes a pane with its command, and what that
// has said is gone.
const heldPane = `"$@"; code=$?; case $code in %d | %d) echo "Press Enter to close this pane."; read -r line ;; esac; exit $code`

// openPane opens the terminal of a fork beside the caller's pane of tmux, in a window of its
// own if there is no room. It reports false outside of tmux. The pane has the environment of
// tmux, and not the caller's: what leads to Umbra's home is handed on.
//
// The pane begins in the directory that tmux is run in. What is told by -c is a format: tmux
// runs what a directory's name has in #(…), and how a # is quoted depends on its version.
// A window takes no pane for its target: tmux finds the session by TMUX_PANE.
func openPane(c *call.Call, m missions.Mission) (bool, error) {
	pane := c.Getenv("TMUX_PANE")
	if c.Getenv("TMUX") == "" || pane == "" {
		return false, nil
	}
	binary := c.Binary()
	if binary == "" { // of a go run: no command of its own is left to type
		binary = "umbra"
	}
	h, err := c.HomeDir()
	if err != nil {
		return false, err
	}
	command := []string{"env", "UMBRA_HOME=" + h}
	for _, name := range []string{"PATH", "UMBRA_NO_DAEMON"} {
		if value := c.Getenv(name); value != "" {
			command = append(command, name+"="+value)
		}
	}
	command = append(command, "sh", "-c", fmt.Sprintf(heldPane, call.CodeBeforeAgent, int(call.Partly)), "sh", binary, "mission", "resume", m.ID)
	var said strings.Builder
	for _, where := range [][]string{{"split-window", "-h", "-t", pane}, {"new-window", "-a"}} {
		said.Reset()
		cmd := exec.Command("tmux", slices.Concat(where, command)...)
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = m.Workspace, c.Environ(), &said, &said
		if err = c.Run(cmd); err == nil {
			return true, nil
		}
	}
	return false, fmt.Errorf("tmux opens no pane: %w %s", err, strings.TrimSpace(said.String()))
}
