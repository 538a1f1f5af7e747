package automations

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestAutomationLogKeepsOneOld writes to a log from eight sides at once, each time
// more than there is room for: every one puts the one before aside.
func TestAutomationLogKeepsOneOld(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "automations.log")
	entry := strings.Repeat("x", mostLog/2) + "\n"
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 6 {
				if err := appendLog(name, fmt.Sprint(i)+entry); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for _, file := range []string{name, name + ".1"} {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() != int64(len(entry))+1 {
			t.Errorf("%s has %d bytes, want %d", filepath.Base(file), info.Size(), len(entry)+1)
		}
	}
	if err := appendLog(filepath.Join(name, "none"), "x"); err == nil {
		t.Error("a log that can't be written is no error")
	}
}
