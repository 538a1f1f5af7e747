package commands

import (
	"fmt"
	"strings"

	"github.com/umbra-vcs/umbra/missions"
)

func missionCommand() *verb {
	return &verb{
		name: "mission", short: "missions: agents at work in workspaces",
		verbs: []*verb{
			missionNewCommand(), missionLsCommand(), missionShowCommand(), missionResumeCommand(), missionWaitCommand(),
			missionStopCommand(), missionRenameCommand(), missionRmCommand(),
		},
	}
}

// stateStyle is the colour of a state.
func stateStyle(s missions.StateName) style {
	switch s {
	case missions.StateRunning:
		return green
	case missions.StateWaiting:
		return yellow
	case missions.StateError:
		return red
	case missions.StateIdle:
		return cyan
	case missions.StateClosed:
		return dim
	}
	return plain
}

// identity is how a new mission is announced: what scripts cut apart.
func identity(m missions.Mission) string { return m.ID + " " + m.Name }

// about is the last thing that happened in a mission, in a few words.
func about(m missions.Mission) string {
	switch {
	case len(m.PendingPermissions) > 0:
		return "asks: " + strings.TrimSpace(m.PendingPermissions[0].Tool+" "+m.PendingPermissions[0].Target)
	case m.LastError != "":
		return missions.ErrorLine(m.LastError)
	case m.State == missions.StateClosed && m.CloseReason == missions.CloseReasonLost:
		return "its process is gone without a word"
	case m.State == missions.StateClosed && m.ExitCode != nil && *m.ExitCode != 0:
		return fmt.Sprintf("ended with exit code %d", *m.ExitCode)
	case m.LastPrompt != nil:
		return m.LastPrompt.Text
	}
	return ""
}

// mostAbout is how many columns of it a table shows where no terminal says how
// many there are; a prompt may be a pasted log.
const mostAbout = 80

// missionTable adds a row for a mission. The tree's branches stand before its
// name.
func missionRow(t *table, p *printer, branch string, m missions.Mission, project bool) {
	row := []cell{{branch + clean(m.Name), bold}, {string(m.State), stateStyle(m.State)}, {clean(m.Agent), plain},
		{fmt.Sprintf("turn %d", m.Turn), plain}, {p.when(m.UpdatedAt), dim}}
	if project {
		row = append(row, cell{clean(m.Project), plain})
	}
	row = append(row, cell{clean(m.Workspace), dim})
	if words := about(m); words != "" {
		words = strings.Join(strings.Fields(clean(words)), " ")
		if p.width == 0 {
			words = cut(words, mostAbout)
		}
		row = append(row, cell{words, plain})
	}
	t.row(row...)
}
