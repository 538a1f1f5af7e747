package mission

import (
	"fmt"
	"strings"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/commands/wording"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

func missionShowCommand() *call.Verb {
	return &call.Verb{
		Name: "show", Args: "[MISSION]", Max: 1, Short: "show one mission, whole",
		Run: runMissionShow,
	}
}

func runMissionShow(c *call.Call) error {
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	m, err := svc.Mission(ctx, missions.MissionRequest{Caller: caller, Name: c.Arg(0)})
	if err != nil {
		return err
	}
	return c.Print(m, func(p *print.Printer) { describeMission(p, m) })
}

func describeMission(p *print.Printer, m missions.Mission) {
	var t print.Table
	field := func(name, value string) {
		if value != "" {
			t.Row(print.Dim.Cell(name), print.Plain.Cell(print.Clean(value)))
		}
	}
	p.Line("%s  %s", p.Paint(print.Bold, print.Clean(m.Name)), p.Paint(wording.StateStyle(m.State), m.StateWords()))
	field("id", m.ID)
	field("agent", m.Agent)
	field("command", home.ShellCommand(m.Command))
	field("since", p.When(m.StateSince))
	if m.PID != 0 {
		field("pid", fmt.Sprint(m.PID)+pidOf(m))
	}
	if m.ExitCode != nil {
		field("ended", fmt.Sprintf("%s, exit code %d", m.CloseReason, *m.ExitCode))
	} else {
		field("ended", string(m.CloseReason))
	}
	if m.SideFork != "" {
		field("side fork", m.SideFork+" has its terminal")
	}
	if m.SideForkOf != "" {
		field("side fork of", m.SideForkOf+", "+wording.ParentOfSideFork(m))
	}
	field("workspace", m.Workspace)
	if m.Cwd != m.Workspace {
		field("directory", m.Cwd)
	}
	field("project", m.Project)
	field("turn", fmt.Sprint(m.Turn))
	if m.LastPrompt != nil {
		field("prompt", missions.PromptLine(m.LastPrompt.Text))
	}
	if m.LastTool != nil {
		field("tool", strings.TrimSpace(m.LastTool.Name+" "+m.LastTool.Target))
	}
	if m.Tally != nil {
		field("conversation", talkText(*m.Tally))
	}
	field("error", m.LastError)
	for _, q := range m.PendingPermissions {
		field("asks", strings.TrimSpace(q.Tool+" "+q.Target))
	}
	if m.Parent != nil {
		field("forked from", m.Parent.Mission+" at "+print.Short(m.Parent.Snapshot))
	}
	field("snapshot", m.Head)
	field("ref", m.Ref)
	field("branch", m.Branch)
	field("git", strings.TrimSpace(m.Git.Branch+" "+print.Short(m.Git.Head)+" "+m.Git.Operation))
	field("output", m.Output)
	field("check output", m.CheckOutput)
	field("session", m.SessionID)
	field("session file", m.SessionPath)
	if m.Config != "" {
		how := ""
		if m.ConfigFixed {
			how = " (it is launched with this one)"
		}
		field("configuration", print.Short(m.Config)+how)
	}
	field("environment", strings.Join(m.EnvNames, " "))
	field("to come", m.PendingAction)
	if n := m.PendingUpdates; n > 0 {
		field("updates", wording.WaitingUpdates(n, m.Name))
	}
	field("no fork now", m.ForkBlockedReason)
	field("shadow", m.ShadowRepo)
	field("made", p.When(m.CreatedAt))
	for _, note := range m.Notes {
		field("note", note)
	}
	for _, problem := range m.Problems {
		field("problem", problem)
	}
	t.Print(p, "  ")
}

// pidOf says whose a mission's pid is: its agent's, or that of the keeper alone.
func pidOf(m missions.Mission) string {
	switch {
	case m.Managed == missions.ManagedHooks:
		return ", which tells by hooks"
	case m.Managed != missions.ManagedKeeper:
		return ""
	case m.IsAgentless():
		return ", its keeper"
	}
	return ", under a keeper"
}

// talkText is what was said, in numbers.
func talkText(t missions.Tally) string {
	parts := []string{print.Count(t.Prompts, "prompt"), print.Count(t.Tools, "tool")}
	if t.Input+t.Output > 0 {
		parts = append(parts, "tokens: "+print.Thousands(t.Input)+" in, "+print.Thousands(t.Output)+" out")
	}
	if t.Cost >= 0.005 {
		parts = append(parts, fmt.Sprintf("$%.2f", t.Cost))
	}
	if t.Compactions > 0 {
		parts = append(parts, print.Count(t.Compactions, "compaction"))
	}
	if t.Resets > 0 {
		parts = append(parts, print.Count(t.Resets, "reset"))
	}
	return strings.Join(parts, ", ")
}
