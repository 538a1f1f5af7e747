package standin

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// The Responses API, as Codex 0.169.0 speaks it (wire_api = "responses").
// https://platform.openai.com/docs/api-reference/responses and …/responses-streaming
const responsesPath = "/responses" // below whatever base the client is given

// responses is the body of a request.
type responses struct {
	Model  string         `json:"model"`
	Stream bool           `json:"stream"`
	Input  []responseItem `json:"input"`
	Tools  []struct {
		Type       string `json:"type"`
		Name       string `json:"name"`
		Parameters schema `json:"parameters"`
	} `json:"tools"`
	CacheKey string `json:"prompt_cache_key"` // Codex: the conversation's id
}

// responseItem is an item of a conversation, of a request or of an answer.
type responseItem struct {
	Type      string          `json:"type"`
	ID        string          `json:"id,omitempty"`
	Status    string          `json:"status,omitempty"`
	Role      string          `json:"role,omitempty"`
	Content   json.RawMessage `json:"content,omitempty"`
	Name      string          `json:"name,omitempty"`
	Namespace string          `json:"namespace,omitempty"` // of the tool
	Arguments string          `json:"arguments,omitempty"` // JSON in a string
	Input     string          `json:"input,omitempty"`     // of a custom tool: no JSON
	CallID    string          `json:"call_id,omitempty"`
	Output    json.RawMessage `json:"output,omitempty"`
	Summary   []any           `json:"summary,omitempty"`
	Recipient string          `json:"recipient,omitempty"` // of a message between agents
	Encrypted string          `json:"encrypted_content,omitempty"`
}

func readResponses(req Request) (responses, bool) {
	if req.Method != http.MethodPost || !strings.HasSuffix(req.Path, responsesPath) {
		return responses{}, false
	}
	var r responses
	return r, json.Unmarshal(req.Body, &r) == nil
}

func (r responses) describe(req *Request) {
	req.Prompt, _ = pending(r.history())
	req.Session = r.CacheKey
	for _, tool := range r.Tools {
		req.Tools = append(req.Tools, tool.Name)
	}
}

func (r responses) history() []Message {
	var all []Message
	for _, item := range r.Input {
		switch item.Type {
		case "message":
			one := Message{Role: item.Role}
			text := partsText(item.Content)
			if item.Role == "user" || item.Role == "assistant" {
				one.Text = strings.TrimSpace(text)
			}
			if one.Text == "" || item.Role == "user" && clientsOwn(one.Text) {
				one.Text, one.Reminders = "", []string{text}
			}
			all = append(all, one)
		case "agent_message":
			all = append(all, item.fromAgent())
		case "function_call":
			all = append(all, Message{Role: "assistant", Calls: []Call{{ID: item.CallID, Name: item.tool(), Input: compact(json.RawMessage(item.Arguments))}}})
		case "custom_tool_call":
			input, _ := json.Marshal(item.Input) // a string always marshals
			all = append(all, Message{Role: "assistant", Calls: []Call{{ID: item.CallID, Name: item.Name, Input: input}}})
		case "function_call_output", "custom_tool_call_output":
			all = append(all, Message{Role: "user", Results: []Result{{ID: item.CallID, Text: partsText(item.Output)}}})
		}
	}
	return join(all)
}

// rootAgent is how Codex calls the agent that its user talks to.
const rootAgent = "/root"

// fromAgent is a message of another agent: to a subagent a prompt, whose words
// the API alone could read; to the user's agent one more reminder.
func (i responseItem) fromAgent() Message {
	var parts []struct {
		Encrypted string `json:"encrypted_content"`
	}
	_ = json.Unmarshal(i.Content, &parts) // what is no list holds nothing
	m := Message{Role: "user"}
	for _, part := range parts {
		m.Text += part.Encrypted
	}
	if i.Recipient == rootAgent || m.Text == "" {
		return Message{Role: "user", Reminders: []string{partsText(i.Content) + m.Text}}
	}
	return m
}

// tool is the name of a called tool, after that of its namespace if it has one:
// collaboration.spawn_agent.
func (i responseItem) tool() string {
	if i.Namespace == "" {
		return i.Name
	}
	return i.Namespace + "." + i.Name
}

// clientsOwn reports what Codex says to the model in the user's name.
func clientsOwn(text string) bool {
	for _, mark := range []string{"<environment_context>", "<turn_aborted>", "<user_instructions>", "# AGENTS.md instructions"} {
		if strings.HasPrefix(text, mark) {
			return true
		}
	}
	return false
}

// partsText joins the text of content, which is a string or a list of parts.
func partsText(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &parts) != nil {
		return ""
	}
	var all []string
	for _, part := range parts {
		if part.Text != "" {
			all = append(all, part.Text)
		}
	}
	return strings.Join(all, "\n")
}

// step is what to answer. A request without tools is for a title or a summary.
func (r responses) step() Step {
	if len(r.Tools) == 0 {
		return Step{Text: "ok"}
	}
	var tools []tool
	for _, offered := range r.Tools {
		tools = append(tools, tool{Name: offered.Name, Schema: offered.Parameters})
	}
	return scriptedStep(r.history(), tools, "call_")
}

func (r responses) refuse(w http.ResponseWriter, step Step) {
	writeJSON(w, step.Fail, map[string]any{"error": map[string]any{"type": errorType(step.Fail), "message": step.Error}})
}

func (r responses) write(w http.ResponseWriter, step Step) {
	id := "resp_" + rand.Text()
	items := r.items(step)
	done := map[string]any{
		"id": id, "object": "response", "status": "completed", "model": r.Model, "output": items,
		"usage": map[string]any{
			"input_tokens": 10, "input_tokens_details": map[string]any{"cached_tokens": 0},
			"output_tokens": 5, "output_tokens_details": map[string]any{"reasoning_tokens": 0}, "total_tokens": 15,
		},
	}
	if !r.Stream {
		writeJSON(w, http.StatusOK, done)
		return
	}
	events := []map[string]any{{"type": "response.created", "response": map[string]any{"id": id, "status": "in_progress"}}}
	for i, item := range items {
		events = append(events,
			map[string]any{"type": "response.output_item.added", "output_index": i, "item": item},
			map[string]any{"type": "response.output_item.done", "output_index": i, "item": item})
	}
	events = append(events, map[string]any{"type": "response.completed", "response": done})
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	var out bytes.Buffer
	for _, event := range events {
		line, _ := json.Marshal(event) // it always marshals
		fmt.Fprintf(&out, "event: %s\ndata: %s\n\n", event["type"], line)
	}
	_, _ = w.Write(out.Bytes()) // a client that has gone is its own affair
}

// items are a step's: a thought, text, calls. A call whose input is a string is
// one of a custom tool, which takes text instead of JSON.
func (r responses) items(step Step) []responseItem {
	var items []responseItem
	if step.Thinking != "" {
		items = append(items, responseItem{
			Type: "reasoning", ID: "rs_" + rand.Text(), Encrypted: "signed " + rand.Text(),
			Summary: []any{map[string]any{"type": "summary_text", "text": step.Thinking}},
		})
	}
	if step.Text != "" || len(step.Calls) == 0 {
		content, _ := json.Marshal([]any{map[string]any{"type": "output_text", "text": step.Text, "annotations": []any{}}})
		items = append(items, responseItem{Type: "message", ID: "msg_" + rand.Text(), Status: "completed", Role: "assistant", Content: content})
	}
	for _, call := range step.Calls {
		item := responseItem{Type: "function_call", ID: "fc_" + rand.Text(), Status: "completed", Name: call.Name, Arguments: string(call.Input), CallID: call.ID}
		if json.Unmarshal(call.Input, &item.Input) == nil {
			item.Type, item.Arguments = "custom_tool_call", ""
		}
		if namespace, name, ok := strings.Cut(call.Name, "."); ok {
			item.Namespace, item.Name = namespace, name
		}
		items = append(items, item)
	}
	return items
}
