package complete

import (
	"slices"
	"testing"
)

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
