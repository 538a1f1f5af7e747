package payload

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/umbra-vcs/umbra/missions"
)

// TestReadEndsWithTheObject: an agent that leaves its pipe open gets its answer all the
// same, and one that goes on writing finds no broken pipe.
func TestReadEndsWithTheObject(t *testing.T) {
	t.Parallel()
	for _, event := range []string{
		`{}`, ` {"a":{"b":"}"}}`, `{"a":"\"}{\\"}`, `{"a":["}",{}]}` + "\n",
	} {
		for name, pieces := range map[string]func(io.Reader) io.Reader{"whole": func(r io.Reader) io.Reader { return r }, "in bytes": iotest.OneByteReader} {
			out, in := io.Pipe()
			wrote := make(chan error, 1)
			go func() {
				_, err := in.Write([]byte(event))
				for range 3 { // nobody closes the pipe
					if err == nil {
						_, err = in.Write([]byte("\n"))
					}
				}
				wrote <- err
			}()
			got, err := Read(context.Background(), pieces(out))
			if err != nil || strings.TrimSpace(string(got)) != strings.TrimSpace(event) {
				t.Errorf("%s, %s: %q %v", event, name, got, err)
			}
			if err := <-wrote; err != nil {
				t.Errorf("%s, %s: writing on: %v", event, name, err)
			}
		}
	}
}

// TestReadWithoutAnObject reads to the end what is no event, and says so of what does not come.
func TestReadWithoutAnObject(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"the event", `{"cut`, `"{}" and more`} {
		if got, err := Read(context.Background(), strings.NewReader(text)); err != nil || string(got) != text {
			t.Errorf("%q: %q %v", text, got, err)
		}
	}
	if _, err := Read(context.Background(), strings.NewReader("")); err == nil || !strings.Contains(err.Error(), "the event is empty") {
		t.Errorf("nothing: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	out, _ := io.Pipe()
	if _, err := Read(ctx, out); err == nil || !strings.Contains(err.Error(), "no event came on stdin") {
		t.Errorf("an open pipe with nothing in it: %v", err)
	}
}

// TestReadUpToTheMost refuses an event that is longer, and takes one that is not.
func TestReadUpToTheMost(t *testing.T) {
	t.Parallel()
	const most = 1 << 20
	event := strings.Repeat(" ", most-2) + "{}"
	if got, err := readUpTo(context.Background(), strings.NewReader(event), most); err != nil || len(got) != most {
		t.Errorf("the most: %d bytes, %v", len(got), err)
	}
	_, err := readUpTo(context.Background(), strings.NewReader(" "+event), most)
	if err == nil || missions.AsError(err).Kind != missions.KindUsage || !strings.Contains(err.Error(), "over 1 MiB") {
		t.Errorf("one byte more: %v", err)
	}
}

// TestTime: a prompt, of whichever agent, waits longer than other events.
func TestTime(t *testing.T) {
	t.Parallel()
	for payload, want := range map[string]time.Duration{
		`{"hook_event_name":"UserPromptSubmit"}`: PromptBudget,
		`{"hook_event_name":"BeforeAgent"}`:      PromptBudget,
		`{"hook_event_name":"Stop"}`:             Budget,
	} {
		if got := Time("claude", "", []byte(payload)); got != want {
			t.Errorf("%s may take %s, want %s", payload, got, want)
		}
	}
	if Time("generic", "", []byte(`{"event":"prompt"}`)) != PromptBudget || Time("generic", "", []byte(`{"event":"idle"}`)) != Budget {
		t.Error("a tool's own prompt is not one")
	}
	if Time("qwen", "", []byte(`{"hook_event_name":"Stop"}`)) != PromptBudget || Time("qwen", "", []byte(`{"hook_event_name":"SubagentStop"}`)) != Budget {
		t.Error("an answer that comes late is not waited for")
	}
	if Time("gemini", "BeforeAgent", nil) != PromptBudget || Time("claude", "Stop", []byte(`"UserPromptSubmit"`)) != Budget {
		t.Error("the name that the command line gives does not decide")
	}
}
