package forks

import (
	"io"
	"os"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/missions"
)

// Output is `umbra mission output`.
func Output() *call.Verb {
	var check bool
	return &call.Verb{
		Name: "output", Args: "MISSION", Min: 1, Max: 1, Short: "print what a mission's agent has printed without a terminal",
		Flags: []flags.Flag{flags.Bool("check", "instead, what the newest check of umbra compare has printed in its workspace", &check)},
		Run: func(c *call.Call) error {
			svc, caller, ctx, err := c.Asking()
			if err != nil {
				return err
			}
			m, err := svc.Mission(ctx, missions.MissionRequest{Caller: caller, Name: c.Arg(0)})
			if err != nil {
				return err
			}
			output := m.Output
			switch {
			case check && m.CheckOutput == "":
				return missions.Errorf(missions.KindNotFound, "umbra compare "+m.Name+" --check COMMAND runs one", "no check was run in the workspace of %s", m.Name)
			case check:
				output = m.CheckOutput
			case output == "":
				return missions.Errorf(missions.KindNotFound, "umbra show "+m.Name+" prints its last turn", "%s has no output of an agent in the background", m.Name)
			}
			if c.JSON {
				return c.PrintJSON(map[string]string{"mission": m.Name, "output": output})
			}
			file, err := os.Open(output)
			if err != nil {
				return err
			}
			defer file.Close()
			c.EndProgress()
			_, err = io.Copy(c.Stdout, file)
			return err
		},
	}
}
