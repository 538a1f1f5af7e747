package remotes

import (
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/secretnames"
)

// TestSecretNames: the patterns of one project file take nothing out of the others.
func TestSecretNames(t *testing.T) {
	t.Parallel()
	names := secretNames{
		secretnames.Compile([]string{"*.env", "*.key"}),
		secretnames.Compile([]string{"!*.env", "pass.txt"}),
		secretnames.Compile([]string{"!pass.txt", "/own/talk.key"}),
	}
	for file, want := range map[string][2]bool{ // as a text, and as an archive
		"conf/prod.env": {true, true},
		"pass.txt":      {true, true},
		"deep/pass.txt": {true, true},
		"talk.key":      {true, false},
		"own/talk.key":  {true, true},
		"a.txt":         {false, false},
	} {
		for i, isArchive := range []bool{false, true} {
			if got := names.match(file, isArchive); got != want[i] {
				t.Errorf("%s, an archive: %t: %t", file, isArchive, got)
			}
		}
	}
}
