package contests

import (
	"bytes"
	"testing"

	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// TestDifferencesOfRenamedFile: below the old name of a file it says which fork has renamed
// it and to what, beside the lines that another fork has changed there.
func TestDifferencesOfRenamedFile(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := print.To(&out)
	WriteDifferences(p, []missions.ComparedFork{
		{
			Comparison: missions.Comparison{Mission: "mover"},
			Changes:    []missions.FileChange{{Path: "new.txt", OldPath: "moved.txt", Type: "renamed"}},
			Patches:    []string{"rename from moved.txt\n"},
		},
		{
			Comparison: missions.Comparison{Mission: "editor"},
			Changes:    []missions.FileChange{{Path: "moved.txt", Type: "modified", Added: 1}},
			Patches:    []string{"+edited\n"},
		},
		{Comparison: missions.Comparison{Mission: "idle"}},
	})
	want := "\nmoved.txt\nin mover: renamed to new.txt\nin editor: modified, +1 −0\n+edited\nin idle: as it was\n" +
		"\nnew.txt\nin mover: renamed, +0 −0\nrename from moved.txt\nin editor: as it was\nin idle: as it was\n"
	if err := p.Flush(); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != want {
		t.Errorf("printed is\n%s\nwant\n%s", got, want)
	}
}
