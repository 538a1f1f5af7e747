package commands

import (
	"fmt"
	"strings"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

func missionShowCommand() *verb {
	return &verb{
		name: "show", args: "[MISSION]", max: 1, short: "show one mission, whole",
		run: runMissionShow,
	}
}

func runMissionShow(c *call) error {
	svc, caller, ctx, err := c.asking()
	if err != nil {
		return err
	}
	m, err := svc.Mission(ctx, missions.MissionRequest{Caller: caller, Name: c.arg(0)})
	if err != nil {
		return err
	}
	return c.print(m, func(p *printer) { describeMission(p, m) })
}

func describeMission(p *printer, m missions.Mission) {
	var t table
	field := func(name, value string) {
		if value != "" {
			t.row(cell{name, dim}, cell{clean(value), plain})
		}
	}
	p.line("%s  %s", p.paint(bold, clean(m.Name)), p.paint(stateStyle(m.State), string(m.State)))
	field("id", m.ID)
	field("agent", m.Agent)
	field("command", home.ShellCommand(m.Command))
	field("since", p.when(m.StateSince))
	if m.PID != 0 {
		field("pid", fmt.Sprint(m.PID)+pidOf(m))
	}
	if m.ExitCode != nil {
		field("ended", fmt.Sprintf("%s, exit code %d", m.CloseReason, *m.ExitCode))
	} else {
		field("ended", string(m.CloseReason))
	}
	field("workspace", m.Workspace)
	if m.Cwd != m.Workspace {
		field("directory", m.Cwd)
	}
	field("project", m.Project)
	field("turn", fmt.Sprint(m.Turn))
	if m.LastPrompt != nil {
		field("prompt", m.LastPrompt.Text)
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
		field("forked from", m.Parent.Mission+" at "+short(m.Parent.Snapshot))
	}
	field("snapshot", m.Head)
	field("ref", m.Ref)
	field("branch", m.Branch)
	field("git", strings.TrimSpace(m.Git.Branch+" "+short(m.Git.Head)+" "+m.Git.Operation))
	field("session", m.SessionID)
	field("session file", m.SessionPath)
	if m.Config != "" {
		how := ""
		if m.ConfigFixed {
			how = " (it is launched with this one)"
		}
		field("configuration", short(m.Config)+how)
	}
	field("environment", strings.Join(m.EnvNames, " "))
	field("to come", m.PendingAction)
	field("no fork now", m.ForkBlockedReason)
	field("shadow", m.ShadowRepo)
	field("made", p.when(m.CreatedAt))
	for _, note := range m.Notes {
		field("note", note)
	}
	for _, problem := range m.Problems {
		field("problem", problem)
	}
	t.print(p, "  ")
}

// pidOf says whose a mission's pid is: its agent's, or that of the keeper alone.
func pidOf(m missions.Mission) string {
	switch {
	case m.Managed == missions.ManagedHooks:
		return ", which tells by hooks"
	case m.Managed != missions.ManagedKeeper:
		return ""
	case agentless(m):
		return ", its keeper"
	}
	return ", under a keeper"
}

// agentless reports whether a mission has no agent: it has ended, or was not started yet.
func agentless(m missions.Mission) bool {
	return m.State == missions.StateClosed || m.State == missions.StateInitializing
}

// unmanned reports whether a mission has no agent, and no keeper that is about to start
// one or has not told of its start yet.
func unmanned(m missions.Mission) bool {
	return agentless(m) && m.Managed != missions.ManagedKeeper
}

// talkText is what was said, in numbers.
func talkText(t missions.Tally) string {
	parts := []string{count(t.Prompts, "prompt"), count(t.Tools, "tool")}
	if t.Input+t.Output > 0 {
		parts = append(parts, "tokens: "+short1000(t.Input)+" in, "+short1000(t.Output)+" out")
	}
	if t.Cost >= 0.005 {
		parts = append(parts, fmt.Sprintf("$%.2f", t.Cost))
	}
	if t.Compactions > 0 {
		parts = append(parts, count(t.Compactions, "compaction"))
	}
	if t.Resets > 0 {
		parts = append(parts, count(t.Resets, "reset"))
	}
	return strings.Join(parts, ", ")
}

// short1000 is a number of tokens as people read it.
func short1000(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1_000_000)
}
