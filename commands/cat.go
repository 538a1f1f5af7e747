package commands

import (
	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/missions"
)

func catCommand() *call.Verb {
	return &call.Verb{
		Name: "cat", Args: "MOMENT PATH", Min: 2, Max: 2, Short: "print a file as it was, byte for byte",
		Run: runCat,
	}
}

func runCat(c *call.Call) error {
	if c.JSON {
		return missions.Errorf(missions.KindUsage, "leave out --json", "umbra cat prints the file's own bytes, which are no JSON")
	}
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	content, err := svc.Cat(ctx, missions.CatRequest{Caller: caller, Moment: c.Arg(0), Path: c.Arg(1)})
	if err != nil {
		return err
	}
	c.EndProgress()
	_, err = c.Stdout.Write(content)
	return err
}
