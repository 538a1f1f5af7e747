package standin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

const functions = `[{"functionDeclarations":[
{"name":"write_file","parametersJsonSchema":{"type":"object","properties":{"file_path":{"type":"string"},"content":{"type":"string"}},"required":["file_path","content"]}},
{"name":"run_shell_command","parameters":{"type":"object","properties":{"command":{"type":"string"},"description":{"type":"string"}},"required":["command"]}}]}]`

// generated is an answer of the Gemini API.
type generated struct {
	Candidates []struct {
		Content content `json:"content"`
	} `json:"candidates"`
	Error struct{ Status, Message string }
}

func TestGenerateFollowsTheScript(t *testing.T) {
	s := New(t)
	ask := func(method, contents string) generated {
		t.Helper()
		body := fmt.Sprintf(`{"contents":[%s],"tools":%s}`, contents, functions)
		_, text := post(t, s, "/v1beta/models/m"+method, body)
		var g generated
		if err := json.Unmarshal([]byte(strings.TrimPrefix(text, "data: ")), &g); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		return g
	}
	prompt := `{"role":"user","parts":[{"text":"<session_context>\nin /w\n</session_context>"},{"text":` +
		said(`[[think hm]] [[write path=ä.txt content="<ö>"]] [[parallel]] [[bash cmd=ls]] [[say finished]]`) +
		`},{"text":"<hook_context>be nice</hook_context>"}]}`

	first := ask(streamSuffix+"?alt=sse", prompt).Candidates[0].Content
	if len(first.Parts) != 3 || !first.Parts[0].Thought || first.Parts[1].Call.Name != "write_file" || first.Parts[1].Signature == "" || first.Parts[2].Signature != "" {
		t.Fatalf("first answer %+v", first)
	}
	answered, err := json.Marshal(first)
	if err != nil {
		t.Fatal(err)
	}
	so := fmt.Sprintf(`%[1]s,%[2]s,{"role":"user","parts":[{"functionResponse":{"id":%[3]q,"response":{"output":"well"}}},{"functionResponse":{"id":%[3]q,"response":{"output":"well"}}},{"functionResponse":{"id":%[4]q,"response":{"error":"not so"}}}]}`,
		prompt, answered, first.Parts[1].Call.ID, first.Parts[2].Call.ID)
	if second := ask(generateSuffix, so).Candidates[0].Content; second.Parts[0].Text != "finished" {
		t.Errorf("second answer %+v", second)
	}

	req, ok := s.Last(Prompted("finished"))
	if !ok || !slices.Equal(req.Tools, []string{"write_file", "run_shell_command"}) {
		t.Fatalf("Last = %+v, %v", req, ok)
	}
	history := History(req)
	want := []string{
		`user: [[think hm]] [[write path=ä.txt content="<ö>"]] [[parallel]] [[bash cmd=ls]] [[say finished]]`,
		`call write_file {"content":"<ö>","file_path":"ä.txt"}`, `call run_shell_command {"command":"ls"}`,
		"result: well", "error: not so",
	}
	if got := Lines(history); !slices.Equal(got, want) {
		t.Errorf("Lines = %q, want %q", got, want)
	}
	nameless := History(Request{Method: http.MethodPost, Path: generateSuffix, Body: []byte(`{"contents":[{"role":"user","parts":[{"functionResponse":{"response":{"output":"one"}}},{"functionResponse":{"response":{"output":"two"}}}]}]}`)})
	if got := Lines(nameless); !slices.Equal(got, []string{"result: one", "result: two"}) {
		t.Errorf("results of calls without ids are %q", got)
	}
	if got := history[0].Reminders; !slices.Equal(got, []string{"in /w", "be nice"}) {
		t.Errorf("Reminders = %q", got)
	}
	if refused := ask(streamSuffix, `{"role":"user","parts":[{"text":"[[fail 429 slow down]]"}]}`).Error; refused.Status != "RESOURCE_EXHAUSTED" || refused.Message != "slow down" {
		t.Errorf("refused with %+v", refused)
	}
}

// TestGenerateForItself: what the client asks for itself is answered harmlessly.
func TestGenerateForItself(t *testing.T) {
	s := New(t)
	const quoting = `"contents":[{"role":"user","parts":[{"text":"[[bash cmd=ls]]"}]}]`
	for body, want := range map[string]string{
		`{` + quoting + `}`: `"text":"ok"`,
		`{` + quoting + `,"generationConfig":{"responseJsonSchema":{"type":"object","properties":{"next":{"enum":["user","model"]}},"required":["next"]}}}`: `{\"next\":\"user\"}`,
		`{` + quoting + `,"tools":[{"functionDeclarations":[{"name":"other"}]}]}`:                                                                           "stand-in: the client offers no tool to bash",
		`no JSON`: "{}",
	} {
		if code, got := post(t, s, "/v1beta/models/m"+generateSuffix, body); code != http.StatusOK || !strings.Contains(got, want) {
			t.Errorf("%s was answered %d %s, want %s", body, code, got, want)
		}
	}
}
