package contests

import (
	"strings"

	"github.com/umbra-vcs/umbra/commands/webpage"
	"github.com/umbra-vcs/umbra/missions"
)

// comparedPage is what compare prints, with the changed lines fork by fork, as a page.
func comparedPage(forks []missions.ComparedFork, source *webpage.Source) *webpage.Page {
	var names []string
	rows := [][]string{columns}
	for _, f := range forks {
		names, rows = append(names, f.Mission), append(rows, columnsOf(f))
	}
	if isChecked(forks) {
		rows[0] = append([]string{"check"}, rows[0]...)
		for i, f := range forks {
			rows[i+1] = append([]string{checkCell(f.Check).Text}, rows[i+1]...)
		}
	}
	page := webpage.New("compared: " + strings.Join(names, ", "))
	page.Table(rows)
	for _, f := range forks {
		page.Heading(f.Mission + ", " + f.Address)
		if f.Turns > 0 && f.Fork.LastPrompt != nil { // else it is its parent's
			page.Prompt(f.Fork.LastPrompt.Text)
		}
		for i, change := range f.Changes {
			page.Patch(source, f.ForkPoint, []missions.FileChange{change}, f.Patches[i])
		}
	}
	return page
}
