package wording

import (
	"fmt"
	"strings"

	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

func Conversation(p *print.Printer, said []missions.ConversationLine) {
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

// Changes is what a snapshot changed, in short.
func Changes(e missions.Entry) string {
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

// ChangesStyle is the colour of Changes: red where lines only went.
func ChangesStyle(e missions.Entry) print.Style {
	if e.Lines != nil && e.Lines.Added == 0 && e.Lines.Deleted > 0 {
		return print.Red
	}
	return print.Green
}

func Problems(p *print.Printer, list []missions.Problem) {
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
