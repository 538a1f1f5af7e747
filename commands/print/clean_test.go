package print

import (
	"strings"
	"testing"
)

func TestClean(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain ü 世界":          "plain ü 世界",
		"a\x1b[2Jb":           `a\x1b[2Jb`,
		"two\nlines\tand\rcr": `two\nlines\tand\rcr`,
		"\u009b31m":           `\u009b31m`,
		"not \xff utf-8":      `not \xff utf-8`,
		"txt\u202egpj":        `txt\u202egpj`,
		"del\x7f":             `del\x7f`,
	} {
		if got := Clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
	if got := CleanLines("+a\tb\n-\x1b]0;x\x07\n"); got != "+a\tb\n-\\x1b]0;x\\x07\n" {
		t.Errorf("cleanLines: %q", got)
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\x1b[0m\xff")
	f.Fuzz(func(t *testing.T, s string) {
		if got := Clean(s); strings.ContainsFunc(got, unfit) {
			t.Errorf("clean(%q) = %q", s, got)
		}
	})
}

func TestQuotePath(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"a b/c": "a b/c", "a\nb": `"a\nb"`, `q"`: `"q\""`} {
		if got := Path(in); got != want {
			t.Errorf("quotePath(%q) = %s, want %s", in, got, want)
		}
	}
}
