package events

import (
	"context"
	"errors"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// SideCommand begins the words of an AskedCommand that is about side forks.
const SideCommand = sessions.SideCommand

// CommandReply is what a hook prints for its agent to show as the answer to an
// AskedCommand.
func CommandReply(agent, answer string) []byte {
	for _, a := range projects.Agents() {
		if h, ok := a.(sessions.Hooked); ok && a.Name() == agent {
			return h.Reply(sessions.Event{Kind: sessions.KindCommand}, sessions.Answer{Block: answer})
		}
	}
	return nil
}

// handleCommand finds the mission that a command is about. An error is the command's answer,
// since the command never reaches the model.
func (l *Listener) handleCommand(ctx context.Context, a sessions.Adapter, r missions.HookRequest, e sessions.Event) missions.HookResult {
	m, err := l.missionOfEvent(ctx, a, r, e)
	if err == nil && m != nil {
		err = l.endUnheardTurn(ctx, m)
	}
	if err == nil && m != nil {
		l.noteCommand(ctx, m)
	}
	answer := ""
	switch {
	case errors.Is(err, errAdopting):
		answer = "Umbra is still taking the first snapshot of this workspace; try again in a moment."
	case err != nil:
		answer = "umbra: " + missions.AsError(err).Message
		if hint := missions.AsError(err).Hint; hint != "" {
			answer += "\n  " + hint
		}
	case m == nil:
		answer = "Umbra keeps no snapshots here; umbra hooks status " + a.Name() + " says what it adopts."
	case m.Live.ProvisionalSnapshot != "":
		answer = "Umbra makes a mission of a session without a terminal when that first changes a file: this one has changed none."
	default:
		// An umbra that does not know of Asked answers with this.
		answer = "This umbra is of another version than the one that answers: type the command in a shell, as umbra " + e.Command + "."
		return missions.HookResult{Mission: m.ID, Asked: &missions.AskedCommand{Words: e.Command}, Output: CommandReply(a.Name(), answer)}
	}
	return missions.HookResult{Output: CommandReply(a.Name(), answer)}
}

// noteCommand remembers that the agent's client is busy with a command, and not with a turn.
func (l *Listener) noteCommand(ctx context.Context, m *projects.Mission) {
	err := l.WithMissionLock(ctx, m, l.WithWorkspaceLock, func(m *projects.Mission) error {
		m.Live.CommandAt = l.Now()
		l.SaveLiveState(m)
		return nil
	})
	if err != nil {
		l.Logger.Warn("note a command", "mission", m.ID, "error", err)
	}
}

// endUnheardTurn ends a turn whose end no hook has reported, after Esc or an error of the API:
// agents take a command between turns. The session's file decides, since a subagent may still
// work in the background.
func (l *Listener) endUnheardTurn(ctx context.Context, m *projects.Mission) error {
	if !missions.InTurn(m.Lifecycle) {
		return nil
	}
	return l.ObserveMission(ctx, m, missions.SawQuiet)
}
