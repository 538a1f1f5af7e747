package commands

import (
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/commands/call"
)

// valuesOf are the values a shell is given for a line that ends at the cursor.
func valuesOf(words ...string) []string {
	c := &call.Call{}
	var values []string
	for _, f := range candidates(c, readTyped(allVerbs(), new(call.Globals).Flags(), words)).list {
		values = append(values, f.value)
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
		"config get fork.copy":         {"fork.copy_limit"},
		"completion z":                 {"zsh"},
		"complete":                     nil, // hidden
		"nosuch ":                      nil,
		"nosuch --js":                  nil,
		"man mis":                      {"mission"},
		"man con":                      {"config", "concepts"},
		"man mission wa":               {"wait"},
		"man show ":                    nil,
		"man nosuch ":                  nil,
		"restore --path a --keep":      {"--keep-others"},
	} {
		if got := valuesOf(strings.Split(line, " ")...); !slices.Equal(got, want) {
			t.Errorf("%q is completed to %q, want %q", line, got, want)
		}
	}
}

// TestCompleteBash: bash hands over a line, and replaces only what stands behind
// the last of its word breaks.
func TestCompleteBash(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"umbra log --state ":     {"log", "--state", ""},
		`X=1 umbra cat a "b c`:   {"cat", "a", "b c"},
		`umbra cat a\ b 'c"d' e`: {"cat", "a b", `c"d`, "e"},
		"umbra ":                 {""},
	} {
		if got := shellWords(line); !slices.Equal(got, want) {
			t.Errorf("%q are the words %q, want %q", line, got, want)
		}
	}
	const breaks = "\"'@><=;|&(:"
	for word, want := range map[string]int{"login@": 5, "--state=id": 8, "plain": 0, "": 0, "a@{10m}": 1} {
		if got := broken(word, breaks); got != want {
			t.Errorf("bash replaces %q from %d, want %d", word, got, want)
		}
	}
	f := found{list: []candidate{{"login@1", "turn\x1b ended"}, {"login@start", "it begins"}}}
	f.forBash("login@", completeOptions{breaks: breaks, listing: "9", width: 80})
	if got := string(f.lines()); got != "\n@1      (turn\\x1b ended)\n@start  (it begins)\n" {
		t.Errorf("the answer is %q", got)
	}
}
