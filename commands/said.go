package commands

import (
	"fmt"
	"strings"

	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

func writeConversation(p *print.Printer, said []missions.ConversationLine) {
	for i, s := range said {
		if i == 0 {
			p.Line("")
		}
		tone := print.Plain
		switch s.Role {
		case "user":
			tone = print.Bold
		case "tool":
			tone = print.Dim
		}
		for n, line := range strings.Split(strings.TrimRight(s.Text, "\n"), "\n") {
			who := ""
			if n == 0 {
				who = print.Clean(s.Role)
			}
			p.Line("%-10s %s", who, p.Paint(tone, print.Clean(line)))
		}
	}
}

// writeNotTakenUp prints in whole what had been sent to an agent that has not taken it up.
func writeNotTakenUp(p *print.Printer, prompts []missions.Prompt) {
	for i, prompt := range prompts {
		if i == 0 {
			p.Line("\nsent, and not taken up by the agent:")
		}
		for line := range strings.SplitSeq(prompt.Text, "\n") {
			p.Line("    %s", p.Paint(print.Bold, print.Clean(line)))
		}
	}
}

func writeKept(p *print.Printer, title string, list []missions.PathReason) {
	if len(list) == 0 {
		return
	}
	p.Line("\n%s:", title)
	var t print.Table
	for _, k := range missions.FoldPaths(list) {
		t.Row(print.Plain.Cell(print.Path(k.Path)), print.Dim.Cell(print.Clean(k.Words())))
	}
	t.Print(p, "  ")
}

// changes is what a snapshot changed, in short.
func changes(e missions.Entry) string {
	n := e.Files.Added + e.Files.Modified + e.Files.Deleted
	if n == 0 {
		return "-"
	}
	s := print.Count(n, "file")
	if e.Lines != nil {
		s = fmt.Sprintf("+%d −%d ", e.Lines.Added, e.Lines.Deleted) + s
	}
	return s
}

func writeProblems(p *print.Printer, list []missions.Problem) {
	for _, problem := range list {
		var where []string
		for _, w := range []string{problem.Invariant, problem.Project, problem.Mission} {
			if w != "" {
				where = append(where, print.Clean(w))
			}
		}
		said := print.Clean(problem.Message)
		if len(where) > 0 {
			said = strings.Join(where, " ") + ": " + said
		}
		p.Marked(print.Red, "problem:", said)
		if problem.Fix != "" {
			p.Command("  to mend it:", print.Clean(problem.Fix))
		}
	}
}
