package local

import (
	"os"
	"path/filepath"
	"strings"
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

// TestImportedFileIsNoRemoteToChoose: beside a file that was imported, the only repository is
// fetched from and pushed to without its name; and what a user has allowed is remembered
// though the remote is not reached.
func TestImportedFileIsNoRemoteToChoose(t *testing.T) {
	t.Parallel()
	c := startRemote(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	c.push()
	file := filepath.Join(t.TempDir(), "mail.umbra")
	if _, err := c.local.Export(t.Context(), missions.ExportRequest{Caller: c.caller(), Moments: []string{c.only().Name}, File: file}); err != nil {
		t.Fatal(err)
	}
	b := c.other("office")
	if _, err := b.local.ImportFile(t.Context(), missions.ImportFileRequest{Caller: b.caller(), File: file}); err != nil {
		t.Fatal(err)
	}
	if r := b.fetch(); r.Remote == "mail" || len(r.Missions) != 1 {
		t.Errorf("fetched: %+v", r)
	}
	if err := os.RemoveAll(c.url); err != nil {
		t.Fatal(err)
	}
	const allowed = "github-token:0123456789abcdef"
	_, err := c.local.Push(t.Context(), missions.PushRequest{Caller: c.caller(), Allow: []string{allowed}})
	if err == nil {
		t.Fatal("a remote that is gone took a push")
	}
	text, err := os.ReadFile(c.project().RemotesFile())
	if err != nil || !strings.Contains(string(text), allowed) {
		t.Errorf("%s, %v", text, err)
	}
}
