package secrets

import (
	"slices"
	"strings"
	"testing"
)

// TestFind: what Redact takes out is listed by its place.
func TestFind(t *testing.T) {
	t.Parallel()
	token := "ghp_" + lot(1, 36, &alphanumeric)
	text := []byte("before " + token + " between AKIA" + lot(2, 16, &base32))
	want := []Found{{"github-token", 7, 7 + len(token)}, {"aws-key", len(text) - 20, len(text)}}
	if got := Find(text); !slices.Equal(got, want) {
		t.Errorf("found %+v, want %+v", got, want)
	}
	if got := Find([]byte(strings.Repeat("nothing here ", 100))); len(got) > 0 {
		t.Errorf("found %+v", got)
	}
}
