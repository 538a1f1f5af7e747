package commands

import (
	"slices"
	"strings"
	"testing"
)

// valuesOf are the values a shell is given for a line that ends at the cursor.
func valuesOf(t *testing.T, words ...string) []string {
	t.Helper()
	b := newBench(t, nil)
	if code := b.run(append([]string{"complete", "zsh", "--"}, words...)...); code != 0 {
		t.Fatalf("%q: exit code %d: %s", words, code, b.Stderr.String())
	}
	_, list, _ := strings.Cut(b.Stdout.String(), "\n") // the first line says how to go on
	var values []string
	for line := range strings.Lines(list) {
		value, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		values = append(values, value)
	}
	return values
}

// TestCompleteWords: what needs no Service is read off the tables of verbs.
func TestCompleteWords(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"rest":                         {"restore"},
		"mission re":                   {"resume", "rename"},
		"help mission re":              {"resume", "rename"},
		"--home x --json rest":         {"restore"},
		"restore --pre":                {"--preview"},
		"log --state=id":               {"--state=idle"},
		"log --state id":               {"idle"},
		"mission wait --state idle,wa": {"idle,waiting"},
		"--color a":                    {"auto", "always"},
		"fork --ignored ":              {"copy", "skip"},
		"hooks install cl":             {"claude"},
		"hooks install claude ":        nil, // it takes one
		"hook ge":                      {"gemini", "generic"},
		"hook v":                       {"vim", "vscode"},
		"mission new --agent g":        {"gemini"},
		"mission new -- --ag":          nil, // what follows is the agent's own
		"git -- show-r":                {"show-ref"},
		"git show-r":                   {"show-ref"},
		"git log --js":                 nil,
		"mission ls --js":              {"--json"},
		"config get fork.copy":         {"fork.copy_limit"},
		"completion z":                 {"zsh"},
		"complete":                     nil, // hidden
		"nosuch ":                      nil,
		"nosuch --js":                  nil,
		"man mis":                      {"mission"},
		"man con":                      {"contest", "config", "concepts"},
		"man mission wa":               {"wait"},
		"man show ":                    nil,
		"man nosuch ":                  nil,
		"restore --path a --keep":      {"--keep-others"},
	} {
		if got := valuesOf(t, strings.Split(line, " ")...); !slices.Equal(got, want) {
			t.Errorf("%q is completed to %q, want %q", line, got, want)
		}
	}
}
