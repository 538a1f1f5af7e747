package standin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

const offeredExec = `[{"type":"function","name":"exec_command","parameters":{"type":"object","properties":{"cmd":{"type":"string"}},"required":["cmd"]}},{"type":"custom","name":"apply_patch"}]`

// askResponses sends a conversation, given as JSON, to the path below any base.
func askResponses(t *testing.T, s *Server, tools, input string) []responseItem {
	t.Helper()
	code, text := post(t, s, "/v1"+responsesPath, fmt.Sprintf(`{"model":"m","prompt_cache_key":"thread-1","tools":%s,"input":%s}`, tools, input))
	var body struct {
		Output []responseItem `json:"output"`
	}
	if err := json.Unmarshal([]byte(text), &body); err != nil || code != http.StatusOK || len(body.Output) == 0 {
		t.Fatalf("answer %d %q: %v", code, text, err)
	}
	return body.Output
}

func TestResponsesFollowTheScript(t *testing.T) {
	s := New(t)
	prompt := `{"type":"message","role":"developer","content":[{"type":"input_text","text":"be nice"}]},
		{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n</environment_context>"}]},
		{"type":"message","role":"user","content":[{"type":"input_text","text":` + said(`[[say first]] [[bash cmd="echo ä"]] [[tool name=apply_patch input="\"*** Begin Patch\""]] [[say finished]]`) + `}]}`
	first := askResponses(t, s, offeredExec, "["+prompt+"]")
	if len(first) != 2 || partsText(first[0].Content) != "first" || first[1].Name != "exec_command" || first[1].Arguments != `{"cmd":"echo ä"}` {
		t.Fatalf("first answer %+v", first)
	}
	history := prompt
	for _, item := range first {
		b, _ := json.Marshal(item)
		history += "," + string(b)
	}
	history += fmt.Sprintf(`,{"type":"function_call_output","call_id":%q,"output":"well"}`, first[1].CallID)
	second := askResponses(t, s, offeredExec, "["+history+"]")
	if len(second) != 1 || second[0].Type != "custom_tool_call" || second[0].Input != "*** Begin Patch" {
		t.Fatalf("second answer %+v", second)
	}
	b, _ := json.Marshal(second[0])
	history += fmt.Sprintf(`,%s,{"type":"custom_tool_call_output","call_id":%q,"output":[{"type":"input_text","text":"patched"}]}`, b, second[0].CallID)
	third := askResponses(t, s, offeredExec, "["+history+"]")
	if len(third) != 1 || partsText(third[0].Content) != "finished" {
		t.Fatalf("third answer %+v", third)
	}
	req, ok := s.Last(Prompted("finished"))
	if !ok || req.Session != "thread-1" || !slices.Equal(req.Tools, []string{"exec_command", "apply_patch"}) {
		t.Fatalf("Last = %+v, %v", req, ok)
	}
	want := []string{
		`user: [[say first]] [[bash cmd="echo ä"]] [[tool name=apply_patch input="\"*** Begin Patch\""]] [[say finished]]`,
		"assistant: first", `call exec_command {"cmd":"echo ä"}`, "result: well", `call apply_patch "*** Begin Patch"`, "result: patched",
	}
	if got := Lines(History(req)); !slices.Equal(got, want) {
		t.Errorf("Lines = %q, want %q", got, want)
	}
	if got := History(req)[0].Reminders; len(got) != 2 || got[0] != "be nice" {
		t.Errorf("reminders %q", got)
	}
	if title := askResponses(t, s, `[]`, "["+prompt+"]"); partsText(title[0].Content) != "ok" {
		t.Errorf("a request without tools was answered %+v", title)
	}
}

// TestResponsesBetweenAgents: what a subagent is told is its prompt, what it
// reports is none of the user's agent, and a tool may be one of a namespace.
func TestResponsesBetweenAgents(t *testing.T) {
	s := New(t)
	agents := func(recipient, text string) string {
		return fmt.Sprintf(`{"type":"agent_message","author":"/a","recipient":%q,"content":[{"type":"input_text","text":"Payload:"},{"type":"encrypted_content","encrypted_content":%s}]}`, recipient, said(text))
	}
	first := askResponses(t, s, offeredExec, "["+agents("/root/helper", "[[say helped]]")+"]")
	if partsText(first[0].Content) != "helped" {
		t.Errorf("a subagent says %+v", first)
	}
	prompt := `{"type":"message","role":"user","content":[{"type":"input_text","text":` + said(`[[tool name=team.ask input={}]] [[say well]]`) + `}]}`
	call := askResponses(t, s, offeredExec, "["+prompt+"]")
	if len(call) != 1 || call[0].Namespace != "team" || call[0].Name != "ask" {
		t.Fatalf("a call of a namespace's tool is %+v", call)
	}
	b, _ := json.Marshal(call[0])
	history := fmt.Sprintf(`%s,%s,{"type":"function_call_output","call_id":%q,"output":"asked"},%s`, prompt, b, call[0].CallID, agents("/root", "[[say wrong]]"))
	last := askResponses(t, s, offeredExec, "["+history+"]")
	if partsText(last[0].Content) != "well" {
		t.Errorf("after a report the agent says %+v", last)
	}
	req, _ := s.Last(Prompted("well"))
	if got, want := Lines(History(req))[1:], []string{"call team.ask {}", "result: asked"}; !slices.Equal(got, want) {
		t.Errorf("Lines = %q, want %q", got, want)
	}
}

func TestResponsesStream(t *testing.T) {
	s := New(t)
	stream := func(prompt string) (int, string) {
		return post(t, s, "/v1"+responsesPath, fmt.Sprintf(`{"model":"m","stream":true,"tools":%s,"input":[{"type":"message","role":"user","content":%s}]}`, offeredExec, said(prompt)))
	}
	code, text := stream(`[[think hm]] [[say here]] [[bash cmd=true]]`)
	if code != http.StatusOK || !strings.HasPrefix(text, "event: response.created\n") || !strings.Contains(text, "\nevent: response.completed\n") {
		t.Fatalf("%d %s", code, text)
	}
	for _, want := range []string{`"encrypted_content":"signed `, `"text":"hm"`, `"text":"here"`, `"type":"function_call"`, `"total_tokens":15`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if code, text := stream("[[fail 429 slow down]]"); code != http.StatusTooManyRequests || !strings.Contains(text, "slow down") {
		t.Errorf("a failure is answered %d %s", code, text)
	}
}
