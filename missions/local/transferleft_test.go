package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/missions"
)

// TestKilledTransferLeavesNothing: what a fetch that was killed had brought, and decrypted, goes
// when a process begins to serve the home, with the housekeeping, and by doctor, which says so;
// what another process is at work on stays.
func TestKilledTransferLeavesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.mission("work")
	above := filepath.Join(b.project().Store.Dir(), "umbra", "transfer")
	left, busy := filepath.Join(above, "area-1"), filepath.Join(above, "area-2")
	for _, dir := range []string{left, busy} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	held, err := os.Open(busy)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := unix.Flock(int(held.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	for name, sweep := range map[string]func() error{
		"a process that begins to serve": func() error { return b.local.Recover(t.Context()) },
		"housekeeping": func() error {
			done, err := b.local.Housekeep(t.Context(), b.project().Dir)
			if done.Problem != "" {
				t.Error(done.Problem)
			}
			return err
		},
		"doctor": func() error {
			said, err := b.local.Doctor(t.Context(), missions.DoctorRequest{Caller: b.caller()})
			if len(said.Problems) != 1 || said.Problems[0].Invariant != "I6" || !strings.Contains(said.Problems[0].Message, left) {
				t.Errorf("doctor says %+v", said.Problems)
			}
			if err == nil {
				_, err = b.local.Doctor(t.Context(), missions.DoctorRequest{Caller: b.caller(), Fix: true})
			}
			return err
		},
	} {
		if err := os.MkdirAll(left, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(left, "bundle"), []byte("in clear"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := sweep(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(left); !os.IsNotExist(err) {
			t.Errorf("%s leaves %s: %v", name, left, err)
		}
		if _, err := os.Stat(busy); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.healthy()
}
