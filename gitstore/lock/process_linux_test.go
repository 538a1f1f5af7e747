package lock

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
)

// TestEndedWhileRead: the description of a process that ends between the opening of
// /proc/<pid>/stat and its reading is that of one that is gone, not of one of which
// nothing is known.
func TestEndedWhileRead(t *testing.T) {
	child := exec.Command("sleep", "6000")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	stat, err := os.Open(fmt.Sprintf("/proc/%d/stat", child.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	defer stat.Close()
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	if _, err := io.ReadAll(stat); err == nil || !noProcess(err) {
		t.Errorf("read as %v", err)
	}
}
