package commands

import (
	"io"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/hook"
	"github.com/umbra-vcs/umbra/commands/reference"
	"github.com/umbra-vcs/umbra/commands/version"
)

// Run does what env.Args say and returns the exit code. It prints errors
// itself; nothing is left running when it returns.
func Run(env call.Env) int {
	env.Again = Run
	var globals call.Globals
	table := globals.Flags()
	verbs := allVerbs()
	in, err := arrange(verbs, table, env.Args)
	if err != nil {
		globals.JSON = slices.ContainsFunc(env.Args, asksForJSON) // as far as one can tell
	} else {
		err = in.carryOut(env, &globals, verbs, table)
	}
	if err != nil && in.failsOpen(env.Args) {
		hook.Note(env, globals, err)
		return 0
	}
	return call.Report(env, globals, err)
}

// carryOut does what the command line says; without a command to run, that is help.
func (in invocation) carryOut(env call.Env, globals *call.Globals, verbs []*call.Verb, table []flags.Flag) error {
	if err := flags.Apply(table, in.globals); err != nil {
		return usageError("", err)
	}
	if in.version && !in.help && in.verb == nil {
		in.verb = version.Command()
	}
	switch {
	case in.verb == nil || in.verb.Run == nil || in.help:
		return helpFor(env.Stdout, verbs, table, in)
	}
	if err := flags.Apply(in.verb.Flags, in.flags); err != nil {
		return usageError(in.verb.Name, err)
	}
	if err := globals.Settle(env); err != nil {
		return err
	}
	if err := globals.Fields.Check(in.verb.Prints...); err != nil {
		return err
	}
	c := &call.Call{Env: env, Globals: *globals, Arguments: in.args, After: in.after, Dashed: in.dashed}
	return c.Do(in.verb.Run)
}

func asksForJSON(word string) bool { return word == "--json" || strings.HasPrefix(word, "--json=") }

// failsOpen tells a hook that an agent called: whatever is wrong, also with its
// command line, the agent goes on.
func (in invocation) failsOpen(args []string) bool {
	return len(in.path) > 0 && in.path[0] == "hook" && !slices.Contains(args, "--strict")
}

// helpFor prints the help of what was asked for: a verb, or everything.
func helpFor(w io.Writer, verbs []*call.Verb, globals []flags.Flag, in invocation) error {
	if in.concepts {
		_, err := io.WriteString(w, reference.Concepts)
		return err
	}
	v, at := in.verb, in.path
	if v != nil && v.Run == nil && len(in.args) > 0 {
		return unknownVerb("umbra "+strings.Join(at, " "), v.Verbs, in.args[0])
	}
	if v == nil && !in.help {
		return reference.HelpFirst(w, verbs)
	}
	if v == nil {
		return reference.HelpAll(w, verbs, globals)
	}
	return reference.HelpVerb(w, at, v)
}
