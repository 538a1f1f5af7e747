package secrets

import (
	"strings"
	"testing"
)

// TestRedactPart: a part, whose secrets the whole text tells.
func TestRedactPart(t *testing.T) {
	t.Parallel()
	token := "ghp_" + strings.Repeat("a7Kq2Zx9", 5)[:36]
	text := "a\nuse " + token + " now\nand " + token + "\nend\n"
	for start := range len(text) {
		for end := start; end <= len(text); end++ {
			part := string(RedactPart([]byte(text), start, end))
			overlaps := false
			for i := strings.Index(text, token); i >= 0; {
				overlaps = overlaps || start < i+len(token) && end > i
				next := strings.Index(text[i+1:], token)
				if next < 0 {
					break
				}
				i += 1 + next
			}
			if plain := text[start:end]; !overlaps && part != plain {
				t.Fatalf("%q becomes %q", plain, part)
			}
			if strings.Contains(part, "a7Kq2Zx9") {
				t.Fatalf("%d to %d: %q", start, end, part)
			}
		}
	}
	if got, want := string(RedactPart([]byte(text), 0, len(text))), string(Redact([]byte(text))); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := string(RedactPart([]byte(text), len(text)-4, len(text))); got != "end\n" {
		t.Errorf("%q", got)
	}
}
