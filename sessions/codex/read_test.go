package codex

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

func TestReadTalk(t *testing.T) {
	c := read(t, fixture(t, "talk.jsonl"))
	if len(c.Turns) != 3 || c.Cwd != "/tmp/dev/w" || c.State != sessions.StateIdle || c.Bad != 0 {
		t.Fatalf("read %d turns in %s, %s, %d bad", len(c.Turns), c.Cwd, c.State, c.Bad)
	}
	var got []string
	for _, turn := range c.Turns {
		word, _, _ := strings.Cut(turn.Prompt, " ")
		got = append(got, fmt.Sprintf("%s done %t tokens %d/%d", word, turn.Done, turn.Tokens.Input, turn.Tokens.Output))
		for _, tool := range turn.Tools {
			got = append(got, fmt.Sprintf("%s %s done %t failed %t", tool.Name, tool.Target, tool.Done, tool.Failed))
		}
		for _, said := range turn.Texts {
			got = append(got, said.Role+": "+said.Text)
		}
	}
	want := []string{
		"first done true tokens 30/15",
		"apply_patch notes.txt done true failed false", "exec_command pwd; cat /tmp/dev/w/notes.txt done true failed false",
		"assistant: hello", "assistant: done",
		"second done true tokens 30/15",
		"exec_command echo par done true failed false", "exec_command exit 3 done true failed true",
		"apply_patch /tmp/dev/w/none.txt done true failed true", "assistant: written",
		"third done true tokens 10/5", "assistant: it is in /tmp/dev/w/notes.txt",
	}
	if !slices.Equal(got, want) {
		t.Errorf("read\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for i, turn := range c.Turns {
		if turn.ID == "" || turn.At.IsZero() || turn.End.Before(turn.At) {
			t.Errorf("turn %d is %q from %v to %v", i+1, turn.ID, turn.At, turn.End)
		}
	}
}

// TestStates: what the last lines say of the agent.
func TestStates(t *testing.T) {
	talk := fixture(t, "talk.jsonl")
	at := func(mark string) []byte { // up to and with the line that holds mark
		i := bytes.Index(talk, []byte(mark))
		return talk[:i+bytes.IndexByte(talk[i:], '\n')+1]
	}
	for name, c := range map[string]struct {
		in    []byte
		state sessions.State
		turns int
	}{
		"an API error":               {fixture(t, "failed.jsonl"), sessions.StateError, 2},
		"interrupted":                {fixture(t, "interrupted.jsonl"), sessions.StateInterrupted, 2},
		"a fork of Codex's own":      {fixture(t, "thin.jsonl"), sessions.StateIdle, 1},
		"before the first prompt":    {at(`"type":"turn_context"`), sessions.StateEmpty, 0},
		"a prompt":                   {at(`"type":"UserMessage"`), sessions.StateRunning, 1},
		"a call":                     {at(`"type":"custom_tool_call"`), sessions.StateRunning, 1},
		"a result":                   {at(`"type":"custom_tool_call_output"`), sessions.StateRunning, 1},
		"a thought":                  {at(`"type":"reasoning"`), sessions.StateRunning, 2},
		"words before a hook's Stop": {at(`[{"type":"output_text","text":"written"`), sessions.StateIdle, 2},
		"words that announce work": {[]byte(transcript(meta(idA), prompt("go"), `{"type":"response_item","payload":{"type":"message","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"I look"}]}}`)),
			sessions.StateRunning, 1},
		"typed meanwhile": {[]byte(transcript(meta(idA), prompt("go"), prompt("and this"), answer("yes"))), sessions.StateIdle, 1},
		"a compaction by itself": {[]byte(transcript(meta(idA), prompt("go"), answer("yes"), `{"type":"event_msg","payload":{"type":"task_started","turn_id":"c"}}`,
			`{"type":"compacted","payload":{"message":"sum"}}`, `{"type":"event_msg","payload":{"type":"task_complete","turn_id":"c"}}`)), sessions.StateIdle, 1},
		"the older history": {[]byte(transcript(meta(idA), `{"type":"event_msg","payload":{"type":"user_message","message":"old"}}`, answer("well"),
			`{"type":"event_msg","payload":{"type":"user_message","message":"and"}}`)), sessions.StateRunning, 2},
	} {
		got := read(t, c.in)
		if got.State != c.state || len(got.Turns) != c.turns {
			t.Errorf("%s: %s with %d turns, want %s with %d", name, got.State, len(got.Turns), c.state, c.turns)
		}
	}
}

func transcript(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

func meta(id string) string {
	return fmt.Sprintf(`{"type":"session_meta","payload":{"id":"%s","session_id":"%s","cwd":"/w","source":"cli"}}`, id, id)
}

func prompt(text string) string {
	return fmt.Sprintf(`{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","content":[{"type":"text","text":"%s"}]}}}`, text)
}

func answer(text string) string {
	return fmt.Sprintf(`{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"%s"}]}}`, text)
}

const (
	call     = `{"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls\"}","call_id":"c1"}}`
	call2    = `{"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"pwd\"}","call_id":"c2"}}`
	output   = `{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"x"}}`
	output2  = `{"type":"response_item","payload":{"type":"function_call_output","call_id":"c2","output":"x"}}`
	thought  = `{"type":"response_item","payload":{"type":"reasoning","encrypted_content":"x"}}`
	searched = `{"type":"response_item","payload":{"type":"web_search_call","action":{"query":"x"}}}`
	usage    = `{"type":"event_msg","payload":{"type":"token_count"}}`
	started  = `{"type":"event_msg","payload":{"type":"task_started","turn_id":"t"}}`
	complete = `{"type":"event_msg","payload":{"type":"task_complete"}}`
	refused  = `{"type":"event_msg","payload":{"type":"task_complete","error":{"message":"no"}}}`
	aborted  = `{"type":"event_msg","payload":{"type":"turn_aborted"}}`
	heir     = `{"type":"session_meta","payload":{"id":"` + idB + `","history_base":{"thread_id":"` + idA + `"}}}`
)

func TestCutCases(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		keep  int
		open  string
	}{
		"a finished turn":                {[]string{meta(idA), started, prompt("a"), answer("b"), usage, complete}, 6, ""},
		"a prompt without an answer":     {[]string{meta(idA), prompt("a"), answer("b"), complete, started, prompt("c")}, 4, ""},
		"a call without its result":      {[]string{meta(idA), prompt("a"), call}, 0, "ls"},
		"parallel calls, one open":       {[]string{meta(idA), prompt("a"), answer("b"), call, call2, output2}, 3, "ls"},
		"parallel calls":                 {[]string{meta(idA), prompt("a"), call, call2, output2, output}, 6, ""},
		"a thought alone":                {[]string{meta(idA), prompt("a"), call, output, thought}, 4, ""},
		"a search":                       {[]string{meta(idA), prompt("a"), searched}, 3, ""},
		"the API refused after work":     {[]string{meta(idA), prompt("a"), call, output, refused}, 5, ""},
		"the API refused at once":        {[]string{meta(idA), prompt("a"), answer("b"), prompt("c"), refused}, 3, ""},
		"interrupted at once":            {[]string{meta(idA), prompt("a"), answer("b"), prompt("c"), aborted}, 3, ""},
		"a fork of Codex's own":          {[]string{heir, started, prompt("a")}, 1, ""},
		"one that says it in the middle": {[]string{meta(idA), heir}, 0, ""},
		"compacted":                      {[]string{meta(idA), prompt("a"), answer("b"), `{"type":"compacted","payload":{}}`}, 4, ""},
		"compacted within a call":        {[]string{meta(idA), prompt("a"), answer("b"), call, `{"type":"compacted","payload":{}}`}, 3, "ls"},
		"a foreign line":                 {[]string{meta(idA), prompt("a"), answer("b"), "what", usage}, 3, ""},
	} {
		in := transcript(c.lines...)
		cut, err := Adapter{}.Cut(strings.NewReader(in))
		if want := int64(len(strings.Join(c.lines[:c.keep], "\n"))); c.keep > 0 && (err != nil || cut.Length != want+1 || cut.Events != c.keep || cut.Dropped != len(c.lines)-c.keep) {
			t.Errorf("%s: cut %+v, %v; want %d lines", name, cut, err, c.keep)
		}
		if c.keep == 0 && !errors.Is(err, sessions.ErrEmptyCut) {
			t.Errorf("%s: cut %+v, %v", name, cut, err)
		}
		open := ""
		for _, tool := range cut.Open {
			open += tool.Target
		}
		if open != c.open {
			t.Errorf("%s: the open calls are %q, want %q", name, open, c.open)
		}
	}
}

// TestCutFixtures: what the real client left, cut where it can go on.
func TestCutFixtures(t *testing.T) {
	for name, lines := range map[string]int{"talk.jsonl": 60, "failed.jsonl": 25, "interrupted.jsonl": 25, "thin.jsonl": 12} {
		cut, err := Adapter{}.Cut(bytes.NewReader(fixture(t, name)))
		if err != nil || cut.Events != lines {
			t.Errorf("%s: %d lines kept, %v; want %d", name, cut.Events, err, lines)
		}
	}
}
