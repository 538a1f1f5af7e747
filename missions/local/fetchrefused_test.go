package local

import (
	"strings"
	"testing"

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
	var record, tip string
	for line := range strings.Lines(c.remoteGit("for-each-ref", "--format=%(refname) %(objectname)")) {
		name, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.Contains(name, "/records/") {
			record = name
		} else {
			tip = id
		}
	}
	c.remoteGit("update-ref", record, tip)
	b := c.other("office")
	if r := b.fetch(); len(r.Missions) != 1 || r.Missions[0].State != missions.TransferRejected {
		t.Fatalf("fetched: %+v", r)
	}
	b.healthy()
}
