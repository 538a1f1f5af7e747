package claude

import (
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// queue follows the prompts that were sent while the agent worked, by the lines that
// Claude Code writes of them. Where a line does not say which prompt it is about, as in
// 2.0, that is the one which has waited longest.
type queue struct {
	waiting []sessions.Text
	took    string // its text
	taken   bool   // one was taken out since the last turn began
}

// operation takes a queue-operation line.
func (q *queue) operation(b []byte, at time.Time) {
	prompt := jsontext.Text(jsontext.Lookup(b, "content"))
	switch jsontext.Text(jsontext.Lookup(b, "operation")) {
	case "enqueue":
		q.waiting = append(q.waiting, sessions.Text{Role: "user", Text: prompt, At: at})
	case "dequeue", "remove":
		q.taken = true
		q.take(prompt)
	case "popAll": // they are in the input again, to be edited
		if prompt == "" {
			q.waiting = nil
		}
		q.take(prompt)
	}
}

func (q *queue) take(prompt string) {
	at := q.find(prompt)
	if prompt == "" {
		at = 0
	}
	if at >= 0 && at < len(q.waiting) {
		q.took = q.waiting[at].Text
		q.waiting = slices.Delete(q.waiting, at, at+1)
	}
}

func (q *queue) find(prompt string) int {
	return slices.IndexFunc(q.waiting, func(t sessions.Text) bool { return t.Text == prompt })
}

// begun takes the prompt that a turn began with. One that was not taken from the queue
// is typed where nothing waits: what did has ended with the agent that it was sent to.
func (q *queue) begun(prompt string) {
	if !q.taken {
		q.waiting = nil
	}
	if !q.taken || q.took != prompt {
		q.waiting = q.waiting[q.find(prompt)+1:]
	}
	q.taken, q.took = false, ""
}

// prompts are those of the user's that wait: Claude Code queues reports of what it has
// left in the background too, and what has no text.
func (q *queue) prompts() []sessions.Text {
	var out []sessions.Text
	for _, t := range q.waiting {
		if t.Text != "" && !strings.HasPrefix(t.Text, taskReport) {
			out = append(out, t)
		}
	}
	return out
}
