package hook

import (
	"strings"
	"testing"
)

func TestSideArgs(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"/umbra": "", "/umbra help": "", "/umbra forks": "",
		"/umbra fork":                  "fork enter",
		"/umbra fork --try it, maybe":  "fork enter --topic=--try it, maybe",
		"/umbra fork --in-place":       "fork enter --in-place",
		"/umbra fork --in-place a map": "fork enter --in-place --topic=a map",
		"/umbra exit":                  "fork exit",
		"/umbra report":                "fork report id",
		"/umbra report a map is it":    "fork report id a map is it",
		"/umbra promote":               "promote",
	} {
		words := askedWords(typed)
		if got := strings.Join(sideArgs(words, "id"), " "); got != want || !isAboutSideForks(words) {
			t.Errorf("%q is umbra %s, want umbra %s", typed, got, want)
		}
	}
	if isAboutSideForks(askedWords("umbra fork")) {
		t.Error("a snapshot's name is taken for a command")
	}
}
