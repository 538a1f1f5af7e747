package codex

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

func opener(content string) func(string) (io.ReadCloser, error) {
	return func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }
}

func rewritten(t testing.TB, in string, to sessions.Rewrite) string {
	t.Helper()
	var out bytes.Buffer
	if err := (Adapter{}).Rewrite(&out, strings.NewReader(in), int64(len(in)), to); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func fork(from, to string) sessions.Rewrite {
	return sessions.Rewrite{OldID: idA, NewID: idB, OldCwd: from, NewCwd: to, OldRoot: from, NewRoot: to}
}

func TestRewriteCases(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{meta(idA), strings.ReplaceAll(strings.ReplaceAll(meta(idA), idA, idB), "/w", "/n")},
		// Of the ids only those that are this session's, and in no text.
		{`{"type":"event_msg","payload":{"thread_id":"` + idA + `", "session_id" : "` + idA + `","item":{"text":"` + idA + `","t":"\"id\":\"` + idA + `\""}}}`,
			`{"type":"event_msg","payload":{"thread_id":"` + idB + `", "session_id" : "` + idB + `","item":{"text":"` + idA + `","t":"\"id\":\"` + idA + `\""}}}`},
		{`{"type":"session_meta","payload":{"id":"` + idA + `","forked_from_id":"01a20240-cccc-70f3-8cf7-6473b39ae7cc","history_base":{"thread_id":"01a20240-cccc-70f3-8cf7-6473b39ae7cc","end_byte_offset":7}}}`,
			`{"type":"session_meta","payload":{"id":"` + idB + `","forked_from_id":"01a20240-cccc-70f3-8cf7-6473b39ae7cc","history_base":{"thread_id":"01a20240-cccc-70f3-8cf7-6473b39ae7cc","end_byte_offset":7}}}`},
		{`{"type":"event_msg","payload":{"item":{"cwd":"file:///w","roots":["/w"],"t":"cd /w/a && ls /wx"}}}`,
			`{"type":"event_msg","payload":{"item":{"cwd":"file:///n","roots":["/n"],"t":"cd /n/a && ls /wx"}}}`},
		{`{"type":"response_item","payload":{"type":"reasoning","summary":[{"text":"in /w/a"}],"encrypted_content":"/w"}}`, ""},
		{`{"type":"compacted","payload":{"x":"/w/a","encrypted_content" : "/w"}}`, `{"type":"compacted","payload":{"x":"/n/a","encrypted_content" : "/w"}}`},
		{`{"type":"event_msg","payload":{"t":"\"encrypted_content\":\"/w/a\""}}`, `{"type":"event_msg","payload":{"t":"\"encrypted_content\":\"/n/a\""}}`},
		{`no JSON: /w "id":"` + idA + `"`, ""},
	} {
		if c.want == "" {
			c.want = c.in
		}
		if got := rewritten(t, c.in+"\n", fork("/w", "/n")); got != c.want+"\n" {
			t.Errorf("%s\nbecame %s\nwant   %s", c.in, got, c.want)
		}
	}
}

// frozen is what a version of Rewrite has made of a fixture once.
type frozen struct {
	From, To   string
	Transcript string
	Without    int    `json:",omitempty"` // of its last lines
	Sum        string // SHA-256 of what comes out
}

// TestRewriteVersions: what forks have inherited is stored as its source and
// the version that made it, so what is frozen here never changes. UMBRA_FREEZE=1
// writes the file of a new version.
func TestRewriteVersions(t *testing.T) {
	for version := 1; version <= rewriteVersion; version++ {
		name := filepath.Join("testdata", "rewrite", fmt.Sprintf("v%d.json", version))
		b, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) && os.Getenv("UMBRA_FREEZE") == "1" {
			if b, err = json.MarshalIndent(freeze(t, version), "", "  "); err == nil {
				err = os.WriteFile(name, append(b, '\n'), 0o644)
			}
		}
		if err != nil {
			t.Fatalf("version %d is not frozen: %v", version, err)
		}
		var list []frozen
		if err := json.Unmarshal(b, &list); err != nil || len(list) == 0 {
			t.Fatal(len(list), err)
		}
		for _, f := range list {
			if f.sum(t, version) != f.Sum {
				t.Errorf("version %d gives other bytes of %s than it gave: recorded conversations of forks would be damaged", version, f.Transcript)
			}
		}
	}
	newer := fork("/a", "/b")
	newer.Version = (Adapter{}).RewriteVersion() + 1
	if err := (Adapter{}).Rewrite(io.Discard, strings.NewReader("{}\n"), 3, newer); !errors.Is(err, sessions.ErrRewriteVersion) {
		t.Errorf("a newer version: %v", err)
	}
}

// freeze takes each fixture whole, and the one of a talk also without its last
// line: as it was when hooks heard of the turn's end.
func freeze(t *testing.T, version int) []frozen {
	var list []frozen
	for _, f := range []frozen{{Transcript: "talk.jsonl"}, {Transcript: "talk.jsonl", Without: 1}, {Transcript: "thin.jsonl"}, {Transcript: "failed.jsonl"}, {Transcript: "interrupted.jsonl"}} {
		f.From, f.To = "/tmp/dev/w", "/srv/über \"forks\"/x"
		f.Sum = f.sum(t, version)
		list = append(list, f)
	}
	return list
}

func (f frozen) sum(t *testing.T, version int) string {
	t.Helper()
	lines := bytes.SplitAfter(fixture(t, f.Transcript), []byte("\n"))
	in := string(bytes.Join(lines[:len(lines)-1-f.Without], nil))
	to := fork(f.From, f.To)
	to.OldID, to.Version = read(t, []byte(in)).ID, version
	sum := sha256.Sum256([]byte(rewritten(t, in, to)))
	return hex.EncodeToString(sum[:])
}

func FuzzRewrite(f *testing.F) {
	for row := range bytes.Lines(fixture(f, "talk.jsonl")) {
		f.Add(row, "/tmp/dev/w", "/n")
	}
	f.Fuzz(func(t *testing.T, in []byte, from, dest string) {
		same := withoutClosing(rewritten(t, string(in), fork(from, from)))
		if want := in[:bytes.LastIndexByte(in, '\n')+1]; !bytes.Contains(in, []byte(idA)) && !bytes.Contains(in, []byte(agentMember)) && same != string(want) {
			t.Errorf("to the same place %q became %q", want, same)
		}
		out := withoutClosing(rewritten(t, string(in), fork(from, dest)))
		if strings.Count(out, "\n") != bytes.Count(in, []byte("\n")) {
			t.Errorf("%d lines of %q became %q", bytes.Count(in, []byte("\n")), in, out)
		}
	})
}

// withoutClosing is a copy without the line that ends its last turn, if it got
// one.
func withoutClosing(out string) string {
	at := strings.LastIndexByte(strings.TrimSuffix(out, "\n"), '\n') + 1
	if end := closing([]byte(out[:at])); len(end) > 0 && out[at:] == string(end) {
		return out[:at]
	}
	return out
}

// TestRewriteEndsTurn: a conversation as it is when hooks hear of a turn's end
// lacks the line by which Codex ends it; its copy has one, and ends as the whole
// one does.
func TestRewriteEndsTurn(t *testing.T) {
	lines := strings.SplitAfter(string(fixture(t, "talk.jsonl")), "\n")
	lines = lines[:len(lines)-1]
	last := len(lines) - 1 // ends the third turn
	to := fork("/w", "/w")
	for _, c := range []struct {
		name string
		in   []string
		ends bool
	}{
		{"whole", lines, false},
		{"at Stop", lines[:last], true},
		{"with no count of tokens", lines[:last-2], true},
		{"within a turn", lines[:44], false}, // after a tool's result
		{"a prompt alone", lines[:55], false},
		{"the first line", lines[:1], false},
		{"a line that is none", append(slices.Clone(lines[:last]), "what\n"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := strings.Join(c.in, "")
			added := strings.TrimPrefix(rewritten(t, in, to), in)
			if !c.ends {
				if added != "" {
					t.Errorf("%s was added", added)
				}
				return
			}
			end, ok := parseLine([]byte(strings.TrimSuffix(added, "\n")))
			want, _ := parseLine([]byte(lines[last]))
			if !ok || end.classify() != classDone || end.turn() != want.turn() || end.ordinal != int64(len(c.in)) || len(end.time) == 0 {
				t.Fatalf("added is %q", added)
			}
			whole := read(t, []byte(strings.Join(lines, "")))
			got := read(t, []byte(in+added))
			if len(got.Turns) != len(whole.Turns) || !got.Turns[2].Done || got.State != whole.State {
				t.Errorf("with its end it reads as %+v", got.Turns[len(got.Turns)-1])
			}
			if again := rewritten(t, in+added, to); again != in+added {
				t.Error("a copy of a copy is ended twice")
			}
		})
	}
	t.Run("itself", func(t *testing.T) {
		in := strings.Join(lines[:last], "")
		if got := rewritten(t, in, sessions.Rewrite{OldID: idA, NewID: idA}); got != in {
			t.Error("what is not copied was ended")
		}
	})
	t.Run("a commentary", func(t *testing.T) {
		in := `{"timestamp":"2026-11-22T08:02:38.975Z","ordinal":0,"type":"response_item","payload":{"type":"message","role":"assistant","phase":"commentary","turn_id":"t1"}}` + "\n"
		if got := rewritten(t, in, to); got != in {
			t.Errorf("words in the middle of a turn have ended it: %s", got)
		}
		if final := strings.Replace(in, "commentary", "final_answer", 1); rewritten(t, final, to) == final {
			t.Error("the last words have not")
		}
	})
}

// TestRewriteWriterFails: what can't be written is an error, the last line too.
func TestRewriteWriterFails(t *testing.T) {
	lines := strings.SplitAfter(string(fixture(t, "talk.jsonl")), "\n")
	in := strings.Join(lines[:len(lines)-2], "")
	for _, room := range []int{0, len(in)} {
		full := &fullWriter{room: room}
		if err := (Adapter{}).Rewrite(full, strings.NewReader(in), int64(len(in)), fork("/w", "/w")); !errors.Is(err, errFull) {
			t.Errorf("with room for %d bytes: %v", room, err)
		}
	}
}

var errFull = errors.New("no space")

type fullWriter struct{ room int }

func (w *fullWriter) Write(p []byte) (int, error) {
	if len(p) > w.room {
		return 0, errFull
	}
	w.room -= len(p)
	return len(p), nil
}

// FuzzRead reads and cuts lines in any order, and among them such as nobody
// wrote.
func FuzzRead(f *testing.F) {
	lines := []string{
		meta(idA), heir, started, prompt("a"), answer("b"), call, call2, output, output2, thought, searched, usage, complete, refused, aborted,
		`{"type":"compacted","payload":{}}`, `{"type":"event_msg","payload":{"type":"user_message","message":"old"}}`,
	}
	f.Add([]byte{0, 2, 3, 5, 6, 8, 7, 9, 4, 11, 12}, []byte("what\n"))
	f.Add([]byte{1, 3, 10, 17, 4, 3, 14, 15, 17}, []byte(`{"type":"event_msg","payload":{"type":"item_completed","item":{"status":"failed","id":"c1"}}}`))
	f.Fuzz(func(t *testing.T, picks, raw []byte) {
		var in []byte
		for _, pick := range picks {
			line := raw
			if n := int(pick) % (len(lines) + 1); n < len(lines) {
				line = []byte(lines[n] + "\n")
			}
			in = append(in, line...)
		}
		c := read(t, in)
		for i, turn := range c.Turns {
			if turn.Start > turn.Stop || turn.Stop > c.Length {
				t.Errorf("turn %d is [%d, %d) of %d", i, turn.Start, turn.Stop, c.Length)
			}
		}
		cut, err := Adapter{}.Cut(bytes.NewReader(in))
		if errors.Is(err, sessions.ErrEmptyCut) {
			return
		}
		if err != nil || cut.Length > c.Length || in[cut.Length-1] != '\n' {
			t.Fatalf("cut %+v, %v", cut, err)
		}
		if again, err := (Adapter{}).Cut(bytes.NewReader(in[:cut.Length])); err != nil || again.Length != cut.Length {
			t.Errorf("a cut of a cut: %+v, %v", again, err)
		}
		for from := range 4 {
			at := len(in) * from / 4
			if end, told, err := (Adapter{}).CutEnd(bytes.NewReader(in[at:]), int64(at)); err != nil || told && end.Length != cut.Length {
				t.Errorf("cut from %d on at %d, %v; from the beginning at %d", at, end.Length, err, cut.Length)
			}
		}
	})
}
