package print

import (
	"strings"

	"github.com/umbra-vcs/umbra/missions"
)

// WriteNotTakenUp prints in whole what had been sent to an agent that has not taken it up.
func WriteNotTakenUp(p *Printer, prompts []missions.Prompt) {
	for i, prompt := range prompts {
		if i == 0 {
			p.Line("\nsent, and not taken up by the agent:")
		}
		for line := range strings.SplitSeq(prompt.Text, "\n") {
			p.Line("    %s", p.Paint(Bold, Clean(line)))
		}
	}
}

// WriteKept lists paths that stay as they are, or are left out, and why.
func WriteKept(p *Printer, title string, list []missions.PathReason) {
	if len(list) == 0 {
		return
	}
	p.Line("\n%s:", title)
	var t Table
	for _, k := range missions.FoldPaths(list) {
		t.Row(Plain.Cell(Path(k.Path)), Dim.Cell(Clean(k.Words())))
	}
	t.Print(p, "  ")
}
