package claude

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

	"github.com/umbra-vcs/umbra/sessions"
)

// frozen is what a version of Rewrite has made of something once.
type frozen struct {
	From       string `json:"from"`
	To         string `json:"to"`
	In         string `json:"in,omitempty"`
	Transcript string `json:"transcript,omitempty"` // a fixture, instead of In
	Sum        string `json:"sha256"`               // of what comes out
}

// TestRewriteVersions: what forks have inherited is stored as its source and
// the version that made it. So what is frozen here never changes: for any other
// bytes, be they more right, there must be a new version beside the old ones,
// with a file of its own. UMBRA_FREEZE=1 writes the file of a new version.
func TestRewriteVersions(t *testing.T) {
	for version := 1; version <= (Adapter{}).RewriteVersion(); version++ {
		name := filepath.Join("testdata", "rewrite", "v"+strconv.Itoa(version)+".jsonl")
		b, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) && os.Getenv("UMBRA_FREEZE") == "1" {
			b = freeze(t, version)
			if err := os.WriteFile(name, b, 0o644); err != nil {
				t.Fatal(err)
			}
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
		list = append(list, frozen{From: "/home/dev/w2", To: "/srv/über \"forks\"/x", Transcript: name})
	}
	for _, c := range rewriteForms() {
		if c.name != "not UTF-8" { // which JSON could not hold
			list = append(list, frozen{From: c.from, To: c.to, In: c.line(c.in)})
		}
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
