package mission

import (
	"errors"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

func missionStopCommand() *call.Verb {
	var force bool
	return &call.Verb{
		Prints: []any{missions.Mission{}},
		Name:   "stop", Args: "MISSION…", Min: 1, Max: call.AnyNumber, Short: "stop the agents of missions",
		Flags: []flags.Flag{
			flags.Bool("force", "also where the agent's process is not known, and has ended", &force),
		},
		Run: func(c *call.Call) error { return runMissionStop(c, force) },
	}
}

func runMissionStop(c *call.Call, force bool) error {
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	ended := map[string]bool{}
	for _, name := range c.Arguments { // none is stopped for a slip in another's name
		m, err := svc.Mission(ctx, missions.MissionRequest{Caller: caller, Name: name})
		if err != nil {
			return err
		}
		ended[m.ID] = m.IsUnmanned()
	}
	stopped := []missions.Mission{}
	tell := func() error {
		return c.TellDone(stopped, func(p *print.Printer) {
			for _, m := range stopped {
				did := "stopped"
				if ended[m.ID] {
					did = "has no agent to stop"
				}
				p.Line("%s %s", print.Clean(m.Name), did)
			}
		})
	}
	for _, name := range c.Arguments {
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
