package upkeep

import (
	"fmt"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// importOptions are the flags of umbra import.
type importOptions struct {
	agent, since, as, key string
	preview               bool
}

// Import is `umbra import`. File imports what umbra export has written.
func Import(file func(c *call.Call, file, name, keyFile string) error) *call.Verb {
	var o importOptions
	return &call.Verb{
		Name: "import", Args: "[agents|FILE]", Max: 1, Short: "keep the sessions that your agents have stored, or read what umbra export wrote",
		Long: `Each session of Claude Code, Codex, Gemini CLI, OpenCode, pi, Copilot CLI and Qwen Code in their own stores that is no
mission's becomes a closed mission, with its conversation as it is and the files as they
are now: umbra mission resume and umbra fork go on with it, also when the agent has deleted
it. Nothing is changed in the stores. Do it again at any time: what is kept already is passed
over, and what was said since is added. While Umbra is in use it is done daily by itself
from then on, for the agents that were asked for (import.daily in the configuration). Of
OpenCode, only sessions that ran with Umbra's plugin are found.

With FILE, the missions that umbra export has written to it are NAME/MISSION here, as if
they were fetched from a remote: umbra log reads one, umbra fork goes on with it.`,
		Flags: []flags.Flag{
			flags.String("agent", "only the sessions of `AGENT`: "+missions.AgentNames, &o.agent),
			flags.String("since", "no session that was written last before `TIME`: 2h, 3d, 2026-01-31", &o.since),
			flags.Bool("preview", "only list", &o.preview),
			flags.String("as", "of a FILE: the `NAME` in front of its missions (default: the file's)", &o.as),
			flags.String("key", "of a FILE that is encrypted: the key in `KEYFILE`", &o.key),
		},
		Run: func(c *call.Call) error { return runImport(c, o, file) },
	}
}

func runImport(c *call.Call, o importOptions, file func(c *call.Call, file, name, keyFile string) error) error {
	ofAgents := o.agent != "" || o.since != "" || o.preview
	switch what := c.Arg(0); {
	case what != "" && what != "agents" && ofAgents:
		return missions.Errorf(missions.KindUsage, "umbra import "+what+" [--as NAME], or umbra import agents with these flags",
			"--agent, --since and --preview are about the sessions of your agents")
	case what != "" && what != "agents":
		return file(c, what, o.as, o.key)
	case o.as != "":
		return missions.Errorf(missions.KindUsage, "umbra import FILE --as NAME", "--as is about a file")
	case o.key != "":
		return missions.Errorf(missions.KindUsage, "umbra import FILE --key KEYFILE", "--key is about a file")
	}
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	r, err := svc.Import(ctx, missions.ImportRequest{Caller: caller, Agent: o.agent, Since: o.since, Preview: o.preview})
	if err != nil {
		return err
	}
	c.EndProgress()
	return c.Print(r, func(p *print.Printer) { describeImport(p, r) })
}

// describeImport lists the sessions by what became of them.
func describeImport(p *print.Printer, r missions.ImportResult) {
	said := map[missions.ImportOutcome]string{
		missions.ImportNew: "imported", missions.ImportContinued: "gone on with", missions.ImportLeftOut: "left out",
	}
	if r.Preview {
		said[missions.ImportNew], said[missions.ImportContinued], said[missions.ImportLeftOut] = "would be imported", "would be gone on with", "would be left out"
	}
	for _, outcome := range []missions.ImportOutcome{missions.ImportNew, missions.ImportContinued, missions.ImportLeftOut} {
		n := r.Count(outcome)
		if n == 0 {
			continue
		}
		p.Line("%s %s", print.Count(n, "session"), said[outcome])
		var t print.Table
		for _, s := range r.Sessions {
			if s.Outcome == outcome {
				t.Row(importCells(p, s)...)
			}
		}
		t.Print(p, "  ")
		told := map[string]bool{}
		for _, s := range r.Sessions {
			if s.Outcome == outcome && s.Hint != "" && !told[s.Hint] {
				told[s.Hint] = true
				p.Folded("  " + print.Clean(s.Hint))
			}
		}
	}
	if r.Kept > 0 {
		p.Line("%s kept already", print.Count(r.Kept, "session"))
	}
	switch {
	case len(r.Sessions) == 0 && r.Kept == 0:
		p.Line("no session is there that could be imported")
	case !r.Preview && r.Count(missions.ImportNew) > 0:
		p.Line("  to go on with one: umbra mission resume NAME; all of them: umbra mission ls --all")
	}
	if r.Daily {
		p.Line("  later ones are imported daily while Umbra is in use; umbra config set import.daily false ends that")
	}
}

// importCells are a session's line: its mission, agent and directory, and what was said or
// is wrong.
func importCells(p *print.Printer, s missions.ImportedSession) []print.Cell {
	what := print.Plain.Cell(fmt.Sprintf("%q", print.Clean(s.Prompt)))
	if s.Reason != "" {
		what = print.Plain.Cell(print.Clean(s.Reason))
	}
	name := s.Mission
	if name == "" {
		name = s.Session
	}
	return []print.Cell{
		print.Bold.Cell(print.Clean(name)), print.Plain.Cell(s.Agent), print.Dim.Cell(p.When(s.At)),
		print.Plain.Cell(print.Clean(s.Directory)), what,
	}
}
