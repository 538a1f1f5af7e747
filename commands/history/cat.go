package history

import (
	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/missions"
)

func Cat() *call.Verb {
	var displaced bool
	return &call.Verb{
		Name: "cat", Args: "MOMENT PATH", Min: 2, Max: 2, Short: "print a file as it was, byte for byte",
		Flags: []flags.Flag{
			flags.Bool("displaced", "what another program wrote there while a restore ran", &displaced),
		},
		Run: func(c *call.Call) error { return runCat(c, displaced) },
	}
}

func runCat(c *call.Call, displaced bool) error {
	if c.JSON {
		return missions.Errorf(missions.KindUsage, "leave out --json", "umbra cat prints the file's own bytes, which are no JSON")
	}
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	content, err := svc.Cat(ctx, missions.CatRequest{Caller: caller, Moment: c.Arg(0), Path: c.Arg(1), Displaced: displaced})
	if err != nil {
		return err
	}
	c.EndProgress()
	_, err = c.Stdout.Write(content)
	return err
}
