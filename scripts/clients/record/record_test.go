package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
)

func TestMain(m *testing.M) { os.Exit(clients.Main(m)) }

// TestRecord records a client anew: what it writes has the shape of what is kept, so
// that the command still works when it is needed, for a version that comes.
func TestRecord(t *testing.T) {
	clients.Claude(t, clients.ClaudeMiddle)
	if _, err := os.Stat(place); err == nil {
		t.Fatalf("%s is there: another recording runs, or was killed", place)
	}
	list, err := named([]string{"claude@" + clients.ClaudeMiddle})
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	out := t.TempDir()
	if err := record(context.Background(), list[0], out); err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join("..", "..", "..", "sessions", "claude", "testdata", clients.ClaudeMiddle, "recorded")
	for _, name := range []string{"talk.jsonl", "failed.jsonl", "interrupted.jsonl", "forked.jsonl"} {
		got, want := shape(t, filepath.Join(out, name)), shape(t, filepath.Join(kept, name))
		if name == "interrupted.jsonl" && len(got) > len(want)/2 {
			want = want[:min(len(got), len(want))] // what comes after the signal is a race of the client's own
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has lines of\n%s\nwhat is kept has\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	if got := shape(t, filepath.Join(out, "hooks.jsonl")); len(got) == 0 {
		t.Error("no hook was heard")
	}
}

// shape is the types of a file's lines, in order.
func shape(t *testing.T, file string) (types []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var typed struct{ Type string }
		if err := json.Unmarshal([]byte(line), &typed); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		types = append(types, typed.Type)
	}
	return types
}

func TestNamed(t *testing.T) {
	for words, want := range map[string]int{"": 9, "claude": 3, "codex gemini": 2, "claude@2.0.77 opencode@" + clients.OpenCodeCurrent: 2} {
		if list, err := named(strings.Fields(words)); err != nil || len(list) != want {
			t.Errorf("%q names %d clients, %v; want %d", words, len(list), err, want)
		}
	}
	for _, word := range []string{"claud", "claude@9", "@"} {
		if _, err := named([]string{word}); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%q is refused with %v", word, err)
		}
	}
}
