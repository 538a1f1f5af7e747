package merges_test

import (
	"testing"

	"github.com/umbra-vcs/umbra/missions/merges"
)

// TestHasMarks: the marks of a merge within a merge are marks too; a title's line is none.
func TestHasMarks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"<<<<<<< a\n1\n=======\n2\n>>>>>>> b\n":    true,
		"<<<<<<<< a\n1\n========\n2\n>>>>>>>> b\n": true,
		"<<<<<< a\n1\n>>>>>> b\n":                  false,
		">>>>>>> b\n":                              false,
	} {
		if got := merges.HasMarks([]byte(text)); got != want {
			t.Errorf("HasMarks(%q) = %v", text, got)
		}
	}
}
