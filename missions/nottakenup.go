package missions

import (
	"fmt"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
)

// waitingPrompts are the prompts that were sent to the mission's agent since its launch
// and that it has not taken up, or only a moment ago, unheard: they are nowhere but in
// its conversation once it has ended. What can't be read is logged, and fails nothing.
func (l *Local) waitingPrompts(m *loaded) []Prompt {
	c, err := l.presentConversation(m)
	if err != nil {
		l.log.Warn("look for prompts that were not taken up", "mission", m.ID, "error", err)
	}
	var list []Prompt
	if n := len(c.Turns); n > 0 && !InTurn(m.life) && !c.Turns[n-1].Done && c.Turns[n-1].At.After(m.since) {
		list = append(list, Prompt{Text: c.Turns[n-1].Prompt, At: c.Turns[n-1].At})
	}
	for _, p := range queuedIn(c.Queued) {
		if l.sinceLaunch(m, p.At) { // those of the agent before were given back then
			list = append(list, p)
		}
	}
	return list
}

func queuedIn(texts []sessions.Text) []Prompt {
	var list []Prompt
	for _, t := range texts {
		list = append(list, Prompt{Text: t.Text, At: t.At})
	}
	return list
}

// mostToldPrompt is how much of a prompt that was not taken up is in a line for the
// agent's terminal, in bytes.
const mostToldPrompt = 200

// toldPrompts is what a line for the agent's terminal says of prompts that were not
// taken up, and where they are in whole.
func toldPrompts(list []Prompt, moment string) string {
	var texts []string
	for _, p := range list {
		texts = append(texts, `"`+beginning(strings.Join(strings.Fields(p.Text), " "), mostToldPrompt)+`"`)
	}
	return fmt.Sprintf("sent, and not taken up: %s (in whole: umbra show %.10s)", strings.Join(texts, ", "), moment)
}
