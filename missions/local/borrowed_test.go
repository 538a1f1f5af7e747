package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/doctor"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// borrower is a bench whose first snapshot has borrowed all of its files.
func borrower(t *testing.T) (*testBench, *projects.Project) {
	t.Helper()
	b := newBench(t)
	b.git("init", "-q")
	for i := range 30 {
		b.write(fmt.Sprintf("d%d/f%d", i%3, i), strings.Repeat(fmt.Sprintf("line of %d\n", i), 20+i))
	}
	b.git("add", ".")
	b.git("commit", "-qm", "c")
	b.git("repack", "-adfq", "--window=0")
	later := time.Now().Add(10 * time.Second)
	if err := os.Chtimes(filepath.Join(b.dir, ".git/index"), later, later); err != nil {
		t.Fatal(err)
	}
	m := b.mission("work")
	at, err := b.local.FindMission(context.Background(), b.caller(), m.ID, addresses.InProject)
	if err != nil {
		t.Fatal(err)
	}
	if !doctor.Unverified(at.Project) {
		t.Fatal("nothing was borrowed")
	}
	return b, at.Project
}

// TestFilterThatIsGone: nothing tells any more of a filter that has kept the
// length of what was added. The first snapshot has what Git says, which reading in
// idle moments finds, a step at a time, also in a later process.
func TestFilterThatIsGone(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, restarted := range []bool{false, true} {
		b := newBench(t)
		b.git("init", "-q")
		b.git("config", "filter.rot.clean", "tr a-z n-za-m")
		b.git("config", "filter.rot.smudge", "tr a-z n-za-m")
		b.write(".gitattributes", "*.txt filter=rot\n")
		b.write("a.txt", "hello\n")
		b.write("sub/plain", "as it is\n")
		old := time.Now().Add(-time.Hour)
		for _, name := range []string{"a.txt", "sub/plain"} {
			if err := os.Chtimes(filepath.Join(b.dir, name), old, old); err != nil {
				t.Fatal(err)
			}
		}
		b.git("add", ".")
		b.git("commit", "-qm", "c")
		b.git("rm", "-q", ".gitattributes")
		b.git("commit", "-qm", "no attributes")
		b.git("config", "--remove-section", "filter.rot")
		b.git("repack", "-adfq")
		later := time.Now().Add(10 * time.Second)
		if err := os.Chtimes(filepath.Join(b.dir, ".git/index"), later, later); err != nil {
			t.Fatal(err)
		}
		b.mission("work")
		if restarted {
			b.local.SaveStatCaches()
			b = b.again()
			b.write("own", "seen by the process that goes on\n")
			b.snapshot("another process")
		}
		status := func() []missions.UnreadFiles {
			s, err := b.local.Status(ctx, missions.StatusRequest{Caller: b.caller()})
			if err != nil {
				t.Fatal(err)
			}
			return s.Unread
		}
		// A later capture may have checked some in rotation.
		if left := status(); !restarted && (len(left) != 1 || left[0] != missions.UnreadFiles{Workspace: b.dir, Files: 2}) {
			t.Errorf("unread: %+v", left)
		}
		ended, end := context.WithCancel(ctx)
		end()
		if err := b.local.ReadSeededFiles(ended); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if err := b.local.ReadSeededFiles(ctx); err != nil {
			t.Fatal(err)
		}
		if left := status(); len(left) > 0 {
			t.Errorf("still unread: %+v", left)
		}
		if got := b.cat("work", "a.txt"); got != "hello\n" {
			t.Errorf("restarted %t: the newest snapshot holds %q", restarted, got)
		}
		if got := b.cat("work", "sub/plain"); got != "as it is\n" {
			t.Errorf("%q", got)
		}
		n := len(b.history("work"))
		if err := b.local.ReadSeededFiles(ctx); err != nil || len(b.history("work")) != n {
			t.Errorf("read again: %v", err)
		}
		b.healthy()
	}
}

// TestFilterThatConceals: what was added through a filter that keeps the length
// can't be told by the index from what was not, once no attribute says so.
func TestFilterThatConceals(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.git("init", "-q")
	b.git("config", "filter.rot.clean", "tr a-z n-za-m")
	b.git("config", "filter.rot.smudge", "tr a-z n-za-m")
	b.write(".gitattributes", "*.txt filter=rot\n")
	b.write("a.txt", "hello\n")
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(b.dir, "a.txt"), old, old); err != nil {
		t.Fatal(err)
	}
	b.git("add", ".")
	b.git("commit", "-qm", "c")
	b.git("rm", "-q", ".gitattributes")
	b.git("commit", "-qm", "no attributes")
	b.git("repack", "-adfq")
	later := time.Now().Add(10 * time.Second)
	if err := os.Chtimes(filepath.Join(b.dir, ".git/index"), later, later); err != nil {
		t.Fatal(err)
	}
	b.mission("work")
	if got := b.cat("work@start", "a.txt"); got != "hello\n" {
		t.Errorf("the snapshot holds %q", got)
	}
}

// damage overwrites a blob in the pack that is the user's and the shadow
// repository's, as a failing disk does.
func (b *testBench) damage(path string) {
	b.Helper()
	packs, err := filepath.Glob(filepath.Join(b.dir, ".git/objects/pack/*.pack"))
	if err != nil || len(packs) != 1 {
		b.Fatalf("packs %v %v", packs, err)
	}
	id := strings.TrimSpace(b.git("rev-parse", "HEAD:"+path))
	for line := range strings.Lines(b.git("verify-pack", "-v", packs[0])) {
		if fields := strings.Fields(line); fields[0] == id {
			offset, err := strconv.ParseInt(fields[4], 10, 64)
			if err != nil {
				b.Fatal(err)
			}
			if err := os.Chmod(packs[0], 0o600); err != nil {
				b.Fatal(err)
			}
			f, err := os.OpenFile(packs[0], os.O_WRONLY, 0)
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			if _, err := f.WriteAt([]byte{1, 2, 3, 4}, offset+5); err != nil {
				b.Fatal(err)
			}
			return
		}
	}
	b.Fatalf("%s is not in %s", path, packs[0])
}

// TestBorrowedIsVerified compares what was borrowed with its ids when there is
// time, or at once if doctor is asked.
func TestBorrowedIsVerified(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, how := range []string{"housekeeping", "doctor"} {
		t.Run(how, func(t *testing.T) {
			b, p := borrower(t)
			if dirs := b.local.ProjectsToHousekeep(doctor.Due); len(dirs) != 1 || len(b.local.ProjectsToHousekeep(doctor.Overdue)) > 0 {
				t.Errorf("unkempt: %v", dirs)
			}
			if how == "doctor" {
				d, err := b.local.Doctor(ctx, missions.DoctorRequest{Caller: b.caller()})
				if err != nil || len(d.Problems) > 0 || len(d.Verified) != 1 {
					t.Errorf("doctor: %+v %v", d, err)
				}
			} else if h, err := b.local.Housekeep(ctx, p.Dir); err != nil || h.Problem+h.Mended != "" {
				t.Errorf("housekeeping: %+v %v", h, err)
			}
			if dirs := b.local.ProjectsToHousekeep(doctor.Due); len(dirs) > 0 || doctor.Unverified(p) {
				t.Errorf("still unkempt: %v", dirs)
			}
			if d, err := b.local.Doctor(ctx, missions.DoctorRequest{Caller: b.caller()}); err != nil || len(d.Problems)+len(d.Verified) > 0 {
				t.Errorf("doctor again: %+v %v", d, err)
			}
		})
	}
}

// TestBorrowedDamageIsCapturedAgain stores anew what is damaged and still in the
// workspace, and says so; the snapshot is whole then, without the user's
// repository.
func TestBorrowedDamageIsCapturedAgain(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, how := range []string{"housekeeping", "doctor"} {
		t.Run(how, func(t *testing.T) {
			b, p := borrower(t)
			want := b.read("d1/f7")
			b.damage("d1/f7")
			if how == "doctor" {
				b.mended("damaged")
			} else if h, err := b.local.Housekeep(ctx, p.Dir); err != nil || h.Problem != "" || !strings.Contains(h.Mended, "of what was borrowed from "+b.dir) {
				t.Errorf("housekeeping: %+v %v", h, err)
			}
			if err := os.RemoveAll(filepath.Join(b.dir, ".git")); err != nil {
				t.Fatal(err)
			}
			b = b.again()
			if got := b.cat("work@start", "d1/f7"); got != want {
				t.Errorf("%q", got)
			}
			b.healthy()
		})
	}
}

// TestBorrowedDamageThatIsLost is said, nothing else is lost by it, and it holds up
// no repack. What comes back is read again.
func TestBorrowedDamageThatIsLost(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b, p := borrower(t)
	want, was := b.read("d1/f4"), b.read("d1/f7")
	b.damage("d1/f7")
	b.write("d1/f7", "another\n")
	b.snapshot("more to pack")
	h, err := b.local.Housekeep(ctx, p.Dir)
	if err != nil || !strings.Contains(h.Problem, "1 object is lost to snapshots") || h.Packed == 0 {
		t.Errorf("housekeeping: %+v %v", h, err)
	}
	if dirs := b.local.ProjectsToHousekeep(doctor.Due); len(dirs) > 0 {
		t.Errorf("due again at once: %v", dirs)
	}
	if d, err := b.local.Doctor(ctx, missions.DoctorRequest{Caller: b.caller()}); err != nil || len(d.Problems) == 0 {
		t.Errorf("doctor: %+v %v", d, err)
	}
	if got := b.cat("work@start", "d1/f4"); got != want {
		t.Errorf("%q", got)
	}
	d, err := b.local.Doctor(ctx, missions.DoctorRequest{Caller: b.caller(), Fix: true})
	if err != nil || len(d.Problems) != 1 || !strings.Contains(d.Problems[0].Message, "lost for good") || !strings.Contains(d.Problems[0].Message, "d1/f7") {
		t.Errorf("doctor --fix: %+v %v", d, err)
	}
	b.knownLost(b.history("work")[1].ID)
	b.write("d1/f7", was) // it comes back
	if _, err := b.local.Doctor(ctx, missions.DoctorRequest{Caller: b.caller(), Fix: true}); err != nil {
		t.Fatal(err)
	}
	if got := b.cat("work@start", "d1/f7"); got != was {
		t.Errorf("%q", got)
	}
	b.healthy()
}
