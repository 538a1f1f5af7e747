package restores

import (
	"fmt"
	"strings"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// WaitingPrompts are the prompts that the mission's agent was sent since its launch and
// has not taken up, or took up a moment ago without a hook. Once the agent has ended,
// only its conversation shows them. What can't be read is logged and fails nothing.
func (rs *Restorer) WaitingPrompts(m *projects.Mission) []missions.Prompt {
	c, err := rs.conversations.ReadPresentConversation(m)
	if err != nil {
		rs.Logger.Warn("look for prompts that were not taken up", "mission", m.ID, "error", err)
	}
	var list []missions.Prompt
	if n := len(c.Turns); n > 0 && !missions.InTurn(m.Lifecycle) && !c.Turns[n-1].Done && c.Turns[n-1].At.After(m.StateSince) {
		list = append(list, missions.Prompt{Text: projects.RedactText(c.Turns[n-1].Prompt), At: c.Turns[n-1].At})
	}
	for _, p := range PromptsOf(c.Queued) {
		if rs.IsSinceLaunch(m, p.At) { // those of the agent before were given back then
			list = append(list, p)
		}
	}
	return list
}

// PromptsOf are texts of a conversation as prompts.
func PromptsOf(texts []sessions.Text) []missions.Prompt {
	var list []missions.Prompt
	for _, t := range texts {
		list = append(list, missions.Prompt{Text: projects.RedactText(t.Text), At: t.At})
	}
	return list
}

// maxPromptInLine is how many bytes of a waiting prompt are shown in a line of the
// agent's terminal.
const maxPromptInLine = 200

// WaitingPromptsText says in a line of the agent's terminal which prompts were not
// taken up, and where all of their text is.
func WaitingPromptsText(list []missions.Prompt, moment string) string {
	var texts []string
	for _, p := range list {
		texts = append(texts, `"`+missions.TruncateText(strings.Join(strings.Fields(p.Text), " "), maxPromptInLine)+`"`)
	}
	return fmt.Sprintf("sent, and not taken up: %s (in whole: umbra show %.10s)", strings.Join(texts, ", "), moment)
}
