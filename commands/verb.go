package commands

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// verb is one command: what it is called, what it takes and what it does. The
// argument pass, the help texts and the reference are all driven by it.
type verb struct {
	name     string
	alias    string
	args     string // the synopsis of its arguments
	short    string // one line
	long     string // more, if there is more to say
	min, max int    // how many arguments; max < 0 is any number
	// after is the synopsis of what follows `--`, which is then kept apart from
	// the arguments; "" makes it more of them.
	after  string
	hidden bool
	flags  []cli.Flag
	run    func(*call) error
	verbs  []*verb
}

const anyNumber = -1

// allVerbs is the command line. Options live in the verbs, so that each table
// serves one run.
func allVerbs() []*verb {
	return []*verb{
		missionCommand(), forkCommand(), projectCommand(),
		timelineCommand(), snapshotCommand(), logCommand(), showCommand(), catCommand(), diffCommand(),
		restoreCommand(), undoCommand(), redoCommand(), pinCommand(), unpinCommand(), pinsCommand(), gitCommand(),
		statusCommand(), doctorCommand(), configCommand(), daemonCommand(), hooksCommand(), hookCommand(),
		completionCommand(), completeCommand(), manCommand(), versionCommand(), docsCommand(), uninstallCommand(),
		duCommand(), trashCommand(), forgetCommand(),
		demoCommand(), scriptedAgentCommand(), automationCommand(),
	}
}

func find(verbs []*verb, name string) *verb {
	for _, v := range verbs {
		if v.name == name || v.alias == name && name != "" {
			return v
		}
	}
	return nil
}

// flag finds one of a table's flags by a name without dashes.
func flag(table []cli.Flag, name string) cli.Flag {
	for _, f := range table {
		for _, n := range f.Names() {
			if n == name {
				return f
			}
		}
	}
	return nil
}

func takesValue(f cli.Flag) bool {
	d, ok := f.(cli.DocGenerationFlag)
	return ok && d.TakesValue()
}

// repeats reports whether a flag may be given more than once.
func repeats(f cli.Flag) bool {
	d, ok := f.(cli.DocGenerationSliceFlag)
	return ok && d.IsSliceFlag()
}

// command makes urfave's command of the verb. Only what the pass has put in
// order reaches it, so its own help and suggestions are off.
func (v *verb) command(run func(*verb, []string) error) *cli.Command {
	c := &cli.Command{
		Name: v.name, Flags: v.flags, HideHelp: true, HideHelpCommand: true,
		OnUsageError: func(_ *cli.Context, err error, _ bool) error { return usageError(v.name, err) },
	}
	for _, sub := range v.verbs {
		c.Subcommands = append(c.Subcommands, sub.command(run))
	}
	if v.run != nil {
		c.Action = func(ctx *cli.Context) error { return run(v, ctx.Args().Slice()) }
	}
	return c
}

// dashed is a flag's name as it is typed.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// names lists verbs that are shown.
func names(verbs []*verb) string {
	var list []string
	for _, v := range verbs {
		if !v.hidden {
			list = append(list, v.name)
		}
	}
	return strings.Join(list, ", ")
}
