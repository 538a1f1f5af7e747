package commands

import "github.com/umbra-vcs/umbra/missions"

func missionRenameCommand() *verb {
	return &verb{
		name: "rename", args: "MISSION NAME", min: 2, max: 2, short: "give a mission another name",
		run: runMissionRename,
	}
}

func runMissionRename(c *call) error {
	svc, caller, ctx, err := c.asking()
	if err != nil {
		return err
	}
	m, err := svc.Rename(ctx, missions.RenameRequest{Caller: caller, Mission: c.arg(0), Name: c.arg(1)})
	if err != nil {
		return err
	}
	return tellDone(c, m, func(p *printer) { p.line("%s is now %s", clean(c.arg(0)), clean(m.Name)) })
}
