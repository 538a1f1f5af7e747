package local

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestExportIsWhole: a file of a history that was cut could be read nowhere, and nothing is
// written over what is no file.
func TestExportIsWhole(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	for _, name := range []string{"a.txt", "b.txt", "c.txt", "d.txt"} {
		c.takeTurn("write "+name, name, name)
	}
	c.pruned(1)
	dir := t.TempDir()
	file := filepath.Join(dir, "cut.umbra")
	_, err := c.local.Export(t.Context(), missions.ExportRequest{Caller: c.caller(), Moments: []string{c.only().Name}, File: file})
	if kindOf(err) != missions.KindConflict {
		t.Errorf("exported: %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if _, err := c.local.Export(t.Context(), missions.ExportRequest{Caller: c.caller(), Moments: []string{c.only().Name}, File: dir}); kindOf(err) != missions.KindUsage {
		t.Errorf("exported over a directory: %v", err)
	}
}
