package commands

import "github.com/umbra-vcs/umbra/missions"

func catCommand() *verb {
	return &verb{
		name: "cat", args: "MOMENT PATH", min: 2, max: 2, short: "print a file as it was, byte for byte",
		run: runCat,
	}
}

func runCat(c *call) error {
	if c.JSON {
		return missions.Errorf(missions.KindUsage, "leave out --json", "umbra cat prints the file's own bytes, which are no JSON")
	}
	svc, caller, ctx, err := c.asking()
	if err != nil {
		return err
	}
	content, err := svc.Cat(ctx, missions.CatRequest{Caller: caller, Moment: c.arg(0), Path: c.arg(1)})
	if err != nil {
		return err
	}
	c.progress.end()
	_, err = c.Stdout.Write(content)
	return err
}
