package standin

import (
	"encoding/json"
	"net/http"
	"strings"
)

// The Messages API, as Claude Code 2.0.77 to 2.1.329 speaks it.
// https://docs.anthropic.com/en/api/messages and …/messages-streaming
const (
	messagesPath    = "/v1/messages"
	countTokensPath = "/v1/messages/count_tokens"
)

// messages is the body of a request.
type messages struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name        string `json:"name"`
		InputSchema schema `json:"input_schema"`
	} `json:"tools"`
	Metadata struct {
		UserID string `json:"user_id"`
	} `json:"metadata"`
	OutputConfig struct {
		Format *outputFormat `json:"format"`
	} `json:"output_config"`
	OutputFormat *outputFormat `json:"output_format"`
}

type outputFormat struct {
	Type   string `json:"type"`
	Schema schema `json:"schema"`
}

// block is a content block, of a request or of an answer.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	Thinking  string          `json:"thinking,omitempty"`
	Signature string          `json:"signature,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   json.RawMessage `json:"content,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
}

func readMessages(req Request) (messages, bool) {
	if req.Method != http.MethodPost || (req.Path != messagesPath && req.Path != countTokensPath) {
		return messages{}, false
	}
	var m messages
	return m, json.Unmarshal(req.Body, &m) == nil
}

func (m messages) describe(req *Request) {
	req.Prompt, _ = pending(m.history())
	req.Session = sessionOf(m.Metadata.UserID)
	for _, tool := range m.Tools {
		req.Tools = append(req.Tools, tool.Name)
	}
}

// sessionOf finds the session in a user id, which is "user_…_session_<id>" up
// to 2.0 and a JSON object in a string in 2.1.
func sessionOf(user string) string {
	var object struct {
		SessionID string `json:"session_id"`
	}
	if json.Unmarshal([]byte(user), &object) == nil {
		return object.SessionID
	}
	_, id, _ := strings.Cut(user, "_session_")
	return id
}

func (m messages) history() []Message {
	var all []Message
	for _, message := range m.Messages {
		one := Message{Role: message.Role}
		var text []string
		for _, b := range blocks(message.Content) {
			switch b.Type {
			case "text":
				text = append(text, b.Text)
			case "tool_use":
				one.Calls = append(one.Calls, Call{ID: b.ID, Name: b.Name, Input: compact(b.Input)})
			case "tool_result":
				said, reminders := strip(textOf(b.Content))
				one.Results = append(one.Results, Result{ID: b.ToolUseID, Text: said, Error: b.IsError})
				one.Reminders = append(one.Reminders, reminders...)
			}
		}
		if message.Role == "system" {
			one.Reminders = text
		} else {
			var reminders []string
			one.Text, reminders = strip(strings.Join(text, "\n"))
			one.Reminders = append(one.Reminders, reminders...)
		}
		all = append(all, one)
	}
	return join(all)
}

// blocks reads content, which is a string or a list of blocks.
func blocks(content json.RawMessage) []block {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []block{{Type: "text", Text: text}}
	}
	var list []block
	if json.Unmarshal(content, &list) != nil {
		return nil
	}
	return list
}

func textOf(content json.RawMessage) string {
	var text []string
	for _, b := range blocks(content) {
		if b.Type == "text" {
			text = append(text, b.Text)
		}
	}
	return strings.Join(text, "\n")
}

func (m messages) refuse(w http.ResponseWriter, step Step) {
	writeJSON(w, step.Fail, map[string]any{
		"type":  "error",
		"error": map[string]any{"type": errorType(step.Fail), "message": step.Error},
	})
}

func (m messages) write(w http.ResponseWriter, step Step) {
	answer := newAnswer(m, step)
	if !m.Stream {
		writeJSON(w, http.StatusOK, answer)
		return
	}
	answer.stream(w)
}

// step is what to answer. A request that offers no tools is for a title, a
// summary or a quota: it quotes prompts, but their scripts are not for it.
func (m messages) step() Step {
	for _, format := range []*outputFormat{m.OutputConfig.Format, m.OutputFormat} {
		if format != nil {
			object, err := json.Marshal(format.Schema.harmless())
			if err != nil {
				return wrong(err)
			}
			return Step{Text: string(object)}
		}
	}
	if len(m.Tools) == 0 {
		return Step{Text: "ok"}
	}
	var tools []tool
	for _, offered := range m.Tools {
		tools = append(tools, tool{Name: offered.Name, Schema: offered.InputSchema})
	}
	return scriptedStep(m.history(), tools, "toolu_")
}

func errorType(status int) string {
	switch {
	case status == http.StatusTooManyRequests:
		return "rate_limit_error"
	case status == 529:
		return "overloaded_error"
	case status >= 500:
		return "api_error"
	default:
		return "invalid_request_error"
	}
}
