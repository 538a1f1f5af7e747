package gemini

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
)

const thisID = "4095d511-3295-4752-a34c-9cc5df57c553"

func fork(from, to string) sessions.Rewrite {
	return sessions.Rewrite{
		OldID: thisID, NewID: otherID, OldCwd: from, NewCwd: to, OldRoot: from, NewRoot: to,
		Now: time.Date(2026, 11, 22, 9, 8, 7, 6543210, time.FixedZone("", 3600)),
	}
}

func rewritten(t testing.TB, in string, to sessions.Rewrite) string {
	t.Helper()
	var out bytes.Buffer
	if err := (Adapter{}).Rewrite(&out, strings.NewReader(in), int64(len(in)), to); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

type rewriteForm struct{ name, in, want string }

// rewriteForms are lines and what a fork from /w to /f makes of them.
func rewriteForms() []rewriteForm {
	return []rewriteForm{
		{
			"header", `{"sessionId":"` + thisID + `","projectHash":"` + hashOf("/w") + `","lastUpdated":"x","kind":"main"}`,
			`{"sessionId":"` + otherID + `","projectHash":"` + hashOf("/f") + `","lastUpdated":"2026-11-22T08:08:07.006Z","kind":"main"}`,
		},
		{
			"patch", `{"$set":{"sessionId":"` + thisID + `","lastUpdated":"x","directories":["/w/a"]}}`,
			`{"$set":{"sessionId":"` + otherID + `","lastUpdated":"2026-11-22T08:08:07.006Z","directories":["/f/a"]}}`,
		},
		{"another's", `{"sessionId":"` + otherID[1:] + `0","projectHash":"` + hashOf("/x") + `"}`, `{"sessionId":"` + otherID[1:] + `0","projectHash":"` + hashOf("/x") + `"}`},
		{"id in a text", `{"id":"m","content":"` + thisID + `"}`, `{"id":"m","content":"` + thisID + `"}`},
		{"paths", `{"id":"m","content":[{"text":"in /w/a, not /wx"}],"toolCalls":[{"args":{"file_path":"\/w\/b"}}]}`, `{"id":"m","content":[{"text":"in /f/a, not /wx"}],"toolCalls":[{"args":{"file_path":"\/f\/b"}}]}`},
		{
			"signed", `{"id":"m","content":[{"functionCall":{"args":{"p":"/w/a"}},"thoughtSignature":"c2ln"},{"text":"/w/b"},{"text":"/w/c","thoughtSignature":""}]}`,
			`{"id":"m","content":[{"functionCall":{"args":{"p":"/w/a"}},"thoughtSignature":"c2ln"},{"text":"/f/b"},{"text":"/f/c","thoughtSignature":""}]}`,
		},
		{"no JSON", `in /w/a`, `in /w/a`},
		{"nested", `{"id":"m","x":{"$set":{"sessionId":"` + thisID + `"}}}`, `{"id":"m","x":{"$set":{"sessionId":"` + thisID + `"}}}`},
	}
}

func TestRewrite(t *testing.T) {
	for _, c := range rewriteForms() {
		if got := rewritten(t, c.in+"\n", fork("/w", "/f")); got != c.want+"\n" {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	var timeless = fork("/w", "/f")
	timeless.Now = time.Time{}
	const line = `{"sessionId":"x","lastUpdated":"y"}` + "\n"
	if got := rewritten(t, line, timeless); got != line {
		t.Errorf("without a time: %s", got)
	}
	const tooDeep = 300
	deep := strings.Repeat(`[`, tooDeep) + `"/w/a","thoughtSignature"` + strings.Repeat(`]`, tooDeep)
	if in := `{"id":"m","content":` + deep + "}\n"; rewritten(t, in, fork("/w", "/f")) != in {
		t.Error("what is too deep to be looked into is changed")
	}
}

// frozen is what a version of Rewrite has made of something once.
type frozen struct {
	From       string `json:"from"`
	To         string `json:"to"`
	In         string `json:"in,omitempty"`
	Transcript string `json:"transcript,omitempty"` // a fixture, instead of In
	Sum        string `json:"sha256"`               // of what comes out
}

// TestRewriteVersions: what forks have inherited is stored as its source and the
// version that made it. So what is frozen here never changes: for any other
// bytes there must be a new version beside the old ones, with a file of its own.
// UMBRA_FREEZE=1 writes the file of a new version.
func TestRewriteVersions(t *testing.T) {
	for version := 1; version <= (Adapter{}).RewriteVersion(); version++ {
		name := filepath.Join("testdata", "rewrite", "v"+strconv.Itoa(version)+".jsonl")
		b, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) && os.Getenv("UMBRA_FREEZE") == "1" {
			b = freeze(t, version)
			mkfile(t, name, string(b))
		} else if err != nil {
			t.Fatalf("version %d is not frozen: %v", version, err)
		}
		lines := json.NewDecoder(bytes.NewReader(b))
		for n := 1; lines.More(); n++ {
			var f frozen
			if err := lines.Decode(&f); err != nil {
				t.Fatal(err)
			}
			if f.sum(t, version) != f.Sum {
				t.Errorf("%s:%d: version %d gives other bytes than it gave: recorded conversations of forks would be damaged", name, n, version)
			}
		}
	}
	newer := fork("/a", "/b")
	newer.Version = (Adapter{}).RewriteVersion() + 1
	if err := (Adapter{}).Rewrite(io.Discard, strings.NewReader("{}\n"), 3, newer); !errors.Is(err, sessions.ErrRewriteVersion) {
		t.Errorf("a newer version: %v", err)
	}
}

func (f frozen) sum(t *testing.T, version int) string {
	t.Helper()
	in := f.In
	if f.Transcript != "" {
		in = string(fixture(t, f.Transcript))
	}
	to := fork(f.From, f.To)
	to.Version = version
	sum := sha256.Sum256([]byte(rewritten(t, in, to)))
	return hex.EncodeToString(sum[:])
}

func freeze(t *testing.T, version int) []byte {
	t.Helper()
	var list []frozen
	for _, name := range transcripts {
		list = append(list, frozen{From: read(t, fixture(t, name)).Cwd, To: "/srv/über \"forks\"/x", Transcript: name})
	}
	for _, c := range rewriteForms() {
		list = append(list, frozen{From: "/w", To: "/f", In: c.in + "\n"})
	}
	var out bytes.Buffer
	for _, f := range list {
		f.Sum = f.sum(t, version)
		b, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(b, '\n'))
	}
	return out.Bytes()
}

func FuzzRewrite(f *testing.F) {
	for _, c := range rewriteForms() {
		f.Add([]byte(c.in))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		there, back := fork("/w", "/f"), fork("/f", "/w")
		there.Now, back.Now = time.Time{}, time.Time{}
		got := rewritten(t, string(b), there)
		whole := b[:bytes.LastIndexByte(b, '\n')+1]
		if bytes.Count(whole, []byte("\n")) != strings.Count(got, "\n") || got != "" && !strings.HasSuffix(got, "\n") {
			t.Fatalf("%q became %q", whole, got)
		}
		same := there
		same.NewID, same.NewCwd, same.NewRoot = same.OldID, same.OldCwd, same.OldRoot
		if got := rewritten(t, string(b), same); got != string(whole) {
			t.Fatalf("to the same place: %q became %q", whole, got)
		}
	})
}
