package commands

import (
	"github.com/urfave/cli/v2"

	"github.com/umbra-vcs/umbra/missions"
)

func forgetCommand() *verb {
	var r missions.ForgetRequest
	return &verb{
		name: "forget", args: "PATH", min: 1, max: 1, short: "say which snapshots hold a secret, and what to do about it",
		long: `One file can't be taken out of snapshots: ids would change that pins, restores, forks
and conversations go by. So it is refused, with each step that is to be taken instead.
Nothing is changed. Exit code 12, or 10 if no snapshot holds the path.`,
		flags: []cli.Flag{&cli.StringFlag{Name: "mission", Usage: "the `MISSION` whose workspace the path is in", Destination: &r.Mission}},
		run: func(c *call) error {
			svc, caller, ctx, err := c.asking()
			if err == nil {
				r.Caller, r.Path = caller, c.arg(0)
				_, err = svc.Forget(ctx, r)
			}
			return err
		},
	}
}
