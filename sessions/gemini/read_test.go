package gemini

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

// patch is a line that says which messages there are.
func patch(messages ...string) string {
	return `{"$set":{"messages":[` + strings.Join(messages, ",") + `]}}`
}

// What the client writes after Esc at a question: the call that was cancelled, then
// the conversation once more under other ids, and at last that this is all.
const (
	cancelled2 = `{"id":"a2","type":"gemini","content":"","toolCalls":[{"id":"c1","name":"run_shell_command","status":"cancelled","result":[{"functionResponse":{"id":"c1"}}]}]}`
	retold1    = `{"id":"again1","type":"user","content":[{"text":"<session_context>\nThis is the Gemini CLI.\n</session_context>"},{"text":"one"}]}`
	retold2    = `{"id":"again2","type":"gemini","content":[{"text":"done one"}]}`
)

const context1 = `{"id":"ctx","type":"user","content":[{"text":"<session_context>\nThis is the Gemini CLI.\n</session_context>"}]}`

// TestState goes line by line through what the client writes, and checks the
// state that each line leaves.
func TestState(t *testing.T) {
	const (
		empty, idle, running, stopped = sessions.StateEmpty, sessions.StateIdle, sessions.StateRunning, sessions.StateInterrupted
		refused                       = sessions.StateError
	)
	failed, note := `{"id":"e1","type":"error","content":"[API Error: nope]"}`, `{"id":"i2","type":"info","content":"This request failed."}`
	info := `{"id":"i1","type":"info","content":"Request cancelled."}`
	for name, lines := range map[string][]struct {
		line  string
		state sessions.State
	}{
		"answer":             {{asked1, running}, {touched, running}, {said1, idle}, {touched, idle}},
		"tool":               {{asked1, running}, {said1, idle}, {asked2, running}, {begun2, running}, {called2, running}, {results2, running}, {`{"id":"a3","type":"gemini","content":"so"}`, idle}},
		"pending":            {{asked2, running}, {waits2, running}},
		"cancelled command":  {{asked2, running}, {begun2, running}, {info, running}, {cancelled2, stopped}, {results2, stopped}, {asked1, running}},
		"cancelled thinking": {{context1, empty}, {asked1, running}, {said1, idle}, {asked2, running}, {begun2, running}, {info, running}, {patch(context1, asked1, said1), stopped}, {`{"id":"p3","type":"user","content":"three"}`, running}},
		"cancelled at a question": {{asked1, running}, {said1, idle}, {asked2, running}, {waits2, running}, {cancelled2, stopped}, {info, stopped},
			{retold1, stopped}, {retold2, stopped}, {touched, stopped}, {patch(retold1, retold2), stopped}, {`{"id":"p3","type":"user","content":"three"}`, running}},
		"cancelled at the first": {{asked1, running}, {cancelled2, stopped}, {retold1, stopped}, {patch(retold1), stopped}, {asked2, running}, {said2, idle}},
		"told again, and left":   {{asked1, running}, {said1, idle}, {retold1, idle}, {`{"sessionId":"s","projectHash":"h"}`, running}, {patch(asked1, said1), idle}, {asked2, running}},
		"refused":                {{context1, empty}, {asked1, running}, {said1, idle}, {asked2, running}, {patch(context1, asked1, said1), stopped}, {failed, refused}, {touched, refused}, {note, refused}, {`{"id":"p3","type":"user","content":"three"}`, running}},
		"refused, and asked again": {{asked2, running}, {begun2, running}, {called2, running}, {results2, running}, {failed, refused}, {note, refused},
			{`{"id":"p3","type":"user","content":"[System: go on]"}`, running}, {`{"id":"a3","type":"gemini","content":"so"}`, idle}},
		"refused, and left":    {{asked1, running}, {said1, idle}, {asked2, running}, {patch(asked1, said1), stopped}, {failed, refused}, {`{"sessionId":"s","projectHash":"h"}`, stopped}},
		"refused, and rewound": {{asked1, running}, {said1, idle}, {asked2, running}, {patch(asked1, said1), stopped}, {failed, refused}, {`{"$rewindTo":"p1"}`, empty}},
		"another error":        {{asked1, running}, {`{"id":"e2","type":"error","content":"no such command"}`, running}, {said1, idle}},
		"refused at once":      {{patch(context1), empty}, {asked1, running}, {patch(context1), stopped}},
		"resumed":              {{asked1, running}, {said1, idle}, {patch(asked1, said1), idle}},
		"rewound":              {{asked1, running}, {said1, idle}, {asked2, running}, {said2, idle}, {`{"$rewindTo":"p2"}`, idle}, {`{"$rewindTo":"unknown"}`, empty}},
		"summed up":            {{asked1, running}, {said1, idle}, {asked2, running}, {said2, idle}, {patch(`{"id":"s1","type":"user","content":"<state_snapshot>"}`, `{"id":"s2","type":"gemini","content":"Got it."}`), idle}},
	} {
		f := Adapter{}.Follow()
		for i, l := range lines {
			f.Feed([]byte(l.line + "\n"))
			if got := f.Conversation().State; got != l.state {
				t.Errorf("%s: after line %d the state is %s, want %s", name, i+1, got, l.state)
			}
		}
	}
}

// TestTurns: a turn has its texts, tools and tokens once, however often the
// client writes them, and those of turns that it takes back are kept.
func TestTurns(t *testing.T) {
	c := read(t, []byte(transcript(context1, asked1, said1, asked2, begun2, called2, results2, said2,
		patch(context1, asked1, said1, asked2, called2, results2), `{"$rewindTo":"p2"}`)))
	if len(c.Turns) != 2 || c.Turns[0].Prompt != "one" || c.Turns[1].Prompt != "two" {
		t.Fatalf("turns %+v", c.Turns)
	}
	if got := c.Turns[0]; len(got.Texts) != 1 || got.Texts[0].Text != "done one" || got.Tokens != (sessions.Tokens{Input: 10, Output: 7}) {
		t.Errorf("the first turn is %+v", got)
	}
	want := []sessions.Tool{{ID: "c1", Name: "write_file", Target: "x.txt", Whole: "x.txt", Done: true, Stop: 390}}
	if got := c.Turns[1].Tools; !reflect.DeepEqual(got, want) {
		t.Errorf("the second turn's tools are %+v", got)
	}
	summed := read(t, []byte(transcript(asked1, said1, patch(`{"id":"s1","type":"user","content":"<state_snapshot>"}`, `{"id":"s2","type":"gemini","content":"Got it."}`), asked2)))
	if len(summed.Turns) != 2 || summed.Turns[1].Prompt != "two" {
		t.Errorf("with a summary the turns are %+v", summed.Turns)
	}
	again := read(t, []byte(transcript(context1, asked1, said1, asked2, waits2, cancelled2, retold1, retold2, patch(retold1, retold2), `{"id":"p3","type":"user","content":"three"}`)))
	if len(again.Turns) != 3 || again.Turns[2].Prompt != "three" || len(again.Turns[1].Texts) != 0 || !again.Turns[1].Done {
		t.Errorf("of a conversation that was told again the turns are %+v", again.Turns)
	}
	failed := read(t, []byte(transcript(asked2, `{"id":"a2","type":"gemini","content":[{"functionCall":{"id":"c1","name":"read_file","args":{"absolute_path":"/x"}}}]}`,
		`{"id":"r2","type":"user","content":[{"functionResponse":{"id":"c1","response":{"error":"no such file"}}}]}`)))
	want = []sessions.Tool{{ID: "c1", Name: "read_file", Target: "/x", Whole: "/x", Done: true, Failed: true, Stop: 210}}
	if got := failed.Turns[0].Tools; !reflect.DeepEqual(got, want) {
		t.Errorf("a call whose result is apart is %+v", got)
	}
}

// TestPrompts: what nobody typed is not in a prompt, and what was typed in other
// words is as it was typed.
func TestPrompts(t *testing.T) {
	c := read(t, []byte(transcript(
		`{"id":"1","type":"user","content":[{"text":"go"},{"text":"<hook_context>be nice</hook_context>"}]}`, said1,
		`{"id":"2","type":"user","content":"<hook_context>first</hook_context>\n\nthen this"}`, said2,
		`{"id":"3","type":"user","content":[{"text":"the file's content"}],"displayContent":[{"text":"@a.txt"}]}`,
		`{"id":"4","type":"user","content":{"text":"/path is wrong"}}`,
		`{"id":"5","type":"user","content":[{"text":"<hook_context>alone</hook_context>"}]}`,
		`{"id":"6","type":"gemini","content":[{"text":"hidden","thought":true},"said"]}`)))
	var prompts []string
	for _, turn := range c.Turns {
		prompts = append(prompts, turn.Prompt)
	}
	if want := []string{"go", "then this", "@a.txt", "/path is wrong"}; !slices.Equal(prompts, want) {
		t.Errorf("the prompts are %q, want %q", prompts, want)
	}
	if got := c.Turns[3].Texts; len(got) != 1 || got[0].Text != "said" {
		t.Errorf("the last answer is %+v", got)
	}
}

// TestRefused reads what the client wrote as its API refused three turns: prompts, and
// between them a tool's result, after which it asked once more by itself.
func TestRefused(t *testing.T) {
	b := string(fixture(t, "refused.jsonl"))
	var states []sessions.State
	f := Adapter{}.Follow()
	for _, line := range strings.SplitAfter(b, "\n") {
		f.Feed([]byte(line))
		if strings.Contains(line, `"type":"error"`) {
			states = append(states, f.Conversation().State)
		}
	}
	if want := []sessions.State{sessions.StateError, sessions.StateError, sessions.StateError}; !slices.Equal(states, want) {
		t.Errorf("with what the client says of its API the states are %s, want %s", states, want)
	}
	c := f.Conversation()
	if len(c.Turns) != 6 || c.State != sessions.StateIdle {
		t.Fatalf("%d turns, %s", len(c.Turns), c.State)
	}
	for _, n := range []int{0, 1, 4} {
		if texts := c.Turns[n].Texts; len(texts) == 0 || !strings.Contains(texts[len(texts)-1].Text, "no such model") {
			t.Errorf("in turn %d was said %+v", n+1, texts)
		}
	}
}

// TestCancelled reads what the client wrote as its user stopped two turns.
func TestCancelled(t *testing.T) {
	b := fixture(t, "cancelled.jsonl")
	c := read(t, b)
	if len(c.Turns) != 5 || c.State != sessions.StateIdle || c.Cwd != "/home/dev/w/app" {
		t.Fatalf("%d turns, %s in %s", len(c.Turns), c.State, c.Cwd)
	}
	if slow := c.Turns[3]; slow.Prompt != `tui slow [[bash cmd="sleep 30"]] [[say late2]]` || len(slow.Tools) != 1 || !slow.Tools[0].Failed {
		t.Errorf("the turn whose command was stopped is %+v", slow)
	}
	upTo := strings.Index(string(b), `"text":"tui two`)
	upTo = strings.LastIndexByte(string(b[:upTo]), '\n') + 1
	if got := read(t, b[:upTo]).State; got != sessions.StateInterrupted {
		t.Errorf("after the second Esc the state is %s", got)
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range transcripts {
		for line := range strings.Lines(string(fixture(f, name))) {
			f.Add([]byte(line), 7)
		}
	}
	f.Add([]byte(transcript(asked1, said1, asked2, begun2, called2, results2, patch(asked1), `{"$rewindTo":"p1"}`)), 3)
	f.Fuzz(func(t *testing.T, b []byte, size int) {
		c := read(t, b)
		if c.Length > int64(len(b)) || c.Torn != (c.Length < int64(len(b))) {
			t.Fatalf("length %d of %d, torn %t", c.Length, len(b), c.Torn)
		}
		for i, turn := range c.Turns {
			if turn.Start > turn.Stop || turn.Stop > c.Length || i > 0 && turn.Start < c.Turns[i-1].Start {
				t.Fatalf("turn %d is [%d, %d) of %d", i+1, turn.Start, turn.Stop, c.Length)
			}
		}
		if size <= 0 || len(b)/size > 1000 {
			return
		}
		fo := Adapter{}.Follow()
		for at := 0; at < len(b); at += size {
			fo.Feed(b[at:min(at+size, len(b))])
		}
		if !reflect.DeepEqual(fo.Conversation(), c) {
			t.Fatal("a follower differs from a reader")
		}
	})
}
