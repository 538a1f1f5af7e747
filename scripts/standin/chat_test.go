package standin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

const offeredFunctions = `[{"type":"function","function":{"name":"write","parameters":{"type":"object","properties":{"filePath":{"type":"string"},"content":{"type":"string"}},"required":["filePath","content"]}}}]`

// askChat sends a conversation, given as JSON, to the path below any base.
func askChat(t *testing.T, s *Server, tools, messages string) (said chatMessage, finish string) {
	t.Helper()
	code, text := post(t, s, "/v1"+chatPath, fmt.Sprintf(`{"model":"m","tools":%s,"messages":%s}`, tools, messages))
	var body struct {
		Choices []struct {
			Message      chatMessage `json:"message"`
			FinishReason string      `json:"finish_reason"`
		} `json:"choices"`
	}
	if err := json.Unmarshal([]byte(text), &body); err != nil || code != http.StatusOK || len(body.Choices) != 1 {
		t.Fatalf("answer %d %q: %v", code, text, err)
	}
	return body.Choices[0].Message, body.Choices[0].FinishReason
}

func TestChatFollowsTheScript(t *testing.T) {
	s := New(t)
	prompt := `{"role":"system","content":"be nice"},{"role":"user","content":[{"type":"text","text":` + said(`[[say first]] [[write path=ä.txt content="<ö>"]] [[say finished]]`) + `}]}`
	first, finish := askChat(t, s, offeredFunctions, "["+prompt+"]")
	if finish != "tool_calls" || len(first.ToolCalls) != 1 || textOf(first.Content) != "first" {
		t.Fatalf("first answer %+v, %s", first, finish)
	}
	call := first.ToolCalls[0]
	if call.Function.Name != "write" || call.Function.Arguments != `{"content":"\u003cö\u003e","filePath":"ä.txt"}` {
		t.Errorf("called %+v", call.Function)
	}
	answered, _ := json.Marshal(first)
	second, finish := askChat(t, s, offeredFunctions, fmt.Sprintf(`[%s,%s,{"role":"tool","tool_call_id":%q,"content":"well"}]`, prompt, answered, call.ID))
	if finish != "stop" || textOf(second.Content) != "finished" {
		t.Errorf("second answer %+v, %s", second, finish)
	}
	req, ok := s.Last(Prompted("finished"))
	if !ok || !slices.Equal(req.Tools, []string{"write"}) {
		t.Fatalf("Last = %+v, %v", req, ok)
	}
	want := []string{
		`user: [[say first]] [[write path=ä.txt content="<ö>"]] [[say finished]]`,
		"assistant: first", `call write {"content":"<ö>","filePath":"ä.txt"}`, "result: well",
	}
	if got := Lines(History(req)); !slices.Equal(got, want) {
		t.Errorf("Lines = %q, want %q", got, want)
	}
	if title, _ := askChat(t, s, `[]`, "["+prompt+"]"); textOf(title.Content) != "ok" {
		t.Errorf("a request without tools was answered %+v", title)
	}
}

func TestChatStreams(t *testing.T) {
	s := New(t)
	stream := func(prompt string) (int, string) {
		return post(t, s, "/v1"+chatPath, fmt.Sprintf(`{"model":"m","stream":true,"tools":%s,"messages":[{"role":"user","content":%s}]}`, offeredFunctions, said(prompt)))
	}
	code, text := stream(`[[think hm]] [[say here]] [[write path=a.txt content="1"]]`)
	if code != http.StatusOK || !strings.HasSuffix(text, "data: [DONE]\n\n") {
		t.Fatalf("%d %s", code, text)
	}
	for _, want := range []string{`"reasoning_content":"hm"`, `"content":"here"`, `"name":"write"`, `"finish_reason":"tool_calls"`, `"total_tokens":15`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if code, text := stream("[[fail 429 slow down]]"); code != http.StatusTooManyRequests || !strings.Contains(text, "slow down") {
		t.Errorf("a failure is answered %d %s", code, text)
	}
}
