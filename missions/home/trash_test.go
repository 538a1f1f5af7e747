package home

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
)

// TestTrashedAway tells a directory whose disk is not there from one that is gone.
func TestTrashedAway(t *testing.T) {
	t.Parallel()
	trash := t.TempDir()
	name := beneath.ScratchName("0d753a78-d594-40c1-8f0d-495a458b25cd", 0)
	there := filepath.Join(trash, "there", name)
	if err := os.MkdirAll(there, 0o700); err != nil {
		t.Fatal(err)
	}
	entry := filepath.Join(trash, "entry")
	for place, away := range map[string]bool{
		there:                                      false,
		filepath.Join(trash, "nowhere", name):      true,
		filepath.Join(trash, name):                 true, // on the disk of the trash nothing is put beside
		filepath.Join("/dev", name):                false,
		filepath.Join(trash, "nowhere", "of mine"): false,
	} {
		if err := os.Symlink(place, entry); err != nil {
			t.Fatal(err)
		}
		if got := TrashedAway(entry); (got == place) != away {
			t.Errorf("%s: %q", place, got)
		}
		if err := os.Remove(entry); err != nil {
			t.Fatal(err)
		}
	}
	if got := TrashedAway(there); got != "" {
		t.Errorf("no link: %q", got)
	}
}
