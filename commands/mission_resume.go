package commands

import (
	"github.com/urfave/cli/v2"

	"github.com/umbra-vcs/umbra/missions"
)

type missionResumeOptions struct {
	vars     variables
	prompt   string
	config   string
	recreate bool
}

func missionResumeCommand() *verb {
	var o missionResumeOptions
	return &verb{
		name: "resume", args: "MISSION", min: 1, max: 1, after: "[-- COMMAND…]",
		short: "launch a mission's agent again, on its session",
		long: `COMMAND replaces the command that the mission was launched with.
A workspace that Umbra made, or a session file, is made again from the newest
snapshot if it is missing; any other workspace only with --recreate.`,
		flags: append([]cli.Flag{
			&cli.StringFlag{Name: "prompt", Usage: "the agent's next prompt: `TEXT`", Destination: &o.prompt},
			&cli.StringFlag{Name: "config", Usage: "the agent's configuration from now on: `now|COMMIT`", Destination: &o.config},
			&cli.BoolFlag{Name: "recreate", Usage: "make its workspace again if it is missing", Destination: &o.recreate},
		}, o.vars.flags()...),
		run: func(c *call) error { return runMissionResume(c, o) },
	}
}

func runMissionResume(c *call, o missionResumeOptions) error {
	switch {
	case c.JSON:
		return missions.Errorf(missions.KindUsage, "umbra mission show --json", "--json can't be printed while the agent has the terminal")
	case c.dashed && len(c.after) == 0:
		return missions.Errorf(missions.KindUsage, "umbra mission resume MISSION -- COMMAND", "no command follows --")
	}
	vars, err := o.vars.read(c)
	if err != nil {
		return err
	}
	c.reach = staying
	svc, caller, ctx, err := c.asking()
	if err != nil {
		return err
	}
	m, err := svc.Mission(ctx, missions.MissionRequest{Caller: caller, Name: c.arg(0)})
	if err != nil {
		return err
	}
	request := missions.LaunchRequest{
		Caller: caller, Mission: m.ID, Resume: true, Prompt: o.prompt, Config: o.config, Command: c.after, EnvNames: vars.names(),
	}
	if o.recreate {
		request.Recreate = m.Workspace
	}
	return c.keep(request, vars)
}
