package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/umbra-vcs/umbra/missions"
)

// manage takes the keys that act on the mission that is shown, as a whole.
func manage(m *model, key string) tea.Cmd {
	at := m.at()
	if at.ID == "" {
		return nil
	}
	switch key {
	case "P":
		return planPromotion(m, at)
	case "s":
		return stopAgent(m, at)
	case "r":
		return resumeAgent(m, at)
	case "R":
		askName(m, at)
	case "x":
		return removeMission(m, at)
	case "t":
		askReport(m, at)
	case "C":
		return showContest(m, at)
	case "M":
		return showMerge(m, at)
	}
	return nil
}

// stopAgent asks whether the agent of a mission is to be ended.
func stopAgent(m *model, at missions.Mission) tea.Cmd {
	name := m.o.Clean(at.Name)
	if at.IsUnmanned() {
		m.say(name + " has no agent to stop; r resumes it")
		return nil
	}
	d := deed{title: "stop the agent of " + name, said: []string{"Its files and its conversation are kept in a snapshot; r resumes it."}}
	if at.State == missions.StateRunning || at.State == missions.StateWaiting {
		d.said = append([]string{"It is in a turn, which is cut off."}, d.said...)
	}
	o := m.o
	d.do = func(ctx context.Context, _ bool) (outcome, error) {
		_, err := o.Service.Stop(ctx, missions.StopRequest{Caller: o.Caller, Missions: []string{at.ID}})
		return outcome{note: name + " stopped; r resumes it"}, err
	}
	return d.ask(m)
}

// resumeAgent asks whether the agent of a mission is to take the terminal.
func resumeAgent(m *model, at missions.Mission) tea.Cmd {
	if !at.IsUnmanned() {
		m.fail(missions.Errorf(missions.KindBusy, "go to its terminal, or stop it with s", "mission %s is live already", at.Name))
		return nil
	}
	said := []string{"Its agent is launched here, on its conversation, and the timeline is left."}
	if at.SideFork != "" {
		said = append(said, "It is parked for "+m.o.Clean(at.SideFork)+", which goes on in the other terminal and ends there.")
	}
	return deed{
		title: "resume " + m.o.Clean(at.Name),
		said:  said,
		do: func(context.Context, bool) (outcome, error) {
			return outcome{launch: &Launch{Mission: at}}, nil
		},
	}.ask(m)
}

// askName asks for another name of a mission.
func askName(m *model, at missions.Mission) {
	before := m.o.Clean(at.Name)
	m.lay(input{title: "rename " + before, text: at.Name, hint: "another name", done: func(m *model, name string) tea.Cmd {
		o := m.o
		return deed{title: "rename " + before, do: func(ctx context.Context, _ bool) (outcome, error) {
			renamed, err := o.Service.Rename(ctx, missions.RenameRequest{Caller: o.Caller, Mission: at.ID, Name: strings.TrimSpace(name)})
			return outcome{note: before + " is now " + o.Clean(renamed.Name)}, err
		}}.carry(m)
	}})
}

// removeMission shows what is only in a mission, and asks whether it is to go into the trash.
func removeMission(m *model, at missions.Mission) tea.Cmd {
	o := m.o
	remove := func(ctx context.Context, workspace, preview bool) (missions.RemoveResult, error) {
		return o.Service.Remove(ctx, missions.RemoveRequest{Caller: o.Caller, Missions: []string{at.ID}, Workspace: workspace, Preview: preview})
	}
	d := deed{
		title: "remove " + o.Clean(at.Name) + ", into the trash",
		plan: func(ctx context.Context, workspace bool) ([]string, error) {
			r, err := remove(ctx, workspace, true)
			if err != nil {
				return nil, err
			}
			return o.Removed(r, "would be removed"), nil
		},
		do: func(ctx context.Context, workspace bool) (outcome, error) {
			r, err := remove(ctx, workspace, false)
			if err != nil {
				return outcome{}, err
			}
			return outcome{said: o.Removed(r, "removed")}, nil
		},
	}
	if at.MadeByUmbra {
		d.choice = "its workspace goes into the trash too"
	}
	return d.ask(m)
}

// askReport asks what a fork reports to its parent's agent.
func askReport(m *model, at missions.Mission) {
	if !isFork(m, at, "has nobody to report to") {
		return
	}
	title := "report of " + m.o.Clean(at.Name)
	m.lay(input{title: title, hint: "empty: its agent's last answer", done: func(m *model, text string) tea.Cmd {
		o := m.o
		r := missions.ReportRequest{Caller: o.Caller, ID: missions.NewRequestID(), Fork: at.ID, Text: strings.TrimSpace(text)}
		return deed{title: title, do: func(ctx context.Context, _ bool) (outcome, error) {
			done, err := o.Service.Report(ctx, r)
			if err != nil {
				return outcome{}, err
			}
			return outcome{said: o.Reported(done)}, nil
		}}.carry(m)
	}})
}

// isFork reports whether a mission is a fork, and says what it lacks if it is none.
func isFork(m *model, at missions.Mission, lacks string) bool {
	if at.Parent == nil {
		m.fail(missions.Errorf(missions.KindNotFound, "f makes a fork", "mission %s is not a fork: it %s", at.Name, lacks))
	}
	return at.Parent != nil
}
