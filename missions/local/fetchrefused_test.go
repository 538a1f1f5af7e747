package local

import (
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/missions"
)

// TestRefusedMissionStaysAStrangers: the snapshots of a mission that a fetch has brought and
// refused make it none of this home, for doctor.
func TestRefusedMissionStaysAStrangers(t *testing.T) {
	t.Parallel()
	c := startRemote(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	c.takeTurn("second", "b.txt", "two\n")
	c.push()
	out, err := git.Run(t.Context(), git.Command{GitDir: c.url, Args: []string{"for-each-ref", "--format=%(refname) %(objectname)"}})
	if err != nil {
		t.Fatal(err)
	}
	var record, tip string
	for line := range strings.Lines(string(out)) {
		name, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.Contains(name, "/records/") {
			record = name
		} else {
			tip = id
		}
	}
	if _, err := git.Run(t.Context(), git.Command{GitDir: c.url, Args: []string{"update-ref", record, tip}}); err != nil {
		t.Fatal(err)
	}
	b := c.other("office")
	if r := b.fetch(); len(r.Missions) != 1 || r.Missions[0].State != missions.TransferRejected {
		t.Fatalf("fetched: %+v", r)
	}
	b.healthy()
}
