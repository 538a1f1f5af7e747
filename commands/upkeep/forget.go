package upkeep

import (
	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/missions"
)

func Forget() *call.Verb {
	var r missions.ForgetRequest
	return &call.Verb{
		Name: "forget", Args: "PATH", Min: 1, Max: 1, Short: "say which snapshots hold a secret, and what to do about it",
		Long: `One file can't be taken out of snapshots: ids would change that pins, restores, forks
and conversations go by. So it is refused, with each step that is to be taken instead.
Nothing is changed. Exit code 12, or 10 if no snapshot holds the path.`,
		Flags: []flags.Flag{flags.String("mission", "the `MISSION` whose workspace the path is in", &r.Mission)},
		Run: func(c *call.Call) error {
			svc, caller, ctx, err := c.Asking()
			if err == nil {
				r.Caller, r.Path = caller, c.Arg(0)
				_, err = svc.Forget(ctx, r)
			}
			return err
		},
	}
}
