package missions

import (
	"context"
	"errors"

	"github.com/umbra-vcs/umbra/sessions"
)

// AskedCommand is what a person has typed for Umbra where the agent's prompt
// goes. Whoever called the hook carries it out, with Mission for the default
// one, and answers by CommandReply.
type AskedCommand struct {
	Words string `json:"words"` // as they were typed
}

// CommandReply is what a hook prints for its agent to show as the answer to an
// AskedCommand.
func CommandReply(agent, answer string) []byte {
	for _, a := range Agents() {
		if h, ok := a.(sessions.Hooked); ok && a.Name() == agent {
			return h.Reply(sessions.Event{Kind: sessions.KindCommand}, sessions.Answer{Block: answer})
		}
	}
	return nil
}

// heardCommand finds the mission that a command is about. Whatever goes wrong is
// its answer: the command never reaches the model.
func (l *Local) heardCommand(ctx context.Context, a sessions.Adapter, r HookRequest, e sessions.Event) HookResult {
	m, err := l.missionOfEvent(ctx, a, r, e)
	if err == nil && m != nil {
		err = l.noticeEnd(ctx, m)
	}
	answer := ""
	switch {
	case errors.Is(err, errAdopting):
		answer = "Umbra is still taking the first snapshot of this workspace; try again in a moment."
	case err != nil:
		answer = "umbra: " + AsError(err).Message
		if hint := AsError(err).Hint; hint != "" {
			answer += "\n  " + hint
		}
	case m == nil:
		answer = "Umbra keeps no snapshots here; umbra hooks status " + a.Name() + " says what it adopts."
	default:
		// An umbra that does not know of Asked answers with this.
		answer = "This umbra is of another version than the one that answers: type the command in a shell, as umbra " + e.Command + "."
		return HookResult{Mission: m.ID, Asked: &AskedCommand{Words: e.Command}, Output: CommandReply(a.Name(), answer)}
	}
	return HookResult{Output: CommandReply(a.Name(), answer)}
}

// noticeEnd ends a turn whose end was not heard, on Esc or an error of the API: a
// command is taken between turns. The session's file decides, since a subagent
// in the background may go on.
func (l *Local) noticeEnd(ctx context.Context, m *loaded) error {
	if !InTurn(m.life) {
		return nil
	}
	return l.observed(ctx, m, SawQuiet)
}
