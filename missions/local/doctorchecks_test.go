package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestDoctorOfAnUnreadableCheck: a record of a check that can't be opened is reported, and nothing
// else stays unlooked at.
func TestDoctorOfAnUnreadableCheck(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put(filepath.Join(b.local.Home.RunningChecksDir(), "two.left"), "{}")
	if err := os.Symlink("one.left", filepath.Join(b.local.Home.RunningChecksDir(), "one.left")); err != nil { // leads to itself
		t.Fatal(err)
	}
	r, err := b.local.Doctor(t.Context(), missions.DoctorRequest{Fix: true})
	if err != nil || len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Message, "one.left") || len(r.Fixed) != 1 {
		t.Errorf("reported are %+v, mended %+v, %v", r.Problems, r.Fixed, err)
	}
}
