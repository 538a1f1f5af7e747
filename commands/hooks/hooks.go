// Package hooks has the verbs that install hooks, take them out and say how well they are.
package hooks

import (
	"context"
	"strings"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

type hooksOptions struct{ user, project, shared bool }

func Command() *call.Verb {
	return &call.Verb{
		Name: "hooks", Short: "the hooks by which agents, editors and Git tell Umbra what they do",
		Long: "For claude, codex, gemini, opencode, pi, copilot, qwen, vim, nvim, emacs, vscode and git. Any other tool can tell by itself, with\n" +
			"`umbra hook generic` and a small JSON: docs/agents/generic.md. Claude Code, Codex, Gemini CLI,\n" +
			"OpenCode and pi get Umbra's own tools with the hooks: docs/mcp.md.",
		Verbs: []*call.Verb{
			hooksVerb("install", "install hooks for an agent, an editor or Git, beside those that are there", "installed", missions.Hooks.InstallHooks),
			hooksVerb("uninstall", "take the hooks out again, to the byte", "uninstalled", missions.Hooks.UninstallHooks),
			hooksStatusVerb(),
		},
	}
}

type hooksCall func(missions.Hooks, context.Context, missions.HooksRequest) (missions.HooksResult, error)

func hooksVerb(name, short, did string, do hooksCall) *call.Verb {
	var o hooksOptions
	return &call.Verb{
		Name: name, Args: "NAME", Min: 1, Max: 1, Short: short,
		Flags: []flags.Flag{
			flags.Bool("user", "for every project (the default)", &o.user),
			flags.Bool("project", "for this project, in a file of your own", &o.project),
			flags.Bool("shared", "with --project: in the file that is shared", &o.shared),
		},
		Run: func(c *call.Call) error { return runHooks(c, o, did, do) },
	}
}

func runHooks(c *call.Call, o hooksOptions, did string, do hooksCall) error {
	switch {
	case o.user && o.project:
		return missions.Errorf(missions.KindUsage, "choose one", "--user and --project contradict each other")
	case o.shared && !o.project:
		return missions.Errorf(missions.KindUsage, "add --project", "--shared goes with --project")
	case len(c.Arguments) == 0 && (o.user || o.project):
		return missions.Errorf(missions.KindUsage, "leave them out: those of the user and of the project are listed", "--user and --project go with a NAME")
	case len(c.Arguments) == 0:
		return listHooks(c)
	}
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	r, err := do(svc, ctx, missions.HooksRequest{Caller: caller, Name: c.Arg(0), Project: o.project, Shared: o.shared})
	if err != nil {
		return err
	}
	return c.Print(r, func(p *print.Printer) { writeHooks(p, did, r) })
}

// hooksStatusVerb says it of one, or of all.
func hooksStatusVerb() *call.Verb {
	v := hooksVerb("status", "say where hooks are installed, and how well", "", missions.Hooks.HooksStatus)
	v.Args, v.Min = "[NAME]", 0
	v.Long = "Without NAME: of all agents, editors and Git that there can be hooks for, those of this\nproject among them."
	return v
}

func writeHooks(p *print.Printer, did string, r missions.HooksResult) {
	file := print.Clean(r.File)
	switch {
	case did != "" && r.Changed:
		p.Line("%s: %s in %s", print.Clean(r.Name), did, file)
	case did != "":
		p.Line("%s: nothing to change in %s", print.Clean(r.Name), file)
	case r.Installed:
		p.Line("%s: installed in %s", print.Clean(r.Name), file)
	case r.Plugin != "":
		p.Line("%s: by its plugin %s, and not installed in %s", print.Clean(r.Name), print.Clean(r.Plugin), file)
	default:
		p.Line("%s: not installed in %s", print.Clean(r.Name), file)
		p.Line("  to install them: umbra hooks install %s", print.Clean(r.Name))
	}
	if r.Command != "" {
		p.Line("  command: %s", print.Clean(r.Command))
	}
	for _, extra := range r.Extras {
		p.Line("  and %s", print.Clean(extra))
	}
	switch {
	case r.Plugin == "":
	case r.Installed:
		p.Line("  and by its plugin %s, which does nothing meanwhile", print.Clean(r.Plugin))
	case did != "":
		p.Line("  its plugin %s brings them still", print.Clean(r.Plugin))
	}
	if (r.Installed || r.Plugin != "") && r.Adopts != "" {
		p.Line("  adopts: %s", print.Clean(r.Adopts))
	}
	if r.Changed && r.Installed && r.Adopts != "" { // of an agent, which reads commands and hooks as it starts
		p.Line("  a session that runs already has all of this once it is started again")
	}
	if len(r.Missing) > 0 && r.Installed {
		p.Line("  events without a hook: %s", print.Clean(strings.Join(r.Missing, ", ")))
	}
	for _, problem := range r.Problems {
		p.Line("  %s %s", p.Paint(print.Red, "problem:"), print.Clean(problem))
	}
}
