package hook

import (
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/missions"
)

func TestAskedWords(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string][]string{
		"":                             nil,
		"  list  ":                     {"list"},
		"diff @1 @2 -- a.txt":          {"diff", "@1", "@2", "--", "a.txt"},
		`restore "@{10m ago}" '--all'`: {"restore", "@{10m ago}", "--all"},
		"before Ada's change":          {"before", "Ada's", "change"},
		`log --grep ""`:                {"log", "--grep", ""},
		`an "open quote`:               {"an", "open quote"},
	} {
		if got := askedWords(typed); !slices.Equal(got, want) {
			t.Errorf("%q is %q, want %q", typed, got, want)
		}
	}
}

func TestAskedArgs(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"":                     "snapshot",
		"good":                 "snapshot --pin good",
		"before it went":       "snapshot -m before it went",
		"list":                 "log -n 15",
		"list -n 3":            "log -n 3",
		"restore @2":           "restore @2",
		"restore 2.1 --path 3": "restore @2.1 --path 3",
		"restore --all start":  "restore --all @start",
		"diff -1 fork -- 7":    "diff @-1 @fork -- 7",
		"diff --turn 3":        "diff --turn 3",
		"show 1234":            "show 1234",
		"log 2":                "log 2 -n 15",
		"Restore":              "snapshot --pin Restore",
		"undo":                 "undo",
	} {
		args, _ := askedArgs(askedWords(typed))
		if got := strings.Join(args, " "); got != want {
			t.Errorf("%q is umbra %s, want umbra %s", typed, got, want)
		}
	}
}

func TestCutAnswer(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"x\n", strings.Repeat("y", 500) + "\n"} {
		got := cutAnswer(strings.Repeat(line, 200))
		if n := strings.Count(got, "\n"); n > mostAskedLines || len(got) > mostAskedBytes+200 || !strings.HasSuffix(got, "shows it all") {
			t.Errorf("%d lines, %d bytes: …%q", n, len(got), got[max(0, len(got)-60):])
		}
	}
	if got := cutAnswer("a\nb"); got != "a\nb" {
		t.Errorf("a short answer became %q", got)
	}
}

func TestAskedForHelp(t *testing.T) {
	t.Parallel()
	if got := carryOut(call.Env{}, missions.HookResult{Asked: &missions.AskedCommand{Words: "help"}}); got != askedHelp {
		t.Errorf("help: %q", got)
	}
}
