package claude

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// transcripts are real ones, written by the real clients; only system prompts
// are elided in them.
var transcripts = []string{
	"2.0.77/tools.jsonl",
	"2.1.197/tools.jsonl",
	"2.1.329/basic-p.jsonl",
	"2.1.329/file-history/55555555-5555-4555-8555-555555555555.jsonl",
	"2.1.329/killed-then-resumed.jsonl",
	"2.1.329/native-fork-session.jsonl",
	"2.1.329/parallel-thinking.jsonl",
	"2.1.329/resume3turns.jsonl",
	"2.1.329/tools-subagent-compact/85b30534-6164-4966-a9c1-bdcae92e15c6.jsonl",
	"2.1.329/tui-branch-compact.jsonl",
	"2.1.329/tui-rewind.jsonl",
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// linesOf splits a transcript into its lines, line ends included.
func linesOf(b []byte) [][]byte {
	lines := bytes.SplitAfter(b, []byte("\n"))
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// transcript joins lines of JSON, given without line ends.
func transcript(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

func mkfile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
