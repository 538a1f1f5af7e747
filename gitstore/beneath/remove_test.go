//go:build unix

package beneath

import (
	"os"
	"path/filepath"
	"testing"
)

// TestRemoveTree removes what its owner may not enter, and nothing that a link leads to.
func TestRemoveTree(t *testing.T) {
	t.Parallel()
	for _, options := range []Options{{}, {StepByStep: true}} {
		base := t.TempDir()
		tree, outside := filepath.Join(base, "tree"), filepath.Join(base, "outside")
		for _, dir := range []string{filepath.Join(tree, "locked", "deep"), outside} {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for _, file := range []string{filepath.Join(tree, "locked", "deep", "f"), filepath.Join(outside, "precious")} {
			if err := os.WriteFile(file, []byte("x"), 0o400); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(outside, filepath.Join(tree, "link")); err != nil {
			t.Fatal(err)
		}
		for dir, mode := range map[string]os.FileMode{filepath.Join(tree, "locked", "deep"): 0o500, filepath.Join(tree, "locked"): 0} {
			if err := os.Chmod(dir, mode); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 { // nothing there is no error
			if err := RemoveTreeWith(tree, options); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := os.Lstat(tree); !os.IsNotExist(err) {
			t.Errorf("%+v: the tree is there: %v", options, err)
		}
		if _, err := os.Lstat(filepath.Join(outside, "precious")); err != nil {
			t.Errorf("%+v: what the link led to: %v", options, err)
		}
	}
}

func TestUnescapeMount(t *testing.T) {
	t.Parallel()
	if got, want := unescapeMount(`/a\040b\134c\09`), `/a b\c\09`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
