package standin

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/scripts/patience"
)

const offered = `[{"name":"Write","input_schema":{"type":"object","properties":{"file_path":{"type":"string"},"content":{"type":"string"}},"required":["file_path","content"]}},
{"name":"Bash","input_schema":{"type":"object","properties":{"command":{"type":"string"},"description":{"type":"string"},"n":{"type":"integer"}},"required":["command","description","n"]}}]`

// ask sends a conversation of messages, given as JSON, and returns the answer.
func ask(t *testing.T, s *Server, tools, messages string) answer {
	t.Helper()
	code, text := post(t, s, "/v1/messages?beta=true", fmt.Sprintf(
		`{"model":"m","tools":%s,"messages":%s,"metadata":{"user_id":"user_1_account__session_abc"}}`, tools, messages))
	var a answer
	if err := json.Unmarshal([]byte(text), &a); err != nil || code != http.StatusOK {
		t.Fatalf("answer %d %q: %v", code, text, err)
	}
	return a
}

func post(t *testing.T, s *Server, path, body string) (int, string) {
	t.Helper()
	resp, err := http.Post(s.URL+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func said(text string) string {
	data, _ := json.Marshal(text)
	return string(data)
}

func TestMessagesFollowTheScript(t *testing.T) {
	s := New(t)
	prompt := `{"role":"user","content":[{"type":"text","text":"<system-reminder>\nbe nice\n</system-reminder>"},{"type":"text","text":` +
		said(`[[write path=ä.txt content="<ö>"]] [[bash cmd=ls]] [[say finished]]`) + `}]}`

	first := ask(t, s, offered, "["+prompt+"]")
	if *first.StopReason != "tool_use" || len(first.Content) != 1 || first.Content[0].Name != "Write" {
		t.Fatalf("first answer %+v", first)
	}
	if got := string(compact(first.Content[0].Input)); got != `{"content":"<ö>","file_path":"ä.txt"}` {
		t.Errorf("input %s", got)
	}
	result := func(a answer) string {
		content, _ := json.Marshal(a.Content)
		return fmt.Sprintf(`,{"role":"assistant","content":%s},{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"well\n<system-reminder>x</system-reminder>"}]}`, content, a.Content[0].ID)
	}
	so := prompt + result(first)
	second := ask(t, s, offered, "["+so+"]")
	if got := string(compact(second.Content[0].Input)); got != `{"command":"ls","description":"stand-in","n":1}` {
		t.Errorf("input %s", got)
	}
	so += result(second)
	third := ask(t, s, offered, "["+so+"]")
	if *third.StopReason != "end_turn" || third.Content[0].Text != "finished" {
		t.Errorf("third answer %+v", third)
	}

	req, ok := s.Last(Prompted("finished"))
	if !ok || req.Session != "abc" || !slices.Equal(req.Tools, []string{"Write", "Bash"}) {
		t.Fatalf("Last = %+v, %v", req, ok)
	}
	history := History(req)
	want := []string{
		`user: [[write path=ä.txt content="<ö>"]] [[bash cmd=ls]] [[say finished]]`,
		`call Write {"content":"<ö>","file_path":"ä.txt"}`, "result: well",
		`call Bash {"command":"ls","description":"stand-in","n":1}`, "result: well",
	}
	if got := Lines(history); !slices.Equal(got, want) {
		t.Errorf("Lines = %q, want %q", got, want)
	}
	if got := history[0].Reminders; !slices.Equal(got, []string{"be nice"}) {
		t.Errorf("Reminders = %q", got)
	}
}

func TestStreamSaysTheSame(t *testing.T) {
	s := New(t)
	body := fmt.Sprintf(`{"model":"m","stream":true,"tools":%s,"messages":[{"role":"user","content":%s}]}`, offered,
		said(`[[think hm]] [[say here]] [[write path=äöü.txt content="1"]]`))
	code, text := post(t, s, messagesPath, body)
	if code != http.StatusOK {
		t.Fatalf("status %d: %s", code, text)
	}
	var events []string
	var thinking, said, input string
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type  string
			Delta struct {
				Type, Text, Thinking, Signature string
				PartialJSON                     string `json:"partial_json"`
				StopReason                      string `json:"stop_reason"`
			}
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatal(err)
		}
		events = append(events, e.Type)
		thinking += e.Delta.Thinking
		said += e.Delta.Text
		input += e.Delta.PartialJSON
		if e.Type == "message_delta" && e.Delta.StopReason != "tool_use" {
			t.Errorf("stop reason %q", e.Delta.StopReason)
		}
	}
	if thinking != "hm" || said != "here" || input != `{"content":"1","file_path":"äöü.txt"}` {
		t.Errorf("streamed %q, %q, %q", thinking, said, input)
	}
	if events[0] != "message_start" || events[len(events)-1] != "message_stop" {
		t.Errorf("events %q", events)
	}
}

// TestUnexpected: whatever a client asks, it is answered and logged.
func TestUnexpected(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log.jsonl")
	s, err := Start(Options{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	const quoting = `[{"role":"user","content":"[[bash cmd=ls]]"}]`
	title := ask(t, s, `[]`, quoting)
	if title.Content[0].Text != "ok" {
		t.Errorf("a request without tools was answered %+v", title)
	}
	for body, want := range map[string]string{
		`{"messages":` + quoting + `,"output_config":{"format":{"type":"json_schema","schema":{"type":"object","properties":{"title":{"type":"string"},"new":{"type":"boolean"}},"required":["title","new"]}}}}`: `{\"new\":false,\"title\":\"stand-in\"}`,
		`{"tools":[{"name":"Other"}],"messages":` + quoting + `}`:                               "stand-in: the client offers no tool to bash",
		`{"tools":[{"name":"Other"}],"messages":[{"role":"user","content":"[[jump]]"}]}`:        "stand-in: [[jump]]: unknown directive",
		`{"tools":[{"name":"Other"}],"messages":[{"role":"user","content":"Warmup"}]}`:          `"ok"`,
		`{"tools":[{"name":"Other"}],"messages":[{"role":"user","content":"[[fail 529 so]]"}]}`: "overloaded_error",
		`{}`:      `"ok"`,
		`no JSON`: "{}",
	} {
		if _, got := post(t, s, messagesPath, body); !strings.Contains(got, want) {
			t.Errorf("%s was answered %s, want %s", body, got, want)
		}
	}
	if _, got := post(t, s, countTokensPath, `{"messages":[]}`); got != `{"input_tokens":4}` {
		t.Errorf("count_tokens: %s", got)
	}
	resp, err := http.Head(s.URL + "/")
	if err != nil || resp.StatusCode != http.StatusOK || resp.Body.Close() != nil {
		t.Errorf("HEAD /: %v, %v", resp, err)
	}
	logged := s.Requests()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(log)
	if err != nil || strings.Count(string(data), "\n") != len(logged) || len(logged) != 10 {
		t.Errorf("%d requests, log %q, %v", len(logged), data, err)
	}
}

func TestWaitAndRelease(t *testing.T) {
	s := New(t)
	ctx, cancel := context.WithTimeout(context.Background(), patience.Of(time.Minute))
	defer cancel()
	answered := make(chan string, 1)
	go func() {
		resp, err := http.Post(s.URL+messagesPath, "application/json",
			strings.NewReader(`{"tools":[{"name":"Other"}],"messages":[{"role":"user","content":"[[wait gate]] [[say late]]"}]}`))
		if err != nil {
			answered <- err.Error()
			return
		}
		text, err := io.ReadAll(resp.Body)
		answered <- fmt.Sprint(string(text), err, resp.Body.Close())
	}()
	if _, err := s.Wait(ctx, Prompted("gate")); err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-answered:
		t.Fatalf("answered before its release: %s", got)
	default:
	}
	s.Release("gate")
	s.Release("gate")
	select {
	case got := <-answered:
		if !strings.Contains(got, "late") {
			t.Errorf("answered %s", got)
		}
	case <-ctx.Done():
		t.Fatal("not answered after its release")
	}
	over, stop := context.WithCancel(ctx)
	stop()
	if _, err := s.Wait(over, Prompted("nobody says this")); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait = %v", err)
	}
}
