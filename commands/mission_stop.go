package commands

import (
	"errors"

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
	ended := map[string]bool{}
	for _, name := range c.args { // none is stopped for a slip in another's name
		m, err := svc.Mission(ctx, missions.MissionRequest{Caller: caller, Name: name})
		if err != nil {
			return err
		}
		ended[m.ID] = unmanned(m)
	}
	stopped := []missions.Mission{}
	tell := func() error {
		return tellDone(c, stopped, func(p *printer) {
			for _, m := range stopped {
				did := "stopped"
				if ended[m.ID] {
					did = "has no agent to stop"
				}
				p.line("%s %s", clean(m.Name), did)
			}
		})
	}
	for _, name := range c.args {
		list, err := svc.Stop(ctx, missions.StopRequest{Caller: caller, Missions: []string{name}, Force: force})
		if err != nil {
			if len(stopped) > 0 {
				err = errors.Join(err, tell())
			}
			return err
		}
		stopped = append(stopped, list...)
	}
	return tell()
}
