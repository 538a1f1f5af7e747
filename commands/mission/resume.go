package mission

import (
	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/keeper"
	"github.com/umbra-vcs/umbra/missions"
)

type missionResumeOptions struct {
	vars     keeper.Variables
	prompt   string
	config   string
	recreate bool
}

func missionResumeCommand() *call.Verb {
	var o missionResumeOptions
	return &call.Verb{
		Name: "resume", Args: "MISSION", Min: 1, Max: 1, After: "[-- COMMAND…]",
		Short: "launch a mission's agent again, on its session",
		Long: `COMMAND replaces the command that the mission was launched with.
A workspace that Umbra made, or a session file, is made again from the newest
snapshot if it is missing; any other workspace only with --recreate.`,
		Flags: append([]flags.Flag{
			flags.String("prompt", "the agent's next prompt: `TEXT`", &o.prompt),
			flags.String("config", "the agent's configuration from now on: `now|COMMIT`", &o.config),
			flags.Bool("recreate", "make its workspace again if it is missing", &o.recreate),
		}, o.vars.Flags()...),
		Run: func(c *call.Call) error { return runMissionResume(c, o) },
	}
}

func runMissionResume(c *call.Call, o missionResumeOptions) error {
	switch {
	case c.JSON:
		return missions.Errorf(missions.KindUsage, "umbra mission show --json", "--json can't be printed while the agent has the terminal")
	case c.Dashed && len(c.After) == 0:
		return missions.Errorf(missions.KindUsage, "umbra mission resume MISSION -- COMMAND", "no command follows --")
	}
	vars, err := o.vars.Read(c)
	if err != nil {
		return err
	}
	c.Reach = call.Staying
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	m, err := svc.Mission(ctx, missions.MissionRequest{Caller: caller, Name: c.Arg(0)})
	if err == nil {
		err = m.CheckOwn()
	}
	if err != nil {
		return err
	}
	request := missions.LaunchRequest{
		Caller: caller, Mission: m.ID, Resume: true, Prompt: o.prompt, Config: o.config, Command: c.After, EnvNames: vars.Names(),
	}
	if o.recreate {
		request.Recreate = m.Workspace
	}
	return keeper.Keep(c, request, vars)
}
