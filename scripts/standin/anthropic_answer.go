package standin

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"unicode/utf8"
)

// answer is the body of an answer.
type answer struct {
	ID           string  `json:"id"`
	Type         string  `json:"type"`
	Role         string  `json:"role"`
	Model        string  `json:"model"`
	Content      []block `json:"content"`
	StopReason   *string `json:"stop_reason"`
	StopSequence *string `json:"stop_sequence"`
	Usage        usage   `json:"usage"`
}

type usage struct {
	InputTokens              int `json:"input_tokens"`
	CacheCreationInputTokens int `json:"cache_creation_input_tokens"`
	CacheReadInputTokens     int `json:"cache_read_input_tokens"`
	OutputTokens             int `json:"output_tokens"`
}

func newAnswer(m messages, step Step) answer {
	stop := "end_turn"
	a := answer{
		ID: "msg_" + rand.Text(), Type: "message", Role: "assistant", Model: m.Model,
		Content: []block{}, Usage: usage{InputTokens: 10, OutputTokens: 5},
	}
	if step.Thinking != "" {
		a.Content = append(a.Content, block{Type: "thinking", Thinking: step.Thinking, Signature: "c3RhbmQtaW4="})
	}
	if step.Text != "" {
		a.Content = append(a.Content, block{Type: "text", Text: step.Text})
	}
	for _, call := range step.Calls {
		stop = "tool_use"
		a.Content = append(a.Content, block{Type: "tool_use", ID: call.ID, Name: call.Name, Input: call.Input})
	}
	a.StopReason = &stop
	return a
}

// stream sends the answer as server-sent events, as the service does: each
// block opened empty, then its deltas.
func (a answer) stream(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	var out bytes.Buffer
	opened := a
	opened.Content, opened.StopReason = []block{}, nil
	send(&out, "message_start", map[string]any{"message": opened})
	send(&out, "ping", map[string]any{})
	for i, b := range a.Content {
		start, deltas := b.deltas()
		send(&out, "content_block_start", map[string]any{"index": i, "content_block": start})
		for _, delta := range deltas {
			send(&out, "content_block_delta", map[string]any{"index": i, "delta": delta})
		}
		send(&out, "content_block_stop", map[string]any{"index": i})
	}
	send(&out, "message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": a.StopReason, "stop_sequence": nil},
		"usage": a.Usage,
	})
	send(&out, "message_stop", map[string]any{})
	_, _ = w.Write(out.Bytes()) // a client that has gone is its own affair
}

// deltas parts a block into how it is opened and what then fills it.
func (b block) deltas() (start map[string]any, deltas []map[string]any) {
	switch b.Type {
	case "thinking":
		return map[string]any{"type": b.Type, "thinking": "", "signature": ""}, []map[string]any{
			{"type": "thinking_delta", "thinking": b.Thinking},
			{"type": "signature_delta", "signature": b.Signature},
		}
	case "tool_use":
		half := len(b.Input) / 2
		for half > 0 && !utf8.RuneStart(b.Input[half]) {
			half--
		}
		return map[string]any{"type": b.Type, "id": b.ID, "name": b.Name, "input": map[string]any{}}, []map[string]any{
			{"type": "input_json_delta", "partial_json": string(b.Input[:half])},
			{"type": "input_json_delta", "partial_json": string(b.Input[half:])},
		}
	default:
		return map[string]any{"type": b.Type, "text": ""}, []map[string]any{{"type": "text_delta", "text": b.Text}}
	}
}

// send writes one event. What it is given always marshals.
func send(out *bytes.Buffer, event string, data map[string]any) {
	data["type"] = event
	line, _ := json.Marshal(data)
	fmt.Fprintf(out, "event: %s\ndata: %s\n\n", event, line)
}
