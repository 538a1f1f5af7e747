package commands

import (
	"github.com/urfave/cli/v2"

	"github.com/umbra-vcs/umbra/missions"
)

func missionStopCommand() *verb {
	var force bool
	return &verb{
		name: "stop", args: "MISSION…", min: 1, max: anyNumber, short: "stop the agents of missions",
		flags: []cli.Flag{
			&cli.BoolFlag{Name: "force", Usage: "also where the agent's process is not known, and has ended", Destination: &force},
		},
		run: func(c *call) error { return runMissionStop(c, force) },
	}
}

func runMissionStop(c *call, force bool) error {
	svc, caller, ctx, err := c.asking()
	if err != nil {
		return err
	}
	list, err := svc.Stop(ctx, missions.StopRequest{Caller: caller, Missions: c.args, Force: force})
	if err != nil {
		return err
	}
	return c.printMissions(list, "stopped")
}
