package lock

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/scripts/patience"
)

// until waits for what a process does, with a minute's patience.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience.Of(time.Minute)); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no %s", what)
		}
	}
}

// TestEffort: what a process's child does counts, also once it has ended; a
// process that waits does nothing.
func TestEffort(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", `sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; echo over; read x; exit 0`)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	defer func() {
		in.Close()
		_ = cmd.Wait()
	}()
	until(t, "effort of a child", func() bool {
		e, ok := EffortOf(cmd.Process.Pid)
		return ok && e.Time > 0 && e.Active
	})
	word := make([]byte, 5)
	if _, err := out.Read(word); err != nil || !bytes.HasPrefix(word, []byte("over")) {
		t.Fatalf("%q, %v", word, err)
	}
	before := Effort{}
	until(t, "rest", func() bool {
		e, ok := EffortOf(cmd.Process.Pid)
		before = e
		return ok && !e.Active
	})
	if before.Time == 0 || !before.Spoke.IsZero() {
		t.Errorf("at rest, without a terminal: %+v", before)
	}
	in.Close()
	_ = cmd.Wait()
	if e, ok := EffortOf(cmd.Process.Pid); ok {
		t.Errorf("a process that is gone: %+v", e)
	}
}
