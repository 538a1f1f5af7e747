package sessions

import (
	"slices"
	"testing"
)

// TestPatched: each file that a patch names is found, and nothing that it writes
// into one.
func TestPatched(t *testing.T) {
	for patch, want := range map[string][]string{
		"":                         nil,
		"echo '*** Add File: a'\n": nil,
		"*** Begin Patch\n*** Add File: a b.txt\n+*** Delete File: no\n*** Update File: /w/b\r\n*** Move to:c \n@@\n-*** Add File: no\n*** Delete File: d\n*** End Patch": {"a b.txt", "/w/b", "c", "d"},
		"*** Begin Patch\n*** Add File:\n*** Update File: e": {"e"},
	} {
		if got := Patched(patch); !slices.Equal(got, want) {
			t.Errorf("%q names %q, want %q", patch, got, want)
		}
	}
}
