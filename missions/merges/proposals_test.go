package merges

import "testing"

// TestReasonFor: agents mark paths as they like.
func TestReasonFor(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		"done\na.go: keeps both\n":            "keeps both",
		"- `a.go`: keeps both":                "keeps both",
		"* **a.go**: keeps both":              "keeps both",
		"a.gob: another\nb/a.go: another one": "",
		"":                                    "",
	} {
		if got := reasonFor("a.go", answer); got != want {
			t.Errorf("%q: %q, want %q", answer, got, want)
		}
	}
}
