package fork

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"
)

// TestSync waits for each file system once, however many forks are on it, and
// fails if one is not there.
func TestSync(t *testing.T) {
	base := t.TempDir()
	at := func(dir, common string) *Made {
		return &Made{Document: Document{Directory: dir, CommonDir: common}}
	}
	waited, err := Sync([]*Made{at(base, base), at(base, ""), at(t.TempDir(), base)})
	if err != nil || waited != 1 {
		t.Errorf("three forks on one file system: waited for %d, %v", waited, err)
	}
	if _, err := Sync([]*Made{at(filepath.Join(base, "gone"), "")}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory that is gone: %v", err)
	}
	if waited, err := Sync(nil); err != nil || waited != 0 {
		t.Errorf("nothing: %d %v", waited, err)
	}
}
