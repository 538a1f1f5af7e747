package contests

import (
	"context"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/forks"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// maxForks is how many forks a contest has at most.
const maxForks = 16

type contestOptions struct {
	prompts, agents, models      flags.List
	count                        int
	check, name, ignored, config string
	timeout                      time.Duration
	noWait, goesOn               bool
}

// Contest is `umbra contest`.
func Contest() *call.Verb {
	var o contestOptions
	return &call.Verb{
		Name: "contest", Args: "MOMENT", Min: 1, Max: 1, Instead: "continue",
		Short: "forks of one moment, each with its own prompt, agent or model, held against one check",
		Long: `Makes a fork for each prompt, with each agent or each model, and lets their agents
answer at the same time without a terminal, as umbra fork run does. Without --prompt they
are sent the prompt of that turn once more. Each is checked when its agent has
ended, and compared with the fork point when all have, as umbra compare does. The forks
stay: umbra promote brings the best one home, umbra mission resume goes on with any.
A contest that was interrupted or killed goes on with --continue: what has not begun is
begun, what still works is waited for, and what was checked is not checked again. The
exit code is 3 if not all ended well.`,
		Flags: []flags.Flag{
			flags.Strings("prompt", "a fork's prompt: `TEXT` (may be repeated)", &o.prompts),
			flags.Strings("agent", "a fork's `AGENT`; another than the source's begins with the files alone (may be repeated)", &o.agents),
			flags.Strings("model", "a fork's `MODEL` (may be repeated)", &o.models),
			flags.Int("count", "make `K` forks for each of them", &o.count),
			flags.String("check", "run `COMMAND` in each fork's workspace: is it good?", &o.check),
			flags.Duration("timeout", "end an agent `DURATION` after its start", &o.timeout),
			flags.String("name", "call the forks `NAME`, with numbers", &o.name),
			flags.String("ignored", "ignored files: `copy|skip`", &o.ignored),
			flags.String("config", "the agent's configuration: `source|now|COMMIT`, by default as the source had it then", &o.config),
			flags.Bool("no-wait", "fork the last finished turn, do not wait for this one", &o.noWait),
			flags.Bool("continue", "go on with the newest contest here, or with that of a fork that is named", &o.goesOn),
		},
		Run: func(c *call.Call) error { return runContest(c, o) },
	}
}

// variants are who goes on in the forks: each agent, or each model.
func (o contestOptions) variants() (list []missions.ForkVariant) {
	agents, models := o.agents.Value(), o.models.Value()
	if len(models) == 0 {
		models = []string{""}
	}
	for _, model := range models {
		for _, agent := range agents {
			list = append(list, missions.ForkVariant{Agent: agent, Model: model})
		}
		if len(agents) == 0 {
			list = append(list, missions.ForkVariant{Model: model})
		}
	}
	return list
}

func (o contestOptions) verify() error {
	usage := func(hint, format string, args ...any) error {
		return missions.Errorf(missions.KindUsage, hint, format, args...)
	}
	made := len(o.prompts.Value()) + len(o.agents.Value()) + len(o.models.Value()) + o.count
	n := max(1, len(o.prompts.Value())) * len(o.variants()) * max(1, o.count)
	switch {
	case o.goesOn && (made > 0 || o.check != "" || o.name != "" || o.timeout != 0 || o.ignored != "" || o.config != "" || o.noWait):
		return usage("umbra contest --continue", "--continue goes on with a contest as it was begun: leave out what was said then")
	case o.goesOn:
		return nil
	case len(o.agents.Value()) > 1 && len(o.models.Value()) > 1:
		return usage("a contest for each agent, or without --model", "which of the models is for which of the agents?")
	case n < 2:
		return usage(`umbra contest login --prompt "one way" --prompt "another way"; --count 4 has four try the same`, "a contest needs two forks or more")
	case n > maxForks:
		return usage("leave some out", "%d forks are more than the %d of a contest", n, maxForks)
	case o.ignored != "" && o.ignored != "copy" && o.ignored != "skip":
		return usage("use --ignored copy or skip", "--ignored is %q", o.ignored)
	}
	return nil
}

func runContest(c *call.Call, o contestOptions) error {
	if err := o.verify(); err != nil {
		return err
	}
	if o.goesOn && len(c.Arguments) > 1 {
		return missions.Errorf(missions.KindUsage, "umbra contest --continue FORK", "one fork names the contest that --continue goes on with")
	}
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	var list []missions.Mission
	if o.goesOn {
		list, err = findContest(ctx, svc, caller, c.Arguments)
	} else {
		list, err = beginContest(ctx, c, svc, caller, o)
	}
	if err != nil {
		return err
	}
	table, background := newLiveTable(c), forks.Background{Missions: list, Timeout: list[0].Contest.Timeout}
	judges := judges{c: c, svc: svc, caller: caller}
	if check := list[0].Contest.Check; check != "" {
		if judges.checker, err = newChecker(c, check, true); err != nil {
			return err
		}
		background.Check = judges.judge
	}
	if !c.Quiet {
		background.Watch = table.watch()
	}
	c.EndProgress()
	outcomes, stopped := forks.Await(c, svc, caller, background)
	table.erase()
	good := 0
	for _, outcome := range outcomes {
		if outcome.IsGood() {
			good++
		}
		if background.Watch != nil { // the table is gone, and nothing else has said it
			judges.sayAfterTable(outcome, background.Timeout, stopped)
		}
	}
	if err := c.Err.Flush(); err != nil {
		return err
	}
	if stopped {
		return missions.Errorf(missions.KindInterrupted, "umbra contest --continue goes on; an agent that was stopped in its turn goes on with umbra mission resume",
			"interrupted: %d of %s ended well", good, print.Count(len(list), "fork"))
	}
	return endContest(ctx, &judges, list, good)
}

func beginContest(ctx context.Context, c *call.Call, svc missions.Service, caller missions.Caller, o contestOptions) ([]missions.Mission, error) {
	r := missions.ForkRequest{
		Caller: caller, From: c.Arg(0), Name: o.name, Count: max(1, o.count), Prompts: o.prompts.Value(), Again: len(o.prompts.Value()) == 0, Variants: o.variants(),
		Headless: true, Ignored: o.ignored, Config: o.config, NoWait: o.noWait, Yes: c.Yes,
		Contest: &missions.Contest{ID: missions.NewRequestID(), Check: o.check, Timeout: o.timeout},
	}
	made, err := svc.Fork(ctx, r)
	if err != nil {
		return nil, err
	}
	forks.TellForked(c, made)
	return made.Missions, nil
}

// findContest lists the forks of the newest contest here, or of that of a fork that is
// named, as they were made.
func findContest(ctx context.Context, svc missions.Service, caller missions.Caller, named []string) (list []missions.Mission, err error) {
	all, err := svc.Missions(ctx, missions.MissionsRequest{Caller: caller, All: len(named) > 0})
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(m missions.Mission) bool { return m.Contest == nil })
	if len(all) == 0 && len(named) == 0 {
		return nil, missions.Errorf(missions.KindNotFound, `umbra contest MOMENT --prompt TEXT --prompt TEXT begins one`, "no fork here is of a contest")
	}
	slices.SortStableFunc(all, func(a, b missions.Mission) int { return a.CreatedAt.Compare(b.CreatedAt) })
	var of *missions.Contest
	if len(named) > 0 {
		m, err := svc.Mission(ctx, missions.MissionRequest{Caller: caller, Name: named[0]})
		if err != nil {
			return nil, err
		}
		if of = m.Contest; of == nil {
			return nil, missions.Errorf(missions.KindNotFound, "umbra contest --continue goes on with the newest one", "%s is no fork of a contest", m.Name)
		}
	} else {
		of = all[len(all)-1].Contest
	}
	for _, m := range all {
		if m.Contest.ID == of.ID {
			list = append(list, m)
		}
	}
	return list, nil
}

// endContest compares the forks and prints the table. A snapshot of those that were checked
// was taken before that: what the check writes is not the fork's work.
func endContest(ctx context.Context, j *judges, list []missions.Mission, good int) error {
	var ids []string
	for _, m := range list {
		ids = append(ids, m.ID)
	}
	r, whole := missions.CompareRequest{Caller: j.caller, Forks: ids}, good == len(list)
	compare := func() ([]missions.ComparedFork, error) { return j.svc.Compare(ctx, r) }
	if j.checker == nil {
		compare = func() ([]missions.ComparedFork, error) { return compareNow(ctx, j.c, j.svc, r) }
	}
	compared, err := compare()
	if err != nil {
		return err
	}
	for i := range compared {
		if v, isJudged := j.of(compared[i].Fork.ID); isJudged {
			compared[i].Check, whole = &v.check, whole && v.err == nil
		}
	}
	if err := printCompared(j.c, compared, false); err != nil {
		return err
	}
	if sayGood(j.c, compared); !whole {
		return call.Partly
	}
	return nil
}
