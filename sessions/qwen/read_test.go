package qwen

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

// TestRewound: what leads to the last line is the conversation, and a cut leaves out what
// has no answer.
func TestRewound(t *testing.T) {
	talk := said("a", "", prompt("one")) + said("b", "a", answer("1")) + said("c", "b", prompt("two")) + said("d", "c", answer("2")) +
		said("e", "b", `"type":"system","subtype":"rewind","systemPayload":{"truncatedCount":1}`) + said("f", "e", prompt("three")) + said("g", "f", answer("3"))
	conv := conversation(t, []byte(talk))
	if len(conv.Turns) != 2 || conv.Turns[1].Prompt != "three" || conv.State != sessions.StateIdle {
		t.Errorf("it is %+v", conv)
	}
	open := talk + said("h", "g", prompt("four")) + said("i", "h", calling("call_1"))
	if conv := conversation(t, []byte(open)); conv.State != sessions.StateRunning || len(conv.Turns) != 3 || conv.Turns[2].Done {
		t.Errorf("with an open call it is %+v", conv)
	}
	cut, err := Adapter{}.Cut(strings.NewReader(open))
	if err != nil || cut.Length != int64(len(talk)) || cut.Dropped != 2 || len(cut.Open) != 1 || cut.Open[0].ID != "call_1" {
		t.Errorf("it is cut at %+v, %v; want %d", cut, err, len(talk))
	}
}

// TestRewoundCut: where nothing was answered since its user went back, the end of what was
// taken back is no end to go on from.
func TestRewoundCut(t *testing.T) {
	two := said("a", "", prompt("one")) + said("b", "a", answer("1")) + said("c", "b", prompt("two")) + said("d", "c", answer("2"))
	for name, c := range map[string]struct {
		to   string   // the line that is gone back to, "" for the beginning
		want []string // the prompts that are kept
	}{
		"to the second prompt": {"b", []string{"one"}},
		"to the first":         {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			back := two + said("e", c.to, `"type":"system","subtype":"rewind","systemPayload":{"truncatedCount":1}`)
			all := back + said("f", "e", prompt("three"))
			want := 0
			if c.to != "" {
				want = len(back)
			}
			for id, end := range map[string]int{"d": len(two), "e": len(back), "f": len(all)} {
				length := want
				if id == "d" {
					length = end
				}
				if cut, got, err := (Adapter{}).CutAfter(strings.NewReader(all), id); cut.Length != int64(length) || got != int64(end) || err != nil {
					t.Errorf("after %s: %+v, which ends at %d, %v; want %d, %d", id, cut, got, err, length, end)
				}
			}
			for _, text := range []string{back, all} {
				cut, err := Adapter{}.Cut(strings.NewReader(text))
				if cut.Length != int64(want) || (want == 0) != errors.Is(err, sessions.ErrEmptyCut) {
					t.Errorf("of %d bytes: %+v, %v; want %d", len(text), cut, err, want)
				}
			}
			var prompts []string
			for _, turn := range conversation(t, []byte(all[:want])).Turns {
				prompts = append(prompts, turn.Prompt)
			}
			if !slices.Equal(prompts, c.want) {
				t.Errorf("what is kept asks %q, want %q", prompts, c.want)
			}
		})
	}
}

// TestStartsInWorktree: what the client puts before a prompt is none of it.
func TestStartsInWorktree(t *testing.T) {
	for in, want := range map[string]string{
		`"type":"user","message":{"role":"user","parts":[{"text":"<system-reminder>\n[Startup] Active worktree\n</system-reminder>\n\n"},{"text":"hi\n"}]}`: "hi\n",
		prompt("<system-reminder>alone</system-reminder>"): "<system-reminder>alone</system-reminder>",
		prompt("<system-reminder> is a word"):              "<system-reminder> is a word",
	} {
		conv := conversation(t, []byte(said("a", "", in)+said("b", "a", answer("1"))))
		if len(conv.Turns) != 1 || conv.Turns[0].Prompt != want {
			t.Errorf("%s is %+v", in, conv.Turns)
		}
	}
}

// TestSummedUp: a summary counts with the turn in which it was made.
func TestSummedUp(t *testing.T) {
	talk := said("a", "", prompt("one")) + said("b", "a", answer("1")) + said("c", "b", `"type":"system","subtype":"chat_compression","systemPayload":{"compressedHistory":[]}`)
	conv := conversation(t, []byte(talk))
	if len(conv.Turns) != 1 || conv.Turns[0].Compactions != 1 || conv.State != sessions.StateIdle {
		t.Errorf("it is %+v", conv)
	}
	if cut, err := (Adapter{}).Cut(strings.NewReader(talk)); err != nil || cut.Length != int64(len(talk)) {
		t.Errorf("it is cut at %+v, %v", cut, err)
	}
}
