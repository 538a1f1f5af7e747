package standin

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// The Chat Completions API, as OpenCode 1.18.33 speaks it with its provider
// @ai-sdk/openai-compatible.
// https://platform.openai.com/docs/api-reference/chat and …/chat-streaming
const chatPath = "/chat/completions" // below whatever base the client is given

// chat is the body of a request.
type chat struct {
	Model    string        `json:"model"`
	Stream   bool          `json:"stream"`
	Messages []chatMessage `json:"messages"`
	Tools    []struct {
		Function struct {
			Name       string `json:"name"`
			Parameters schema `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
}

type chatMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"` // a string, a list of parts, or null
	ToolCalls  []chatCall      `json:"tool_calls,omitempty"`
	ToolCallID string          `json:"tool_call_id,omitempty"`
}

type chatCall struct {
	Index    int          `json:"index"`
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // JSON in a string
}

func readChat(req Request) (chat, bool) {
	if req.Method != http.MethodPost || !strings.HasSuffix(req.Path, chatPath) {
		return chat{}, false
	}
	var c chat
	return c, json.Unmarshal(req.Body, &c) == nil
}

func (c chat) describe(req *Request) {
	req.Prompt, _ = pending(c.history())
	for _, tool := range c.Tools {
		req.Tools = append(req.Tools, tool.Function.Name)
	}
}

func (c chat) history() []Message {
	var all []Message
	for _, m := range c.Messages {
		one := Message{Role: m.Role}
		switch m.Role {
		case "system", "developer":
			one.Reminders = []string{textOf(m.Content)}
		case "tool":
			one.Results = []Result{{ID: m.ToolCallID, Text: textOf(m.Content)}}
		default:
			one.Text, one.Reminders = strip(textOf(m.Content))
		}
		for _, call := range m.ToolCalls {
			one.Calls = append(one.Calls, Call{ID: call.ID, Name: call.Function.Name, Input: compact(json.RawMessage(call.Function.Arguments))})
		}
		all = append(all, one)
	}
	return join(all)
}

// step is what to answer. A request without tools is for a title or a summary.
func (c chat) step() Step {
	if len(c.Tools) == 0 {
		return Step{Text: "ok"}
	}
	var tools []tool
	for _, offered := range c.Tools {
		tools = append(tools, tool{Name: offered.Function.Name, Schema: offered.Function.Parameters})
	}
	return scriptedStep(c.history(), tools, "call_")
}

func (c chat) refuse(w http.ResponseWriter, step Step) {
	writeJSON(w, step.Fail, map[string]any{"error": map[string]any{"type": errorType(step.Fail), "message": step.Error}})
}

func (c chat) write(w http.ResponseWriter, step Step) {
	said := map[string]any{"role": "assistant", "content": step.Text}
	if step.Thinking != "" {
		said["reasoning_content"] = step.Thinking
	}
	finish := "stop"
	if len(step.Calls) > 0 {
		said["tool_calls"], finish = chatCalls(step.Calls), "tool_calls"
	}
	if !c.Stream {
		writeJSON(w, http.StatusOK, c.body("chat.completion", "message", said, finish))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	var out bytes.Buffer
	for _, chunk := range []map[string]any{
		c.body("chat.completion.chunk", "delta", said, ""),
		c.body("chat.completion.chunk", "delta", map[string]any{}, finish),
	} {
		line, _ := json.Marshal(chunk) // it always marshals
		fmt.Fprintf(&out, "data: %s\n\n", line)
	}
	out.WriteString("data: [DONE]\n\n")
	_, _ = w.Write(out.Bytes()) // a client that has gone is its own affair
}

func chatCalls(calls []Call) []chatCall {
	var list []chatCall
	for i, call := range calls {
		list = append(list, chatCall{Index: i, ID: call.ID, Type: "function", Function: chatFunction{Name: call.Name, Arguments: string(call.Input)}})
	}
	return list
}

// body is an answer, or a chunk of one; only a finished one tells its usage.
func (c chat) body(object, field string, said map[string]any, finish string) map[string]any {
	choice := map[string]any{"index": 0, field: said, "finish_reason": nil}
	body := map[string]any{
		"id": "chatcmpl-" + rand.Text(), "object": object, "created": 1, "model": c.Model, "choices": []any{choice},
	}
	if finish != "" {
		choice["finish_reason"] = finish
		body["usage"] = map[string]any{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
	}
	return body
}
