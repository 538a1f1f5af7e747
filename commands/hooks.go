package commands

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/umbra-vcs/umbra/missions"
)

type hooksOptions struct{ user, project, shared bool }

func hooksCommand() *verb {
	return &verb{
		name: "hooks", short: "the hooks by which agents, editors and Git tell Umbra what they do",
		long: "For claude, codex, gemini, opencode, vim, nvim, emacs, vscode and git. Any other tool can tell by itself, with\n`umbra hook generic` and a small JSON: docs/agents/generic.md.",
		verbs: []*verb{
			hooksVerb("install", "install hooks for an agent, an editor or Git, beside those that are there", "installed", missions.Hooks.InstallHooks),
			hooksVerb("uninstall", "take the hooks out again, to the byte", "uninstalled", missions.Hooks.UninstallHooks),
			hooksStatusVerb(),
		},
	}
}

type hooksCall func(missions.Hooks, context.Context, missions.HooksRequest) (missions.HooksResult, error)

func hooksVerb(name, short, did string, do hooksCall) *verb {
	var o hooksOptions
	return &verb{
		name: name, args: "NAME", min: 1, max: 1, short: short,
		flags: []cli.Flag{
			&cli.BoolFlag{Name: "user", Usage: "for every project (the default)", Destination: &o.user},
			&cli.BoolFlag{Name: "project", Usage: "for this project, in a file of your own", Destination: &o.project},
			&cli.BoolFlag{Name: "shared", Usage: "with --project: in the file that is shared", Destination: &o.shared},
		},
		run: func(c *call) error { return runHooks(c, o, did, do) },
	}
}

func runHooks(c *call, o hooksOptions, did string, do hooksCall) error {
	switch {
	case o.user && o.project:
		return missions.Errorf(missions.KindUsage, "choose one", "--user and --project contradict each other")
	case o.shared && !o.project:
		return missions.Errorf(missions.KindUsage, "add --project", "--shared goes with --project")
	case len(c.args) == 0 && (o.user || o.project):
		return missions.Errorf(missions.KindUsage, "leave them out: those of the user and of the project are listed", "--user and --project go with a NAME")
	case len(c.args) == 0:
		return listHooks(c)
	}
	svc, caller, ctx, err := c.asking()
	if err != nil {
		return err
	}
	r, err := do(svc, ctx, missions.HooksRequest{Caller: caller, Name: c.arg(0), Project: o.project, Shared: o.shared})
	if err != nil {
		return err
	}
	return c.print(r, func(p *printer) { writeHooks(p, did, r) })
}

// hooksStatusVerb says it of one, or of all.
func hooksStatusVerb() *verb {
	v := hooksVerb("status", "say where hooks are installed, and how well", "", missions.Hooks.HooksStatus)
	v.args, v.min = "[NAME]", 0
	v.long = "Without NAME: of all agents, editors and Git that there can be hooks for, those of this\nproject among them."
	return v
}

func writeHooks(p *printer, did string, r missions.HooksResult) {
	file := clean(r.File)
	switch {
	case did != "" && r.Changed:
		p.line("%s: %s in %s", clean(r.Name), did, file)
	case did != "":
		p.line("%s: nothing to change in %s", clean(r.Name), file)
	case r.Installed:
		p.line("%s: installed in %s", clean(r.Name), file)
	default:
		p.line("%s: not installed in %s", clean(r.Name), file)
		p.line("  to install them: umbra hooks install %s", clean(r.Name))
	}
	if r.Command != "" {
		p.line("  command: %s", clean(r.Command))
	}
	for _, extra := range r.Extras {
		p.line("  and %s", clean(extra))
	}
	if r.Installed && r.Adopts != "" {
		p.line("  adopts: %s", clean(r.Adopts))
	}
	if len(r.Missing) > 0 && r.Installed {
		p.line("  events without a hook: %s", clean(strings.Join(r.Missing, ", ")))
	}
	for _, problem := range r.Problems {
		p.line("  %s %s", p.paint(red, "problem:"), clean(problem))
	}
}
