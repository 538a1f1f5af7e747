package fork

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestReclaimAcrossFileSystems: Discard left the directory beside its place, and
// copied the entry, which is copied back; anew where that was cut off.
func TestReclaimAcrossFileSystems(t *testing.T) {
	l := reclaimLab(t)
	trash := mounted(t, "16m")
	made, files := l.discarded("work", trash)
	half := filepath.Join(made.Document.CommonDir, dyingEntry(made.Document))
	if err := errors.Join(os.Mkdir(half, 0o777), os.WriteFile(filepath.Join(half, "HEAD"), nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	if r := l.reclaim(made, trash); !r.Moved || len(r.Notes) > 0 {
		t.Errorf("reclaimed: %+v", r)
	}
	if _, err := os.Lstat(half); !os.IsNotExist(err) {
		t.Errorf("half a copy is left: %v", err)
	}
	l.backAgain(made, trash, files, "umbra/work")
}
