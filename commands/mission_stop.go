package commands

import "github.com/umbra-vcs/umbra/missions"

func missionStopCommand() *verb {
	return &verb{
		name: "stop", args: "MISSION…", min: 1, max: anyNumber, short: "stop the agents of missions",
		run: runMissionStop,
	}
}

func runMissionStop(c *call) error {
	svc, caller, ctx, err := c.asking()
	if err != nil {
		return err
	}
	list, err := svc.Stop(ctx, missions.StopRequest{Caller: caller, Missions: c.args})
	if err != nil {
		return err
	}
	return c.printMissions(list, "stopped")
}
