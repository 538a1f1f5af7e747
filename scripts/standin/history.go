package standin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// A Message is one message of a conversation, as the model was sent it.
type Message struct {
	Role    string // "user" or "assistant"
	Text    string // without what the client itself said to the model
	Calls   []Call
	Results []Result
	// Reminders are what the client said to the model beside the conversation
	// (Claude Code's <system-reminder> blocks and messages of the role system,
	// Gemini CLI's <session_context> and <hook_context>), such as a hook's
	// additional context.
	Reminders []string
}

// A Result answers the call of that id.
type Result struct {
	ID    string
	Text  string
	Error bool
}

// History returns the conversation that a request carries, in order, without
// the messages that hold nothing but reminders; nil if it carries none.
func History(req Request) []Message {
	asked, ok := read(req)
	if !ok {
		return nil
	}
	return asked.history()
}

// Lines renders a history for comparison, without ids: "user: text",
// "assistant: text", "call Write {…}", "result: text" or "error: text".
func Lines(history []Message) []string {
	var lines []string
	for _, m := range history {
		for _, r := range m.Results {
			kind := "result: "
			if r.Error {
				kind = "error: "
			}
			lines = append(lines, kind+r.Text)
		}
		if m.Text != "" {
			lines = append(lines, m.Role+": "+m.Text)
		}
		for _, c := range m.Calls {
			lines = append(lines, fmt.Sprintf("call %s %s", c.Name, c.Input))
		}
	}
	return lines
}

// reminder is what Claude Code and Copilot CLI wrap their own words in, within the user's
// message.
var reminder = regexp.MustCompile(`(?s)<(?:system-reminder|system_reminder|system_notification|current_datetime|reminder)>\s*(.*?)\s*</(?:system-reminder|system_reminder|system_notification|current_datetime|reminder)>\n?`)

// strip parts a text from the reminders in it.
func strip(text string) (rest string, reminders []string) {
	for _, match := range reminder.FindAllStringSubmatch(text, -1) {
		reminders = append(reminders, match[1])
	}
	return strings.TrimSpace(reminder.ReplaceAllString(text, "")), reminders
}

// join drops messages that hold only reminders and gives these to the message
// before, or to the first one if there is none.
func join(messages []Message) []Message {
	var history []Message
	var early []string
	for _, m := range messages {
		if m.Text != "" || len(m.Calls) > 0 || len(m.Results) > 0 {
			m.Reminders = append(early, m.Reminders...)
			early = nil
			history = append(history, m)
			continue
		}
		if len(history) == 0 {
			early = append(early, m.Reminders...)
			continue
		}
		last := &history[len(history)-1]
		last.Reminders = append(last.Reminders, m.Reminders...)
	}
	return history
}

// pending is the newest prompt, and the number of tool results since.
func pending(history []Message) (prompt string, results int) {
	for i := len(history) - 1; i >= 0; i-- {
		if history[i].Role == "user" && history[i].Text != "" {
			return history[i].Text, results
		}
		results += len(history[i].Results)
	}
	return "", results
}

// compact makes JSON of one spelling, for comparison.
func compact(raw json.RawMessage) json.RawMessage {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return raw
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(value) != nil {
		return raw
	}
	return bytes.TrimSpace(out.Bytes())
}
