package pi

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

// said makes the lines of a conversation: "ID<PARENT ROLE text", where an answer whose text
// begins with "call" has a call that is open, and a result's text is the call's id.
func said(t testing.TB, lines ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	out.WriteString(`{"type":"session","version":3,"id":"s1","timestamp":"2026-11-28T10:00:00.000Z","cwd":"/src/w"}` + "\n")
	for i, words := range lines {
		ids, rest, _ := strings.Cut(words, " ")
		role, text, _ := strings.Cut(rest, " ")
		id, parent, _ := strings.Cut(ids, "<")
		above := "null"
		if parent != "" {
			above = fmt.Sprintf("%q", parent)
		}
		message := fmt.Sprintf(`{"role":%q,"content":[{"type":"text","text":%q}],"stopReason":"stop"}`, role, text)
		switch {
		case role == "toolResult":
			message = fmt.Sprintf(`{"role":"toolResult","toolCallId":%q,"content":[{"type":"text","text":"done"}],"isError":false}`, text)
		case role == "assistant" && strings.HasPrefix(text, "call"):
			message = fmt.Sprintf(`{"role":"assistant","content":[{"type":"toolCall","id":%q,"name":"bash","arguments":{"command":"ls"}}],"stopReason":"toolUse"}`, text)
		}
		fmt.Fprintf(&out, `{"type":"message","id":%q,"parentId":%s,"timestamp":"2026-11-28T10:00:%02d.000Z","message":%s}`+"\n", id, above, i, message)
	}
	return out.Bytes()
}

func prompts(c sessions.Conversation) (list []string) {
	for _, turn := range c.Turns {
		list = append(list, turn.Prompt)
	}
	return list
}

// TestGoneBack: the conversation is what leads to the last line, wherever its user went on
// from: in the same branch, in one that was left, at the very beginning.
func TestGoneBack(t *testing.T) {
	talk := []string{"a user one", "b<a assistant 1", "c<b user two", "d<c assistant 2", "e<b user other", "f<e assistant 3"}
	for name, c := range map[string]struct {
		more  []string
		want  []string
		state sessions.State
	}{
		"in another branch":          {nil, []string{"one", "other"}, sessions.StateIdle},
		"back in the first":          {[]string{"g<d user three", "h<g assistant 4"}, []string{"one", "two", "three"}, sessions.StateIdle},
		"to an answer":               {[]string{"g<b user again"}, []string{"one", "again"}, sessions.StateRunning},
		"to the beginning":           {[]string{"g user anew"}, []string{"anew"}, sessions.StateRunning},
		"to a line that is not here": {[]string{"g<zzz user lost"}, []string{"lost"}, sessions.StateRunning},
	} {
		t.Run(name, func(t *testing.T) {
			all := said(t, append(slices.Clone(talk), c.more...)...)
			conv := conversation(t, all)
			if got := prompts(conv); !slices.Equal(got, c.want) || conv.State != c.state {
				t.Errorf("the prompts are %q, %s; want %q, %s", got, conv.State, c.want, c.state)
			}
			read := Adapter{}.Follow()
			for _, b := range all {
				read.Feed([]byte{b})
			}
			if got := prompts(read.Conversation()); !slices.Equal(got, c.want) {
				t.Errorf("fed byte by byte the prompts are %q", got)
			}
		})
	}
}

// TestCut: a cut is after an answer of the branch that the last line before it is in, and
// calls are open in a branch alone.
func TestCut(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		keeps int // lines after the first; -1: nothing can be gone on from
		open  int
	}{
		"nothing":                  {nil, -1, 0},
		"a prompt alone":           {[]string{"a user one"}, -1, 0},
		"an answer":                {[]string{"a user one", "b<a assistant 1"}, 2, 0},
		"a prompt more":            {[]string{"a user one", "b<a assistant 1", "c<b user two"}, 2, 0},
		"an open call":             {[]string{"a user one", "b<a assistant 1", "c<b user two", "d<c assistant call1"}, 2, 1},
		"a call with its result":   {[]string{"a user one", "b<a assistant call1", "c<b toolResult call1"}, 3, 0},
		"left in a call, and back": {[]string{"a user one", "b<a assistant 1", "c<b user two", "d<c assistant call1", "e<b user three", "f<e assistant 3"}, 6, 0},
		"back, and asked":          {[]string{"a user one", "b<a assistant 1", "c<b user two", "d<c assistant 2", "e<b user three"}, 2, 0},
		"back, and a call is open": {[]string{"a user one", "b<a assistant 1", "c<b user two", "d<c assistant 2", "e<b user 3", "f<e assistant call1"}, 2, 1},
		"back to the beginning":    {[]string{"a user one", "b<a assistant 1", "c user two"}, -1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			all := said(t, c.lines...)
			cut, err := Adapter{}.Cut(bytes.NewReader(all))
			if c.keeps < 0 {
				if !errors.Is(err, sessions.ErrEmptyCut) {
					t.Errorf("cut %+v, %v", cut, err)
				}
				return
			}
			want := len(bytes.Join(lines(all)[:1+c.keeps], nil))
			if c.keeps == len(c.lines) {
				want = len(all)
			}
			if err != nil || cut.Length != int64(want) || len(cut.Open) != c.open {
				t.Errorf("cut %+v, %v; want %d bytes of %d, %d open", cut, err, want, len(all), c.open)
			}
		})
	}
}

// TestCutAfter: after a message that goes on from an earlier one, nothing is kept of what
// was taken back.
func TestCutAfter(t *testing.T) {
	talk := []string{"a user one", "b<a assistant 1", "c<b user two", "d<c assistant 2", "f<b user three", "g<f assistant 3", "h user four"}
	all := bytes.SplitAfter(said(t, talk...), []byte("\n"))
	for message, keeps := range map[string]int{"a": 0, "b": 2, "c": 2, "d": 4, "f": 2, "g": 6, "h": 0} {
		at := slices.IndexFunc(talk, func(line string) bool { return line[:1] == message })
		want, end := 0, len(bytes.Join(all[:at+2], nil))
		if keeps > 0 {
			want = len(bytes.Join(all[:keeps+1], nil))
		}
		cut, got, err := Adapter{}.CutAfter(bytes.NewReader(said(t, talk...)), message)
		if err != nil || cut.Length != int64(want) || got != int64(end) {
			t.Errorf("after %s: %+v, which ends at %d, %v; want %d, %d", message, cut, got, err, want, end)
		}
	}
}

// TestTypedAhead: what its user types after the results of calls is said within the turn; a
// prompt after a call that was cut off begins one.
func TestTypedAhead(t *testing.T) {
	ahead := conversation(t, said(t, "a user one", "b<a assistant call1", "c<b toolResult call1", "d<c user faster", "e<d assistant ok"))
	if got := prompts(ahead); !slices.Equal(got, []string{"one"}) || len(ahead.Turns[0].Texts) != 2 || ahead.Turns[0].Texts[0].Role != "user" {
		t.Errorf("typed ahead: %+v", ahead.Turns)
	}
	killed := conversation(t, said(t, "a user one", "b<a assistant call1", "c<b user again", "d<c assistant ok"))
	if got := prompts(killed); !slices.Equal(got, []string{"one", "again"}) || killed.State != sessions.StateIdle {
		t.Errorf("after a kill: %q, %s", got, killed.State)
	}
}

// TestRewriteHeader: a copy names its own directory, in which pi runs its tools, and its own
// id, in the first line alone; thoughts and signed blocks are as the model said them.
func TestRewriteHeader(t *testing.T) {
	in := `{"type":"session","version":3,"id":"s1","timestamp":"t","cwd":"/src/w/sub","parentSession":"/src/w/s0.jsonl"}
{"type":"message","id":"s1","parentId":null,"message":{"role":"assistant","content":[{"type":"thinking","thinking":"in /src/w/x","thinkingSignature":"abc"},{"type":"text","text":"/src/w/y"},{"type":"toolCall","id":"c","name":"read","arguments":{"path":"/src/w/z"},"thoughtSignature":"s"}]}}
{"type":"message","id":"m2","parentId":"s1","message":{"role":"user","content":"thinking of /src/w/q"}}
`
	want := `{"type":"session","version":3,"id":"s2","timestamp":"t","cwd":"/new/f/sub","parentSession":"/src/w/s0.jsonl"}
{"type":"message","id":"s1","parentId":null,"message":{"role":"assistant","content":[{"type":"thinking","thinking":"in /src/w/x","thinkingSignature":"abc"},{"type":"text","text":"/new/f/y"},{"type":"toolCall","id":"c","name":"read","arguments":{"path":"/src/w/z"},"thoughtSignature":"s"}]}}
{"type":"message","id":"m2","parentId":"s1","message":{"role":"user","content":"thinking of /new/f/q"}}
`
	var out bytes.Buffer
	to := sessions.Rewrite{OldID: "s1", NewID: "s2", OldCwd: "/src/w", NewCwd: "/new/f", OldRoot: "/src/w", NewRoot: "/new/f"}
	if err := (Adapter{}).Rewrite(&out, strings.NewReader(in+`{"torn`), int64(len(in)+6), to); err != nil || out.String() != want {
		t.Errorf("%v\n%s", err, out.String())
	}
}
