package local

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestHistoryOfPrograms: in a fork the agent's own copies of files have the mode with
// which it gives them back, of a program one that runs, also where the source's copies
// are gone.
func TestHistoryOfPrograms(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	history := filepath.Join(c.user, ".claude", "file-history")
	source := filepath.Join(history, c.session)
	if err := os.MkdirAll(source, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{"program@v1": 0o755, "text@v1": 0o644, "own@v1": 0o600} {
		if err := os.WriteFile(filepath.Join(source, name), []byte("before\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	c.takeTurn("second", "a.txt", "two\n")
	modes := func(own os.FileMode) {
		t.Helper()
		result, err := c.local.Fork(t.Context(), missions.ForkRequest{Caller: c.caller(), From: "@1"})
		if err != nil {
			t.Fatal(err)
		}
		for name, mode := range map[string]os.FileMode{"program@v1": 0o755, "text@v1": 0o644, "own@v1": own} {
			info, err := os.Stat(filepath.Join(history, result.Missions[0].SessionID, name))
			if err != nil || info.Mode().Perm() != mode || info.ModTime().Unix() != 0 {
				t.Errorf("%s is %v in a fork, %v, want mode %o, and older than any file", name, info, err, mode)
			}
		}
	}
	modes(0o600)
	if err := os.RemoveAll(source); err != nil {
		t.Fatal(err)
	}
	modes(0o644)
	c.healthy()
}
