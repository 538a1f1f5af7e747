package fork

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestForkHasAllAttributes: an ignored file comes along with all of its extended
// attributes, also those that no record holds.
func TestForkHasAllAttributes(t *testing.T) {
	l := newLab(t)
	l.write(".gitignore", "/ignored\n")
	l.write("ignored", "content")
	const odd = "user.\xff"
	if err := unix.Setxattr(filepath.Join(l.top, "ignored"), odd, []byte("kept"), 0); err != nil {
		t.Skipf("SKIPPED, NOT SHOWN: no extended attributes here: %v", err)
	}
	l.initGit()
	made := l.fork(l.snapshot(), l.target("fork"))
	value := make([]byte, 16)
	n, err := unix.Getxattr(filepath.Join(made.Workspace, "ignored"), odd, value)
	if err != nil || string(value[:n]) != "kept" {
		t.Errorf("the copy has %q, %v", value[:max(n, 0)], err)
	}
}
