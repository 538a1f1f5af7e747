package mission

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/keeper"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

type missionNewOptions struct {
	name, agent, workspace, prompt, clone, ignored, config string
	vars                                                   keeper.Variables
	noLaunch, again, noWait, force                         bool
	count                                                  int
	wait                                                   time.Duration
}

func missionNewCommand() *call.Verb {
	var o missionNewOptions
	own := append([]flags.Flag{
		flags.String("clone", "fork `MISSION|MOMENT`: its files and its conversation", &o.clone),
		flags.String("agent", "the `AGENT`: "+missions.AgentNames, &o.agent),
	}, o.flags()...)
	return &call.Verb{
		Prints: []any{missions.Mission{}},
		Name:   "new", After: "[-- COMMAND…]", Short: "begin a mission, and launch its agent here",
		Long: `The workspace is the top of the Git repository that holds the current directory,
else that directory; the agent runs in the current directory. Its agent is the
first of claude, codex, gemini, opencode, pi, copilot and qwen on PATH, else $SHELL; or COMMAND.
The exit code is the agent's own; 125 if Umbra failed before COMMAND ran.
With --clone it is a fork: see umbra fork --help.`,
		Flags: append(own, o.forkFlags()...),
		Run:   func(c *call.Call) error { return runMissionNew(c, o) },
	}
}

// flags are what a new mission and a fork have in common.
func (o *missionNewOptions) flags() []flags.Flag {
	return append([]flags.Flag{
		flags.String("name", "call it `NAME`", &o.name),
		flags.String("workspace", "work in `DIR`", &o.workspace),
		flags.String("prompt", "the agent's first prompt: `TEXT`", &o.prompt),
		flags.Bool("no-launch", "make it, and do not launch the agent", &o.noLaunch),
		flags.Bool("force", "take a workspace that is over the budget", &o.force),
	}, o.vars.Flags()...)
}

func (o *missionNewOptions) forkFlags() []flags.Flag {
	return []flags.Flag{
		flags.Int("count", "make `K` forks, and launch none", &o.count),
		flags.String("ignored", "ignored files: `copy|skip`", &o.ignored),
		flags.String("config", "the agent's configuration: `source|now|COMMIT`, by default as the source had it then", &o.config),
		flags.Bool("no-wait", "fork the last finished turn, do not wait for this one", &o.noWait),
		flags.Duration("wait-timeout", "wait no longer than `DURATION` (5m)", &o.wait),
		flags.Bool("again", "send the prompt of the turn again", &o.again),
	}
}

// launching reports whether this command becomes a keeper.
func (o missionNewOptions) launching() bool { return !o.noLaunch && o.count == 0 }

func (o missionNewOptions) check(c *call.Call, fork bool) error {
	usage := func(hint, format string, args ...any) error {
		return missions.Errorf(missions.KindUsage, hint, format, args...)
	}
	if !fork {
		for name, given := range map[string]bool{
			"--count": o.count > 0, "--ignored": o.ignored != "", "--config": o.config != "", "--no-wait": o.noWait, "--wait-timeout": o.wait > 0, "--again": o.again,
		} {
			if given {
				return usage("add --clone MISSION", "%s goes with --clone", name)
			}
		}
	}
	switch {
	case c.JSON && o.launching():
		return usage("add --no-launch", "--json can't be printed while the agent has the terminal")
	case fork && o.agent != "":
		return usage("leave out --agent", "a fork has the agent of its source")
	case o.noWait && o.wait > 0:
		return usage("choose one", "--no-wait and --wait-timeout contradict each other")
	case o.prompt != "" && o.again:
		return usage("choose one", "--prompt and --again contradict each other")
	case o.count > 0 && o.workspace != "":
		return usage("leave out --workspace", "several forks can't share one workspace")
	case o.count > 100:
		return usage("give a number up to 100", "--count is %d", o.count)
	case o.ignored != "" && o.ignored != "copy" && o.ignored != "skip":
		return usage("use --ignored copy or skip", "--ignored is %q", o.ignored)
	case c.Dashed && len(c.After) == 0:
		return usage("umbra mission new -- COMMAND", "no command follows --")
	}
	return nil
}

func runMissionNew(c *call.Call, o missionNewOptions) error {
	if err := o.check(c, o.clone != ""); err != nil {
		return err
	}
	if o.clone != "" {
		return failing(c, o, runFork(c, o, o.clone, message{}))
	}
	return failing(c, o, newMission(c, o))
}

// failing gives errors the exit code that scripts know from `-- COMMAND`:
// whatever else comes back then is the command's own. Where none is to be run,
// an error has the code of its kind.
func failing(c *call.Call, o missionNewOptions, err error) error {
	if err == nil || len(c.After) == 0 || !o.launching() {
		return err
	}
	if _, own := err.(call.Ended); own {
		return err
	}
	return call.BeforeAgent(err)
}

func newMission(c *call.Call, o missionNewOptions) error {
	vars, err := o.vars.Read(c)
	if err != nil {
		return err
	}
	if o.launching() {
		c.Reach = call.Staying
	}
	svc, caller, ctx, err := c.Asking()
	if err == nil {
		dir := caller.Cwd
		if o.workspace != "" {
			dir = "" // that may be elsewhere
		}
		err = mayStart(c, o, vars, dir, "umbra mission new")
	}
	if err != nil {
		return err
	}
	m, err := svc.NewMission(ctx, missions.NewMissionRequest{
		Caller: caller, Name: o.name, Agent: o.agent, Workspace: o.workspace, Prompt: o.prompt, Command: c.After,
		EnvNames: vars.Names(), Launching: !o.noLaunch, Force: o.force,
	})
	if errors.Is(err, context.Canceled) {
		return missions.Errorf(missions.KindInterrupted,
			"the same command begins anew; umbra mission ls shows whether it was too late to interrupt",
			"interrupted during the first snapshot; nothing that was read for it is kept")
	}
	if err != nil {
		return err
	}
	for _, problem := range m.Problems {
		c.Notice("note: %s", problem)
	}
	if o.noLaunch {
		return c.Print(m, func(p *print.Printer) { p.Line("%s", keeper.Identity(m)) })
	}
	c.EndProgress()
	keeper.Announce(c, m)
	return keeper.Keep(c, missions.LaunchRequest{Caller: caller, Mission: m.ID, Prompt: o.prompt, EnvNames: vars.Names()}, vars)
}

// mayStart refuses a program that the keeper would not find, before anything is made
// for it. The error has the prompt, which is kept nowhere else, in a command that begins
// with again. Where it is to run in no directory that is known yet, dir is "": one that may
// be named by its place there is left to the keeper.
func mayStart(c *call.Call, o missionNewOptions, vars keeper.Variables, dir, again string) error {
	if !o.launching() {
		return nil
	}
	program := slices.Concat(c.After, o.known(), []string{""})[0]
	if program == "" || dir == "" && strings.Contains(program, "/") && !filepath.IsAbs(program) {
		return nil
	}
	path := keeper.ValueOf(append(c.Environ(), vars.List...), "PATH")
	if dir == "" && slices.ContainsFunc(filepath.SplitList(path), func(at string) bool { return !filepath.IsAbs(at) }) {
		return nil
	}
	_, err := missions.LookPath(program, dir, path)
	if err == nil || o.prompt == "" {
		return err
	}
	e := missions.AsError(err)
	again = "no mission was made; to send the prompt: " + again + " --prompt " + home.ShellQuote(o.prompt) + " -- COMMAND"
	return missions.Errorf(e.Kind, strings.TrimPrefix(e.Hint+"; "+again, "; "), "%s", e.Message)
}

// known is the program of the agent that was asked for, if there is such an agent.
func (o missionNewOptions) known() []string {
	for _, a := range projects.Agents() {
		if a.Name() == o.agent {
			return []string{o.agent}
		}
	}
	return nil
}
