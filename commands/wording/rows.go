// Package wording is how several verbs put the same thing: a mission's row and colour, what
// was said, what a snapshot changed, what was left out, what is wrong. It asks for nothing.
package wording

import (
	"fmt"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// StateStyle is the colour of a state.
func StateStyle(s missions.StateName) print.Style {
	switch s {
	case missions.StateRunning:
		return print.Green
	case missions.StateWaiting:
		return print.Yellow
	case missions.StateError:
		return print.Red
	case missions.StateIdle:
		return print.Cyan
	case missions.StateClosed:
		return print.Dim
	}
	return print.Plain
}

// About is the last thing that happened in a mission, in a few words.
func About(m missions.Mission) string {
	switch {
	case m.SideFork != "":
		return "parked: its terminal has " + m.SideFork
	case m.State == missions.StateClosed && m.CloseReason == missions.CloseReasonParked:
		return "its agent is not back: umbra mission resume " + m.Name
	case len(m.PendingPermissions) > 0:
		return "asks: " + strings.TrimSpace(m.PendingPermissions[0].Tool+" "+m.PendingPermissions[0].Target)
	case m.LastError != "":
		return missions.ErrorLine(m.LastError)
	case m.State == missions.StateClosed && m.CloseReason == missions.CloseReasonLost:
		return "its process is gone without a word"
	case m.State == missions.StateClosed && m.ExitCode != nil && *m.ExitCode != 0:
		return fmt.Sprintf("ended with exit code %d", *m.ExitCode)
	case m.LastPrompt != nil:
		return missions.PromptLine(m.LastPrompt.Text)
	}
	return ""
}

// mostAbout is how many columns of it a table shows where no terminal says how
// many there are; a prompt may be a pasted log.
const mostAbout = 80

// missionTable adds a row for a mission. The tree's branches stand before its
// name.
func Row(t *print.Table, p *print.Printer, branch string, m missions.Mission, project bool) {
	row := []print.Cell{print.Bold.Cell(branch + print.Clean(m.Name)), StateStyle(m.State).Cell(m.StateWords()), print.Plain.Cell(print.Clean(m.Agent)),
		print.Plain.Cell(fmt.Sprintf("turn %d", m.Turn)), print.Dim.Cell(p.When(m.UpdatedAt))}
	if project {
		row = append(row, print.Plain.Cell(print.Clean(m.Project)))
	}
	row = append(row, print.Dim.Cell(print.Clean(m.Workspace)))
	if words := About(m); words != "" {
		words = strings.Join(strings.Fields(print.Clean(words)), " ")
		if p.Width == 0 {
			words = print.Cut(words, mostAbout)
		}
		row = append(row, print.Plain.Cell(words))
	}
	t.Row(row...)
}

func AllStates() []missions.StateName {
	return []missions.StateName{
		missions.StateInitializing, missions.StateRunning, missions.StateWaiting,
		missions.StateIdle, missions.StateError, missions.StateClosed,
	}
}

func ParseStates(list string) ([]missions.StateName, error) {
	if list == "" {
		return nil, nil
	}
	var states []missions.StateName
	for name := range strings.SplitSeq(list, ",") {
		s := missions.StateName(strings.TrimSpace(name))
		if s == missions.NotLaunched {
			s = missions.StateInitializing // as lists call it
		}
		if !slices.Contains(AllStates(), s) {
			var known []string
			for _, k := range AllStates() {
				known = append(known, string(k))
			}
			return nil, missions.Errorf(missions.KindUsage, "use "+strings.Join(known, ", "), "no state %s", fmt.Sprintf("%q", name))
		}
		states = append(states, s)
	}
	return states, nil
}

// WaitingUpdates says how many updates wait for a mission's agent, and what shows them.
func WaitingUpdates(n int, mission string) string {
	if n == 1 {
		return "1 update waits for its next prompt: umbra updates " + mission
	}
	return fmt.Sprintf("%d updates wait for its next prompt: umbra updates %s", n, mission)
}
