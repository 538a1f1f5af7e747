package mission

import (
	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

func missionRenameCommand() *call.Verb {
	return &call.Verb{
		Prints: []any{missions.Mission{}},
		Name:   "rename", Args: "MISSION NAME", Min: 2, Max: 2, Short: "give a mission another name",
		Run: runMissionRename,
	}
}

func runMissionRename(c *call.Call) error {
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	m, err := svc.Rename(ctx, missions.RenameRequest{Caller: caller, Mission: c.Arg(0), Name: c.Arg(1)})
	if err != nil {
		return err
	}
	return c.TellDone(m, func(p *print.Printer) { p.Line("%s is now %s", print.Clean(c.Arg(0)), print.Clean(m.Name)) })
}
