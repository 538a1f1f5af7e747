package standin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// The Gemini API, as Gemini CLI 0.61.0 speaks it.
// https://ai.google.dev/api/generate-content
const (
	generateSuffix = ":generateContent" // behind the model's name
	streamSuffix   = ":streamGenerateContent"
)

// generate is the body of a request.
type generate struct {
	Contents []content `json:"contents"`
	Tools    []struct {
		Functions []struct {
			Name       string  `json:"name"`
			JSONSchema *schema `json:"parametersJsonSchema"`
			Parameters schema  `json:"parameters"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
	Config struct {
		JSONSchema *schema `json:"responseJsonSchema"`
		Schema     *schema `json:"responseSchema"`
	} `json:"generationConfig"`

	stream bool // as server-sent events
	size   int  // of the request, in bytes
}

// content is one message.
type content struct {
	Role  string `json:"role"` // "user" or "model"
	Parts []part `json:"parts"`
}

type part struct {
	Text      string            `json:"text,omitempty"`
	Thought   bool              `json:"thought,omitempty"`
	Signature string            `json:"thoughtSignature,omitempty"`
	Call      *functionCall     `json:"functionCall,omitempty"`
	Response  *functionResponse `json:"functionResponse,omitempty"`
}

type functionCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type functionResponse struct {
	ID       string `json:"id"`
	Response struct {
		Output string `json:"output"`
		Error  string `json:"error"`
	} `json:"response"`
}

func readGenerate(req Request) (generate, bool) {
	g := generate{stream: strings.HasSuffix(req.Path, streamSuffix), size: len(req.Body)}
	if req.Method != http.MethodPost || !g.stream && !strings.HasSuffix(req.Path, generateSuffix) {
		return g, false
	}
	return g, json.Unmarshal(req.Body, &g) == nil
}

func (g generate) describe(req *Request) {
	req.Prompt, _ = pending(g.history())
	for _, t := range g.tools() {
		req.Tools = append(req.Tools, t.Name)
	}
}

func (g generate) tools() []tool {
	var all []tool
	for _, set := range g.Tools {
		for _, f := range set.Functions {
			t := tool{Name: f.Name, Schema: f.Parameters}
			if f.JSONSchema != nil {
				t.Schema = *f.JSONSchema
			}
			all = append(all, t)
		}
	}
	return all
}

// wrapped is what Gemini CLI wraps its own words, and those of hooks, in.
var wrapped = regexp.MustCompile(`(?s)<(session_context|hook_context)>\s*(.*?)\s*</(?:session_context|hook_context)>\n?`)

func unwrap(text string) (rest string, reminders []string) {
	for _, match := range wrapped.FindAllStringSubmatch(text, -1) {
		reminders = append(reminders, match[2])
	}
	return strings.TrimSpace(wrapped.ReplaceAllString(text, "")), reminders
}

func (g generate) history() []Message {
	var all []Message
	for _, c := range g.Contents {
		one := Message{Role: c.Role}
		if c.Role == "model" {
			one.Role = "assistant"
		}
		var text []string
		for _, p := range c.Parts {
			switch {
			case p.Call != nil:
				one.Calls = append(one.Calls, Call{ID: p.Call.ID, Name: p.Call.Name, Input: compact(p.Call.Args)})
			case p.Response != nil:
				r := p.Response.Response
				if p.Response.ID != "" && slices.ContainsFunc(one.Results, func(r Result) bool { return r.ID == p.Response.ID }) {
					continue // the client repeats results once it has resumed
				}
				one.Results = append(one.Results, Result{ID: p.Response.ID, Text: r.Output + r.Error, Error: r.Error != ""})
			case p.Text != "" && !p.Thought:
				text = append(text, p.Text)
			}
		}
		one.Text, one.Reminders = unwrap(strings.Join(text, "\n"))
		all = append(all, one)
	}
	return join(all)
}

// step is what to answer. A request that asks for an object of some schema, or
// offers no tools, is the client's own: to choose a model, to sum up, to ask
// whose turn it is.
func (g generate) step() Step {
	for _, s := range []*schema{g.Config.JSONSchema, g.Config.Schema} {
		if s != nil {
			object, err := json.Marshal(s.harmless())
			if err != nil {
				return wrong(err)
			}
			return Step{Text: string(object)}
		}
	}
	tools := g.tools()
	if len(tools) == 0 {
		return Step{Text: "ok"}
	}
	return scriptedStep(g.history(), tools, "call_")
}

func (g generate) refuse(w http.ResponseWriter, step Step) {
	writeJSON(w, step.Fail, map[string]any{
		"error": map[string]any{"code": step.Fail, "message": step.Error, "status": statusOf(step.Fail)},
	})
}

func statusOf(code int) string {
	switch {
	case code == http.StatusTooManyRequests:
		return "RESOURCE_EXHAUSTED"
	case code >= 500:
		return "INTERNAL"
	}
	return "INVALID_ARGUMENT"
}

func (g generate) write(w http.ResponseWriter, step Step) {
	said := content{Role: "model"}
	if step.Thinking != "" {
		said.Parts = append(said.Parts, part{Text: step.Thinking, Thought: true})
	}
	if step.Text != "" {
		said.Parts = append(said.Parts, part{Text: step.Text})
	}
	for i, call := range step.Calls {
		p := part{Call: &functionCall{ID: call.ID, Name: call.Name, Args: call.Input}}
		if i == 0 {
			p.Signature = "c3RhbmQtaW4=" // the service signs the first call of an answer
		}
		said.Parts = append(said.Parts, p)
	}
	asked, answered := g.size/4+1, 5 // by its size, since the client sums up only what that makes smaller
	answer := map[string]any{
		"candidates":    []any{map[string]any{"content": said, "finishReason": "STOP", "index": 0}},
		"usageMetadata": map[string]any{"promptTokenCount": asked, "candidatesTokenCount": answered, "totalTokenCount": asked + answered},
	}
	if !g.stream {
		writeJSON(w, http.StatusOK, answer)
		return
	}
	line, err := json.Marshal(answer)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprintf(w, "data: %s\n\n", line) // a client that has gone is its own affair
}
