package secrets

import (
	"strings"
	"testing"
)

// TestGivenOfOddLetters: what becomes longer as small letters is judged as all else. Each
// value has no room behind it.
func TestGivenOfOddLetters(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		value string
		given bool
	}{
		"Latin-1":       {strings.Repeat("\xe9", 12) + "your", false},
		"growing":       {strings.Repeat("Ⱥ", 20) + "example", false},
		"beyond a look": {strings.Repeat("\xff", 2*mostJudged) + "your", true},
		"capital":       {"EXAMPLE", false},
		"before":        {"YOUR" + strings.Repeat("\xe9", 40), false},
	} {
		exact := []byte(c.value)
		if IsGiven(exact[:len(exact):len(exact)]) != c.given {
			t.Errorf("%s: given is %v", name, !c.given)
		}
		for _, text := range []string{"https://me:" + c.value + "@h/x.git", "password: " + c.value, "API_KEY=" + c.value} {
			if got := Redact([]byte(text)); len(got) == 0 {
				t.Errorf("%s: nothing is left of %q", name, text)
			}
		}
	}
}
