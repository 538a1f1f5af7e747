package restores

import (
	"fmt"
	"strings"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// WaitingPrompts are the prompts that were sent to the mission's agent since its launch
// and that it has not taken up, or only a moment ago, unheard: they are nowhere but in
// its conversation once it has ended. What can't be read is logged, and fails nothing.
func (rs *Restorer) WaitingPrompts(m *projects.Mission) []missions.Prompt {
	c, err := rs.conversations.ReadPresentConversation(m)
	if err != nil {
		rs.Logger.Warn("look for prompts that were not taken up", "mission", m.ID, "error", err)
	}
	var list []missions.Prompt
	if n := len(c.Turns); n > 0 && !missions.InTurn(m.Lifecycle) && !c.Turns[n-1].Done && c.Turns[n-1].At.After(m.StateSince) {
		list = append(list, missions.Prompt{Text: c.Turns[n-1].Prompt, At: c.Turns[n-1].At})
	}
	for _, p := range PromptsOf(c.Queued) {
		if rs.IsSinceLaunch(m, p.At) { // those of the agent before were given back then
			list = append(list, p)
		}
	}
	return list
}

func PromptsOf(texts []sessions.Text) []missions.Prompt {
	var list []missions.Prompt
	for _, t := range texts {
		list = append(list, missions.Prompt{Text: t.Text, At: t.At})
	}
	return list
}

// maxPromptInLine is how much of a prompt that was not taken up is in a line for the
// agent's terminal, in bytes.
const maxPromptInLine = 200

// WaitingPromptsText is what a line for the agent's terminal says of prompts that were not
// taken up, and where they are in whole.
func WaitingPromptsText(list []missions.Prompt, moment string) string {
	var texts []string
	for _, p := range list {
		texts = append(texts, `"`+missions.TruncateText(strings.Join(strings.Fields(p.Text), " "), maxPromptInLine)+`"`)
	}
	return fmt.Sprintf("sent, and not taken up: %s (in whole: umbra show %.10s)", strings.Join(texts, ", "), moment)
}
