package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestNamesThatCantBeRead: where nobody can tell which names there are, nothing is
// named, and no name is said to be taken.
func TestNamesThatCantBeRead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	m := b.mission("work")
	packed := filepath.Join(m.ShadowRepo, "packed-refs")
	if err := os.Mkdir(packed, 0o700); err != nil {
		t.Fatal(err)
	}
	attempts := map[string]func() error{
		"by number": func() error {
			_, err := b.local.NewMission(t.Context(), missions.NewMissionRequest{Caller: b.caller(), Command: []string{"true"}})
			return err
		},
		"by name": func() error {
			_, err := b.local.NewMission(t.Context(), missions.NewMissionRequest{Caller: b.caller(), Name: "other", Command: []string{"true"}})
			return err
		},
	}
	for name, attempt := range attempts {
		if err := attempt(); err == nil || strings.Contains(err.Error(), "already") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.Remove(packed); err != nil {
		t.Fatal(err)
	}
	for name, attempt := range attempts {
		if err := attempt(); err != nil {
			t.Errorf("%s, afterwards: %v", name, err)
		}
	}
	b.healthy()
}
