package opencode

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

func read(t testing.TB, b []byte) sessions.Conversation {
	t.Helper()
	c, err := sessions.ReadConversation(Adapter{}, bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func cutOf(t testing.TB, b []byte) sessions.Cut {
	t.Helper()
	cut, err := Adapter{}.Cut(bytes.NewReader(b))
	if err != nil && !errors.Is(err, sessions.ErrEmptyCut) {
		t.Fatal(err)
	}
	return cut
}

func TestReadTurn(t *testing.T) {
	c := read(t, fixture(t, "talk.jsonl"))
	first := c.Turns[0]
	if len(first.Tools) != 3 || len(first.Texts) != 1 || first.Texts[0].Text != "first done in /home/dev/w." {
		t.Fatalf("the first turn is %+v", first)
	}
	for i, want := range []sessions.Tool{
		{Name: "write", Target: "/home/dev/w/notes ü.txt", Done: true},
		{Name: "bash", Target: `cat "/home/dev/w/notes ü.txt"; pwd`, Done: true, Exit: "0"},
		{Name: "read", Target: "/home/dev/w/none.txt", Done: true, Failed: true},
	} {
		got := first.Tools[i]
		if got.ID == "" || got.At.IsZero() || got.Whole != got.Target || got.Stop <= 0 || got.Stop > first.Stop {
			t.Errorf("call %d is %+v", i, got)
		}
		if got.ID, got.At, got.Whole, got.Stop = "", want.At, "", 0; got != want {
			t.Errorf("call %d is %+v, want %+v", i, got, want)
		}
	}
	if want := (sessions.Tokens{Input: 30, Output: 15}); first.Tokens != want {
		t.Errorf("used %+v, want %+v", first.Tokens, want)
	}
	if first.At.IsZero() || !first.End.After(first.At) || !c.Turns[1].At.After(first.End) {
		t.Errorf("the turns are from %v to %v, and from %v", first.At, first.End, c.Turns[1].At)
	}
}

// TestStates reads what the terminal did: Esc, a second prompt while a tool asks, which
// belongs to the turn that runs, an error of the service.
func TestStates(t *testing.T) {
	b := fixture(t, "stopped.jsonl")
	c := read(t, b)
	var prompts []string
	for _, turn := range c.Turns {
		prompts = append(prompts, strings.TrimPrefix(turn.Prompt, "[["))
	}
	if len(prompts) != 4 || !strings.HasPrefix(prompts[2], "wait") || !strings.HasPrefix(prompts[3], "tool name=webfetch") {
		t.Fatalf("prompts %q", prompts)
	}
	last := c.Turns[3]
	if c.State != sessions.StateError || !last.Done || len(last.Texts) != 2 || last.Texts[0].Role != "user" || !strings.HasPrefix(last.Texts[0].Text, "[[fail 400") {
		t.Errorf("it ends %s with %+v", c.State, last)
	}
	states := map[sessions.State]bool{}
	for end := range b {
		if b[end] == '\n' {
			states[read(t, b[:end+1]).State] = true
		}
	}
	for _, want := range []sessions.State{sessions.StateEmpty, sessions.StateIdle, sessions.StateRunning, sessions.StateInterrupted, sessions.StateError} {
		if !states[want] {
			t.Errorf("it is never %s", want)
		}
	}
}

// TestTakenBack: what its user has removed is no turn any more.
func TestTakenBack(t *testing.T) {
	b := fixture(t, "talk.jsonl")
	second := read(t, b).Turns[1].ID
	b = append(b, `{"type":"removed","session":"ses_1","id":"`+second+`"}`+"\n"...)
	if c := read(t, b); len(c.Turns) != 1 || c.State != sessions.StateIdle {
		t.Errorf("%d turns, %s", len(c.Turns), c.State)
	}
	if cut := cutOf(t, b); cut.Length != int64(len(b)) {
		t.Errorf("cut at %d of %d", cut.Length, len(b))
	}
}

// TestLeftInATurn: a prompt after a turn that was left in its middle, as by a kill,
// begins another.
func TestLeftInATurn(t *testing.T) {
	all := lines(fixture(t, "talk.jsonl"))
	b := bytes.Join(all[:5], nil)
	if c := read(t, b); c.State != sessions.StateRunning {
		t.Fatalf("in its turn it is %s", c.State)
	}
	b = append(b, `{"type":"idle","session":"ses_1"}`+"\n"...)
	b = append(b, `{"type":"message","session":"ses_1","value":{"id":"msg_9","role":"user","time":{"created":9}}}`+"\n"...)
	b = append(b, `{"type":"part","session":"ses_1","value":{"id":"prt_9","messageID":"msg_9","type":"text","text":"again"}}`+"\n"...)
	if c := read(t, b); len(c.Turns) != 2 || c.Turns[1].Prompt != "again" {
		t.Errorf("the turns are %+v", c.Turns)
	}
}

func FuzzRead(f *testing.F) {
	for _, l := range []string{
		`{"type":"message","value":{"id":"m1","role":"user","time":{"created":1}}}`, `{"type":"part","value":{"id":"p1","messageID":"m1","type":"text","text":"hi"}}`,
		`{"type":"message","value":{"id":"m2","parentID":"m1","role":"assistant","time":{"created":1}}}`,
		`{"type":"part","value":{"id":"p2","messageID":"m2","type":"tool","tool":"bash","callID":"c","state":{"status":"running","input":{"command":"x"}}}}`,
		`{"type":"message","value":{"id":"m2","parentID":"m1","role":"assistant","time":{"completed":2},"finish":"stop"}}`,
		`{"type":"removed","id":"m1"}`, `{"type":"idle"}`,
	} {
		f.Add([]byte(l+"\n"), 7)
	}
	f.Add(bytes.Join(lines(fixture(f, "talk.jsonl"))[:5], nil), 100)
	f.Fuzz(func(t *testing.T, b []byte, size int) {
		conv := read(t, b)
		if conv.Length > int64(len(b)) || conv.Torn != (conv.Length < int64(len(b))) {
			t.Fatalf("length %d of %d, torn %t", conv.Length, len(b), conv.Torn)
		}
		for i, turn := range conv.Turns {
			if turn.Start > turn.Stop || turn.Stop > conv.Length {
				t.Fatalf("turn %d is [%d, %d) of %d", i+1, turn.Start, turn.Stop, conv.Length)
			}
		}
		cut := cutOf(t, b)
		if cut.Length > int64(len(b)) || cut.Length > 0 && b[cut.Length-1] != '\n' {
			t.Fatalf("cut at %d of %d", cut.Length, len(b))
		}
		if again := cutOf(t, b[:cut.Length]); again.Length != cut.Length || len(again.Open) > 0 {
			t.Fatalf("cut of a cut: %+v, then %+v", cut, again)
		}
		if size <= 0 || len(b)/size > 1000 {
			return
		}
		fo := Adapter{}.Follow()
		for at := 0; at < len(b); at += size {
			fo.Feed(b[at:min(at+size, len(b))])
		}
		if !reflect.DeepEqual(fo.Conversation(), conv) {
			t.Fatal("a follower differs from a reader")
		}
	})
}
