package commands

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

type missionNewOptions struct {
	name, agent, workspace, prompt, clone, ignored, config string
	vars                                                   variables
	noLaunch, again, noWait, force                         bool
	count                                                  int
	wait                                                   time.Duration
}

func missionNewCommand() *verb {
	var o missionNewOptions
	flags := append([]cli.Flag{
		&cli.StringFlag{Name: "clone", Usage: "fork `MISSION|MOMENT`: its files and its conversation", Destination: &o.clone},
		&cli.StringFlag{Name: "agent", Usage: "the `AGENT`: claude, codex, gemini or opencode", Destination: &o.agent},
	}, o.flags()...)
	return &verb{
		name: "new", after: "[-- COMMAND…]", short: "begin a mission, and launch its agent here",
		long: `The workspace is the top of the Git repository that holds the current directory,
else that directory; the agent runs in the current directory. Its agent is the
first of claude, codex, gemini and opencode on PATH, else $SHELL; or COMMAND.
The exit code is the agent's own; 125 if Umbra failed before COMMAND ran.
With --clone it is a fork: see umbra fork --help.`,
		flags: append(flags, o.forkFlags()...),
		run:   func(c *call) error { return runMissionNew(c, o) },
	}
}

// flags are what a new mission and a fork have in common.
func (o *missionNewOptions) flags() []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "name", Usage: "call it `NAME`", Destination: &o.name},
		&cli.StringFlag{Name: "workspace", Usage: "work in `DIR`", Destination: &o.workspace},
		&cli.StringFlag{Name: "prompt", Usage: "the agent's first prompt: `TEXT`", Destination: &o.prompt},
		&cli.BoolFlag{Name: "no-launch", Usage: "make it, and do not launch the agent", Destination: &o.noLaunch},
		&cli.BoolFlag{Name: "force", Usage: "take a workspace that is over the budget", Destination: &o.force},
	}, o.vars.flags()...)
}

func (o *missionNewOptions) forkFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "count", Usage: "make `K` forks, and launch none", Destination: &o.count},
		&cli.StringFlag{Name: "ignored", Usage: "ignored files: `copy|skip`", Destination: &o.ignored},
		&cli.StringFlag{Name: "config", Usage: "the agent's configuration: `source|now|COMMIT`, by default as the source had it then", Destination: &o.config},
		&cli.BoolFlag{Name: "no-wait", Usage: "fork the last finished turn, do not wait for this one", Destination: &o.noWait},
		&cli.DurationFlag{Name: "wait-timeout", Usage: "wait no longer than `DURATION` (5m)", Destination: &o.wait},
		&cli.BoolFlag{Name: "again", Usage: "send the prompt of the turn again", Destination: &o.again},
	}
}

// launching reports whether this command becomes a keeper.
func (o missionNewOptions) launching() bool { return !o.noLaunch && o.count == 0 }

func (o missionNewOptions) check(c *call, fork bool) error {
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
	case c.dashed && len(c.after) == 0:
		return usage("umbra mission new -- COMMAND", "no command follows --")
	}
	return nil
}

func runMissionNew(c *call, o missionNewOptions) error {
	if err := o.check(c, o.clone != ""); err != nil {
		return err
	}
	if o.clone != "" {
		return c.failing(o, runFork(c, o, o.clone))
	}
	return c.failing(o, newMission(c, o))
}

// failing gives errors the exit code that scripts know from `-- COMMAND`:
// whatever else comes back then is the command's own. Where none is to be run,
// an error has the code of its kind.
func (c *call) failing(o missionNewOptions, err error) error {
	if err == nil || len(c.after) == 0 || !o.launching() {
		return err
	}
	if _, own := err.(ended); own {
		return err
	}
	return beforeAgent{err}
}

func newMission(c *call, o missionNewOptions) error {
	vars, err := o.vars.read(c)
	if err != nil {
		return err
	}
	if o.launching() {
		c.reach = staying
	}
	svc, caller, ctx, err := c.asking()
	if err == nil {
		dir := caller.Cwd
		if o.workspace != "" {
			dir = "" // that may be elsewhere
		}
		err = c.mayStart(o, vars, dir)
	}
	if err != nil {
		return err
	}
	m, err := svc.NewMission(ctx, missions.NewMissionRequest{
		Caller: caller, Name: o.name, Agent: o.agent, Workspace: o.workspace, Prompt: o.prompt, Command: c.after,
		EnvNames: vars.names(), Launching: !o.noLaunch, Force: o.force,
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
		c.notice("note: %s", problem)
	}
	if o.noLaunch {
		return c.print(m, func(p *printer) { p.line("%s", identity(m)) })
	}
	c.progress.end()
	c.announce(m)
	return c.keep(missions.LaunchRequest{Caller: caller, Mission: m.ID, Prompt: o.prompt, EnvNames: vars.names()}, vars)
}

// mayStart refuses a program that the keeper would not find, before anything is made
// for it. Where it is to run in no directory that is known yet, dir is "": one that may
// be named by its place there is left to the keeper.
func (c *call) mayStart(o missionNewOptions, vars variables, dir string) error {
	if !o.launching() {
		return nil
	}
	program := slices.Concat(c.after, o.known(), []string{""})[0]
	if program == "" || dir == "" && strings.Contains(program, "/") && !filepath.IsAbs(program) {
		return nil
	}
	path := valueOf(append(c.Environ(), vars.list...), "PATH")
	if dir == "" && slices.ContainsFunc(filepath.SplitList(path), func(at string) bool { return !filepath.IsAbs(at) }) {
		return nil
	}
	_, err := missions.LookPath(program, dir, path)
	return err
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

// announce says which mission begins, before the agent has the terminal. It is
// no notice: --quiet does not drop it.
func (c *call) announce(m missions.Mission) {
	c.err.line("%s", clean(identity(m)))
	_ = c.err.flush() // nobody is left to tell
}
