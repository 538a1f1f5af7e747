package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// scattered is a bench with a mission whose first snapshot is in a pack of the
// shadow repository's own.
func scattered(t *testing.T) (*testBench, missions.Mission) {
	t.Helper()
	b := newBench(t)
	for i := range 100 {
		b.write(fmt.Sprintf("d%d/f%d", i%3, i), strings.Repeat(fmt.Sprintf("line of %d\n", i), 3+i))
	}
	return b, b.mission("work")
}

// packs are the files of the shadow repository's packs that end so.
func packs(m *missions.Mission, t *testing.T, suffix string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(m.ShadowRepo, "objects/pack/*"+suffix))
	if err != nil || len(files) == 0 {
		t.Fatalf("no %s: %v", suffix, err)
	}
	return files
}

// TestPackGoneUnderneath: a process that has the project open takes whole
// snapshots of a workspace though a pack that its index still names is gone.
func TestPackGoneUnderneath(t *testing.T) {
	t.Parallel()
	b, m := scattered(t)
	for _, pack := range packs(&m, t, ".pack") {
		if err := os.Remove(pack); err != nil {
			t.Fatal(err)
		}
	}
	b.mission("another")
	b = b.again()
	for i := range 100 {
		name := fmt.Sprintf("d%d/f%d", i%3, i)
		if got := b.cat("another@start", name); got != b.read(name) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestLostFilesAreReadAgain: what snapshots have lost and the user's repository
// or the workspace still holds is brought back by doctor, which says what is gone
// for good, in which snapshots, and touches nothing that is intact.
func TestLostFilesAreReadAgain(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, repository := range []bool{true, false} {
		t.Run(fmt.Sprintf("repository %t", repository), func(t *testing.T) {
			b, p := borrower(t)
			was := b.read("d1/f7")
			if !repository {
				if err := os.RemoveAll(filepath.Join(b.dir, ".git")); err != nil {
					t.Fatal(err)
				}
			}
			b.write("own", "in a pack of its own\n")
			second := b.snapshot("second")
			packs, err := filepath.Glob(filepath.Join(p.ShadowRepo(), "objects/pack/*.pack"))
			if err != nil || len(packs) != 1 {
				t.Fatal(packs, err)
			}
			if err := os.Remove(packs[0]); err != nil {
				t.Fatal(err)
			}
			b.write("d1/f7", "changed\n")
			third := b.snapshot("third") // nobody has noticed
			b = b.again()

			d, err := b.local.Doctor(ctx, missions.DoctorRequest{Caller: b.caller()})
			if err != nil || len(d.Problems) == 0 {
				t.Fatalf("doctor saw nothing: %+v %v", d, err)
			}
			for _, p := range d.Problems {
				if strings.Contains(p.Message, "\n") || strings.Contains(p.Message, "fsck") || p.Fix == "" {
					t.Errorf("not a line with what to type: %+v", p)
				}
			}
			d, err = b.local.Doctor(ctx, missions.DoctorRequest{Caller: b.caller(), Fix: true})
			if err != nil || !slices.ContainsFunc(d.Fixed, func(p missions.Problem) bool { return strings.HasSuffix(p.Message, "were read again") }) {
				t.Fatalf("%+v %v", d.Fixed, err)
			}
			for i := range 30 {
				name := fmt.Sprintf("d%d/f%d", i%3, i)
				if got := b.cat(third.ID, name); got != b.read(name) {
					t.Errorf("%s: %q", name, got)
				}
			}
			if got := b.cat(second.ID, "own"); got != "in a pack of its own\n" {
				t.Errorf("intact, and %q now", got)
			}
			if repository {
				if got := b.cat("work@start", "d1/f7"); got != was {
					t.Errorf("%q", got)
				}
				b.healthy()
				return
			}
			// The trees that only the pack had: the first snapshot's, and the
			// directory of the file in the second.
			said := ""
			for _, p := range d.Problems {
				if said += p.Message + "\n"; !strings.HasPrefix(p.Message, "lost for good in snapshot ") || p.Mission != "work" || p.Fix != "" {
					t.Errorf("%+v", p)
				}
			}
			if len(d.Problems) != 2 || !strings.Contains(said, ": d1 (") || !strings.Contains(said, ": all files (") {
				t.Errorf("it does not say what is lost: %+v", d.Problems)
			}
		})
	}
}
