package forks

import (
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

type runOptions struct {
	prompts                             flags.List
	count                               int
	name, agent, model, ignored, config string
	timeout, wait                       time.Duration
	noWait, detach                      bool
}

// Run is `umbra fork run`.
func Run() *call.Verb {
	var o runOptions
	return &call.Verb{
		Name: "run", Args: "[MOMENT]", Max: 1, Short: "fork a mission, and let the agents of the forks answer prompts in the background",
		Long: `Makes a fork for each prompt, as umbra fork does, and runs their agents at the same
time without a terminal: at most as many missions are live as missions.max_live
allows, the others wait for their turn. Says of each how it ended. What an agent
prints, umbra mission output MISSION prints. Ctrl-C ends the agents; the forks stay,
and umbra mission resume goes on with each. The exit code is 3 if not all ended well.`,
		Flags: []flags.Flag{
			flags.Strings("prompt", "a fork's prompt: `TEXT` (may be repeated)", &o.prompts),
			flags.Int("count", "make `K` forks for each prompt", &o.count),
			flags.String("agent", "another `AGENT`, with the files alone: "+missions.AgentNames, &o.agent),
			flags.String("model", "let the agent use `MODEL`", &o.model),
			flags.Duration("timeout", "end an agent `DURATION` after its start", &o.timeout),
			flags.String("name", "call the forks `NAME`, with numbers if they are several", &o.name),
			flags.Bool("detach", "do not wait for the agents' ends", &o.detach),
			flags.String("ignored", "ignored files: `copy|skip`", &o.ignored),
			flags.String("config", "the agent's configuration: `source|now|COMMIT`, by default as the source had it then", &o.config),
			flags.Bool("no-wait", "fork the last finished turn, do not wait for this one", &o.noWait),
			flags.Duration("wait-timeout", "wait for the source no longer than `DURATION` (5m)", &o.wait),
		},
		Run: func(c *call.Call) error { return runForks(c, o) },
	}
}

func (o runOptions) check() error {
	usage := func(hint, format string, args ...any) error {
		return missions.Errorf(missions.KindUsage, hint, format, args...)
	}
	switch {
	case len(o.prompts.Value()) == 0:
		return usage(`umbra fork run --prompt "another way, please"`, "umbra fork run needs a prompt")
	case o.noWait && o.wait > 0:
		return usage("choose one", "--no-wait and --wait-timeout contradict each other")
	case o.ignored != "" && o.ignored != "copy" && o.ignored != "skip":
		return usage("use --ignored copy or skip", "--ignored is %q", o.ignored)
	case o.timeout < 0:
		return usage("give a time such as 30m", "--timeout is %s", o.timeout)
	}
	return nil
}

func runForks(c *call.Call, o runOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	made, err := svc.Fork(ctx, missions.ForkRequest{
		Caller: caller, From: c.Arg(0), Name: o.name, NameTyped: true, Count: o.count, Prompts: o.prompts.Value(), Agent: o.agent, Model: o.model,
		Headless: true, Ignored: o.ignored, Config: o.config, NoWait: o.noWait, Timeout: o.wait, Yes: c.Yes,
	})
	if err != nil {
		return err
	}
	TellForked(c, made)
	keepers := keepers{c: c, timeout: o.timeout}
	if o.detach {
		return detach(c, keepers, made.Missions)
	}
	r := &run{c: c, svc: svc, caller: caller, keepers: keepers, timeout: o.timeout, heard: newMailbox()}
	if !c.JSON {
		r.lines = c.Out
	}
	r.all(made.Missions)
	return r.report()
}

// detach starts the keepers and leaves them alone.
func detach(c *call.Call, k keepers, list []missions.Mission) error {
	for i, m := range list {
		if err := k.startDetached(m); err != nil {
			return notBegun(list[i:], err)
		}
	}
	return c.Print(list, func(p *print.Printer) {
		for _, m := range list {
			p.Line("%s", print.Clean(m.ID+" "+m.Name))
		}
	})
}

// notBegun is of forks whose agents could not be started.
func notBegun(list []missions.Mission, err error) error {
	return missions.Errorf(missions.KindFailed, "umbra mission resume "+list[0].Name+" begins it; so with each that umbra mission ls calls not launched",
		"%s did not begin: %w", print.Count(len(list), "fork"), err)
}
