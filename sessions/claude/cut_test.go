package claude

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/umbra-vcs/umbra/scripts/draws"
	"github.com/umbra-vcs/umbra/scripts/hazards"
	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

func cutOf(t testing.TB, b []byte) sessions.Cut {
	t.Helper()
	cut, err := Adapter{}.Cut(bytes.NewReader(b))
	if (cut.Length == 0) != errors.Is(err, sessions.ErrEmptyCut) {
		t.Fatalf("length %d with error %v", cut.Length, err)
	}
	return cut
}

// TestCutEveryPrefix cuts every real transcript after every line, and in the
// middle of it, and checks with a JSON parse what was kept.
func TestCutEveryPrefix(t *testing.T) {
	hazards.Held(t, hazards.H28, "real conversations, torn at every line and in its middle, with subagents, compactions and branches")
	for _, name := range transcripts {
		all := fixture(t, name)
		var last int64
		for end, lines := 0, linesOf(all); len(lines) > 0; lines = lines[1:] {
			torn := all[:end+len(lines[0])/2]
			end += len(lines[0])
			cut := cutOf(t, all[:end])
			if cut.Length < last {
				t.Errorf("%s: cut went back from %d to %d with %d bytes", name, last, cut.Length, end)
			}
			if got := cutOf(t, torn); got.Length != last {
				t.Errorf("%s: a torn line at %d moved the cut from %d to %d", name, end, last, got.Length)
			}
			if cut.Length != last {
				checkKept(t, name, all[:cut.Length])
			}
			last = cut.Length
		}
		if last != int64(len(all)) {
			t.Errorf("%s: a finished session was cut at %d of %d", name, last, len(all))
		}
	}
}

// checkKept parses what a cut keeps: each tool call since the last prompt has
// its result, and what was said last is not a prompt.
func checkKept(t *testing.T, name string, kept []byte) {
	t.Helper()
	open := map[string]bool{}
	last := ""
	for _, b := range linesOf(kept) {
		var l struct {
			Type        string
			IsSidechain bool
			IsMeta      bool
			Message     struct{ Content any }
		}
		if err := json.Unmarshal(b, &l); err != nil {
			t.Fatal(err)
		}
		if l.IsSidechain || l.Type != "user" && l.Type != "assistant" {
			continue
		}
		if s, ok := l.Message.Content.(string); ok {
			if !l.IsMeta && !strings.HasPrefix(s, "<") && !strings.HasPrefix(s, "This session is being continued") {
				last = "prompt"
				clear(open)
			}
			continue
		}
		for _, b := range l.Message.Content.([]any) {
			block := b.(map[string]any)
			last = block["type"].(string)
			switch last {
			case "tool_use":
				open[block["id"].(string)] = true
			case "tool_result":
				delete(open, block["tool_use_id"].(string))
			}
		}
	}
	if len(open) > 0 || last == "prompt" || last == "thinking" {
		t.Errorf("%s: cut at %d keeps open calls %v and ends with %q", name, len(kept), open, last)
	}
}

// TestCutDropsPrompt: of a prompt without an answer not a word is kept, in
// whatever line it stands and whether that comes before or after the prompt's.
func TestCutDropsPrompt(t *testing.T) {
	for _, name := range transcripts {
		all := fixture(t, name)
		conv, err := sessions.ReadConversation(Adapter{}, bytes.NewReader(all))
		if err != nil {
			t.Fatal(err)
		}
		for i, turn := range conv.Turns {
			said, _, _ := strings.Cut(turn.Prompt, "\n")
			if i == 0 || strings.HasPrefix(said, "<") || len(said) < 8 {
				continue
			}
			end := turn.Start
			for _, b := range linesOf(all[turn.Start:]) {
				if l, _ := parseLine(b); l.kind == "assistant" {
					break
				}
				end += int64(len(b))
			}
			cut := cutOf(t, all[:end])
			quoted := bytes.Trim(jsontext.Quote(said), `"`)
			if from := conv.Turns[i-1].Start; cut.Length < from || bytes.Contains(all[from:cut.Length], quoted) {
				t.Errorf("%s: turn %d: the cut at %d keeps %s", name, i+1, cut.Length, quoted)
			}
		}
	}
}

const (
	cutPrompt  = `{"type":"user","uuid":"p1","message":{"role":"user","content":"one"}}`
	cutAnswer  = `{"type":"assistant","uuid":"a1","message":{"id":"m1","content":[{"type":"text","text":"done"}],"stop_reason":"end_turn"}}`
	cutPrompt2 = `{"type":"user","uuid":"p2","parentUuid":"a1","message":{"role":"user","content":[{"type":"text","text":"two"}]}}`
	cutUse     = `{"type":"assistant","uuid":"u1","message":{"id":"m2","content":[{"type":"tool_use","id":"t1","name":"Write","input":{"file_path":"/w/x"}}],"stop_reason":"tool_use"}}`
	cutUse2    = `{"type":"assistant","uuid":"u2","message":{"id":"m2","content":[{"type":"tool_use","id":"t2","name":"Bash","input":{"command":"ls"}}],"stop_reason":"tool_use"}}`
	cutResult  = `{"type":"user","uuid":"r1","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}`
	cutStop    = `{"type":"user","uuid":"i1","message":{"content":[{"type":"text","text":"[Request interrupted by user for tool use]"}]}}`
	cutThink   = `{"type":"assistant","uuid":"k1","message":{"id":"m3","content":[{"type":"thinking","thinking":"","signature":"s"}]}}`
	cutRefused = `{"type":"assistant","uuid":"e1","isApiErrorMessage":true,"message":{"id":"m4","content":[{"type":"text","text":"API Error: 400"}]}}`
	cutBound   = `{"type":"system","subtype":"compact_boundary","uuid":"b1","parentUuid":null}`
	cutSummary = `{"type":"user","isCompactSummary":true,"uuid":"s1","message":{"content":"This session is being continued"}}`
	cutCommand = `{"type":"user","uuid":"c1","message":{"content":"<command-name>/model</command-name>\n<command-args>x</command-args>"}}`
	cutPrinted = `{"type":"user","uuid":"c2","message":{"content":"<local-command-stdout>set</local-command-stdout>"}}`
	cutExpand  = `{"type":"user","uuid":"c3","isMeta":true,"message":{"content":"expanded"}}`
	cutQueued  = `{"type":"attachment","uuid":"q1","parentUuid":"r1","attachment":{"type":"queued_command","prompt":"and three"}}`
)

func TestCutCases(t *testing.T) {
	long := bufio.NewScanner(strings.NewReader(strings.Repeat("x", 100_000) + "\nnext\n"))
	hazards.Shown(t, hazards.H28, !long.Scan() && errors.Is(long.Err(), bufio.ErrTooLong), "a plain line scanner stops at the first line over 64 KiB")
	torn := json.Unmarshal([]byte(`{"type":"mo`), new(any))
	hazards.Shown(t, hazards.H28, torn != nil, "a file copied while the agent appends ends in a line that does not parse")
	hazards.Held(t, hazards.H28, "a cut ends after the last whole event that leaves no call without its result, and drops a prompt without an answer")
	for _, c := range []struct {
		name  string
		lines []string
		keep  int // lines
		open  string
	}{
		{"empty", nil, 0, ""},
		{"lone prompt", []string{cutPrompt}, 0, ""},
		{"answered", []string{cutPrompt, cutAnswer}, 2, ""},
		{"housekeeping after", []string{cutPrompt, cutAnswer, `{"type":"mode","mode":"x"}`, `{"type":"system","subtype":"turn_duration","uuid":"y"}`}, 4, ""},
		{"unknown after", []string{cutPrompt, cutAnswer, `{"type":"new-thing","prompt":"two"}`, `{"type":"mode"}`}, 2, ""},
		{"garbage after", []string{cutPrompt, cutAnswer, `{"type":"mo`, `{"type":"mode"}`}, 2, ""},
		{"garbage inside", []string{cutPrompt, `{"type":`, cutAnswer}, 3, ""},
		{"next prompt queued", []string{cutPrompt, cutAnswer, `{"type":"queue-operation","operation":"enqueue","content":"two"}`}, 2, ""},
		{"next prompt", []string{cutPrompt, cutAnswer, cutPrompt2}, 2, ""},
		{"call without result", []string{cutPrompt, cutAnswer, cutPrompt2, cutUse}, 2, "t1"},
		{"one result of two", []string{cutPrompt, cutAnswer, cutPrompt2, cutUse, cutUse2, cutResult}, 2, "t2"},
		{"all results", []string{cutPrompt, cutAnswer, cutPrompt2, cutUse, cutResult}, 5, ""},
		{"result before the next call", []string{cutPrompt, cutUse, cutResult, cutUse2}, 3, "t2"},
		{"call given up by a prompt", []string{cutPrompt, cutUse, cutPrompt2, cutAnswer}, 4, ""},
		{"call given up by another answer", []string{cutPrompt, cutUse, cutAnswer}, 3, ""},
		{"interrupted", []string{cutPrompt, cutUse, cutResult, cutStop}, 4, ""},
		{"interrupted without an answer", []string{cutPrompt, cutAnswer, cutPrompt2, cutStop}, 4, ""},
		{"thoughts alone", []string{cutPrompt, cutAnswer, cutPrompt2, cutThink}, 2, ""},
		{"refused", []string{cutPrompt, cutAnswer, cutPrompt2, cutRefused}, 4, ""},
		{"compaction begun", []string{cutPrompt, cutAnswer, cutBound}, 2, ""},
		{"compacted", []string{cutPrompt, cutAnswer, cutBound, cutSummary}, 4, ""},
		{"compacted before an answer", []string{cutPrompt, cutAnswer, cutPrompt2, cutBound, cutSummary}, 2, ""},
		{"local command", []string{cutPrompt, cutAnswer, cutCommand, cutPrinted}, 4, ""},
		{"local command first", []string{cutCommand, cutPrinted}, 0, ""},
		{"command that is a prompt", []string{cutPrompt, cutAnswer, cutCommand, cutExpand}, 2, ""},
		{"command that was answered", []string{cutPrompt, cutAnswer, cutCommand, cutExpand, cutAnswer}, 5, ""},
		{"words typed meanwhile", []string{cutPrompt, cutUse, cutResult, cutQueued}, 3, ""},
		{"words typed meanwhile and answered", []string{cutPrompt, cutUse, cutResult, cutQueued, cutAnswer}, 5, ""},
		{"last-prompt of the answered", []string{cutPrompt, cutAnswer, `{"type":"last-prompt","lastPrompt":"one","leafUuid":"a1"}`}, 3, ""},
		{"last-prompt of the next", []string{cutPrompt, cutAnswer, `{"type":"last-prompt","lastPrompt":"two","leafUuid":"a1"}`}, 2, ""},
		{"last-prompt that runs ahead", []string{cutPrompt, cutAnswer, `{"type":"last-prompt","lastPrompt":"one","leafUuid":"a9"}`}, 2, ""},
		{"attachment of the answer", []string{cutPrompt, cutAnswer, `{"type":"attachment","parentUuid":"a1","uuid":"x","attachment":{"type":"prompt_snapshot"}}`}, 3, ""},
		{"attachment of something to come", []string{cutPrompt, cutAnswer, `{"type":"attachment","parentUuid":"p9","uuid":"x","attachment":{"type":"file"}}`}, 2, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var all []byte
			var length int64
			for i, l := range c.lines {
				all = append(append(all, l...), '\n')
				if i+1 == c.keep {
					length = int64(len(all))
				}
			}
			cut := cutOf(t, all)
			if cut.Length != length || cut.Events != c.keep || cut.Dropped != len(c.lines)-c.keep {
				t.Errorf("cut %+v, want %d lines, %d bytes", cut, c.keep, length)
			}
			var open []string
			for _, tool := range cut.Open {
				open = append(open, tool.ID)
			}
			if strings.Join(open, " ") != c.open {
				t.Errorf("open calls %v, want %q", open, c.open)
			}
		})
	}
}

// idLines are lines that say nothing but have ids: enough of them, and a cut
// remembers no id from before.
func idLines(n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"type":"mode","uuid":"x%d"}`, i)
	}
	return lines
}

func FuzzCut(f *testing.F) {
	f.Add(linesOf(fixture(f, "2.0.77/tools.jsonl"))[1])
	f.Add([]byte(transcript(cutPrompt, cutUse, cutUse2, cutResult, cutStop, cutBound, cutSummary)))
	f.Add([]byte(transcript(cutPrompt, cutAnswer, cutCommand, cutExpand, cutQueued)))
	open := transcript(cutPrompt, cutAnswer, cutPrompt2, cutUse, cutCommand)
	ids := transcript(idLines(recent + 1)...)
	f.Fuzz(func(t *testing.T, b []byte) {
		sameEnd(t, append([]byte(open+ids), b...), len(open))
		cut := cutOf(t, b)
		if cut.Length > int64(len(b)) || cut.Length > 0 && b[cut.Length-1] != '\n' {
			t.Fatalf("cut at %d of %d", cut.Length, len(b))
		}
		if again := cutOf(t, b[:cut.Length]); again.Length != cut.Length || len(again.Open) > 0 {
			t.Fatalf("cut of a cut: %+v, then %+v", cut, again)
		}
		if want := bytes.Count(b[:cut.Length], []byte("\n")); cut.Events != want {
			t.Fatalf("%d lines kept, %d said", want, cut.Events)
		}
	})
}

// sameEnd compares the cut of the whole with that of its end from an offset on,
// and reports whether the end told.
func sameEnd(t interface {
	Helper()
	Fatalf(string, ...any)
}, b []byte, from int) bool {
	t.Helper()
	end, told, err := Adapter{}.CutEnd(bytes.NewReader(b[from:]), int64(from))
	if err != nil {
		t.Fatalf("from %d: %v", from, err)
	}
	if !told {
		return false
	}
	whole, err := Adapter{}.Cut(bytes.NewReader(b))
	if err != nil {
		t.Fatalf("from %d it tells of %+v, the whole %v", from, end, err)
	}
	if end.Events += bytes.Count(b[:from], []byte("\n")); !reflect.DeepEqual(end, whole) {
		t.Fatalf("from %d it is %+v, the whole %+v", from, end, whole)
	}
	return true
}

// TestCutEndOfTranscripts: long transcripts of real lines, of which the end is
// read from here and there on, line ends or not.
func TestCutEndOfTranscripts(t *testing.T) {
	for _, name := range transcripts {
		one := fixture(t, name)
		all := bytes.Repeat(one, 5+200/len(linesOf(one)))
		told := 0
		for part := range 16 {
			from := len(all) * part / 16
			for _, from := range []int{from, from + bytes.IndexByte(all[from:], '\n') + 1} {
				if sameEnd(t, all, from) {
					told++
				}
			}
		}
		if told == 0 {
			t.Errorf("%s: the end tells nothing, from wherever it is read", name)
		}
	}
}

// TestCutEndProperty: whatever lines come after each other, the end tells the
// same as the whole, or says that it does not.
func TestCutEndProperty(t *testing.T) {
	turn := transcript(cutPrompt, cutAnswer)
	if !sameEnd(t, []byte(turn+transcript(idLines(80)...)+turn), len(turn)) {
		t.Fatal("a turn after more lines than matter does not tell")
	}
	rapid.Check(t, cutEndProperty)
}

// FuzzCutEndProperty is TestCutEndProperty, led by coverage.
func FuzzCutEndProperty(f *testing.F) { draws.Fuzz(f, cutEndProperty) }

func cutEndProperty(t *rapid.T) {
	kinds := []string{
		cutPrompt, cutAnswer, cutPrompt2, cutUse, cutUse2, cutResult, cutStop, cutThink, cutRefused, cutBound, cutSummary,
		cutCommand, cutPrinted, cutExpand, cutQueued, `{"type":"mode"}`, `{"type":"mo`,
		`{"type":"assistant","uuid":"u9","message":{"content":[{"type":"tool_use","id":"t1","name":"Write","input":{}}]}}`,
		`{"type":"last-prompt","lastPrompt":"one","leafUuid":"a1"}`, `{"type":"last-prompt","lastPrompt":"two","leafUuid":"r1"}`,
		`{"type":"attachment","parentUuid":"a1","uuid":"x","attachment":{"type":"prompt_snapshot"}}`,
	}
	ids := idLines(80)
	draw := rapid.SampledFrom(kinds)
	before := rapid.SliceOfN(draw, 0, 30).Draw(t, "before")
	before = append(before, ids[:rapid.IntRange(0, len(ids)).Draw(t, "ids")]...)
	all := []byte(transcript(append(before, rapid.SliceOfN(draw, 0, 30).Draw(t, "after")...)...))
	from := rapid.IntRange(0, len(all)).Draw(t, "from")
	sameEnd(t, all, from)
}
