package generic

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

func event(t *testing.T, payload string) sessions.Event {
	t.Helper()
	e, err := Adapter{}.Event(sessions.Environ{}, "", []byte(payload))
	if err != nil {
		t.Fatalf("%s: %v", payload, err)
	}
	return e
}

// TestEvents: what each event says reaches Umbra.
func TestEvents(t *testing.T) {
	at := func(e sessions.Event) sessions.Event {
		e.SessionID, e.Cwd, e.Transcript = session, "/w", "/t/talk.md"
		return e
	}
	for kind, want := range map[sessions.Kind]sessions.Event{
		sessions.KindSessionStart: {Name: "session-start", Program: "aider", PID: 4711, Resume: []string{"aider", "--restore", "{transcript}"}},
		sessions.KindPrompt:       {Name: "prompt", Prompt: "make it better", PromptID: "p1"},
		sessions.KindToolBefore:   {Name: "tool-before", Tool: sessions.Tool{ID: "t1", Name: "edit", Target: "a.txt"}, Writes: true, Files: []string{"a.txt"}},
		sessions.KindToolAfter:    {Name: "tool-after", Tool: sessions.Tool{ID: "t1", Name: "edit", Target: "a.txt", Done: true}},
		sessions.KindPermission:   {Name: "permission", Tool: sessions.Tool{ID: "t2", Name: "shell", Target: "rm -r x"}},
		sessions.KindAnswered:     {Name: "answered", Tool: sessions.Tool{ID: "t2"}},
		sessions.KindStop:         {Name: "idle", Usage: sessions.Usage{Input: 12, Output: 3, Cost: 0.25}},
		sessions.KindError:        {Name: "error", Message: "no answer"},
		sessions.KindSessionEnd:   {Name: "session-end"},
	} {
		want.Kind = kind
		if got := event(t, string(payloads()[kind])); !reflect.DeepEqual(got, at(want)) {
			t.Errorf("%s is\n%+v, want\n%+v", kind, got, at(want))
		}
	}
}

// TestEventDefaults: what is not said, and what is odd but not asked for, costs
// nothing. A tool that says nothing of itself may write.
func TestEventDefaults(t *testing.T) {
	for more, writes := range map[string]bool{``: true, `,"tool":{"writes":false}`: false, `,"tool":{"writes":"no"}`: true, `,"tool":7`: true} {
		e := event(t, `{"event":"tool-before","session":"s"`+more+`}`)
		if e.Writes != writes || e.Tool.Name == "" || e.PID != 0 || e.Files != nil {
			t.Errorf("%s: %+v", more, e)
		}
	}
	odd := event(t, `{"event":"idle","session":"s","pid":"x","usage":{"input_tokens":-5,"output_tokens":1.5,"cost_usd":"1"},"resume":null,"transcript":7,"headless":"yes"}`)
	if odd.PID != 0 || odd.Usage != (sessions.Usage{}) || odd.Resume != nil || odd.Transcript != "" || odd.Headless {
		t.Errorf("odd fields are taken as %+v", odd)
	}
	if e, err := (Adapter{}).Event(sessions.Environ{}, "prompt", []byte(`{"session":"s","prompt":"x"}`)); err != nil || e.Kind != sessions.KindPrompt {
		t.Errorf("an event named on the command line: %+v, %v", e, err)
	}
	if e := event(t, `{"event":"error","session":"s"}`); e.Message == "" {
		t.Error("an error without words has no message")
	}
}

// TestBadPayloads: what its author is told.
func TestBadPayloads(t *testing.T) {
	for payload, word := range map[string]string{
		`{"session":"s"}`:                  "event",
		`{"event":"Stop","session":"s"}`:   "idle",
		`{"event":"idle"}`:                 `"session"`,
		`{"event":"idle","session":".."}`:  `"session"`,
		`{"event":"idle","session":"a/b"}`: `"session"`,
		`{"event":"idle","session":"` + strings.Repeat("x", mostName+1) + `"}`:          `"session"`,
		`{"event":"idle","session":"s","agent":"my tool"}`:                              `"agent"`,
		`{"event":"idle","session":"s","cwd":"w"}`:                                      "absolute",
		`{"event":"idle","session":"s","transcript":"talk.md"}`:                         "absolute",
		`{"event":"idle","session":"s","resume":"aider"}`:                               `"resume"`,
		`{"event":"idle","session":"s","resume":[]}`:                                    `"resume"`,
		`{"event":"idle","session":"s","resume":["",1]}`:                                `"resume"`,
		`{"event":"session-start","session":"s","source":"compact"}`:                    `"source"`,
		`{"event":"idle","session":"s","resume":["` + strings.Repeat("x", 5000) + `"]}`: `"resume"`,
	} {
		if _, err := (Adapter{}).Event(sessions.Environ{}, "", []byte(payload)); !errors.Is(err, sessions.ErrBadPayload) || !strings.Contains(err.Error(), word) {
			t.Errorf("%.80s: %v", payload, err)
		}
	}
}

func FuzzEvent(f *testing.F) {
	for _, p := range payloads() {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		e, err := Adapter{}.Event(sessions.Environ{}, "", payload)
		if err != nil && !errors.Is(err, sessions.ErrBadPayload) {
			t.Fatal(err)
		}
		if err == nil && (e.SessionID == "" || strings.Contains(e.SessionID, "/") || e.PID < 0 || e.Usage.Cost < 0) {
			t.Fatalf("%+v", e)
		}
	})
}

// TestLaunchNothing: a tool that was started by hand, and has not said how.
func TestLaunchNothing(t *testing.T) {
	for _, command := range [][]string{nil, {Name}} {
		if _, err := (Adapter{}).Launch(sessions.Launch{Command: command}); !errors.Is(err, errNoCommand) {
			t.Errorf("%q: %v", command, err)
		}
	}
}
