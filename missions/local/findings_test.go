package local

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
)

// doctor runs a check.
func (b *testBench) doctor(r missions.DoctorRequest) missions.DoctorResult {
	b.Helper()
	r.Caller = b.caller()
	d, err := b.local.Doctor(context.Background(), r)
	if err != nil {
		b.Fatal(err)
	}
	return d
}

// TestMissionWithoutRefs finds a mission to which no ref leads any more by its snapshots.
func TestMissionWithoutRefs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	m := b.mission("work")
	b.mission("other")
	b.write("a.txt", "two\n")
	if _, err := b.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: b.caller(), Mission: "work"}); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []gitstore.RefName{gitstore.AgentRef(m.ID), gitstore.RecordRef(m.ID), gitstore.HeadRef("work")} {
		b.git("--git-dir", b.project().ShadowRepo(), "update-ref", "--no-deref", "-d", string(ref))
	}
	d := b.doctor(missions.DoctorRequest{})
	if len(d.Problems) != 1 || !strings.Contains(d.Problems[0].Message, "no ref leads to it any more: 2 of its snapshots") || d.Problems[0].Mission != "work" {
		t.Errorf("doctor: %+v", d.Problems)
	}
	if d = b.doctor(missions.DoctorRequest{Fix: true}); len(d.Problems) != 0 {
		t.Errorf("doctor --fix: %+v", d.Problems)
	}
	if got := b.cat("work", "a.txt"); got != "two\n" {
		t.Errorf("the newest snapshot has %q", got)
	}
	b.healthy()
}

// TestProjectGoneFromHome says that a project's directory is gone, with its snapshots, until
// its user knows. Then the project is forgotten, and what is left of it mended away.
func TestProjectGoneFromHome(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.mission("work")
	dir := b.project().Dir
	b.local.CloseProjects()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	gone := "is gone, and with it the snapshots of " + b.dir
	for _, r := range []missions.DoctorRequest{{}, {Fix: true}} {
		if d := b.doctor(r); len(d.Problems) != 1 || !strings.Contains(d.Problems[0].Message, gone) || !strings.HasSuffix(d.Problems[0].Fix, "umbra doctor --known") {
			t.Errorf("doctor: %+v", d.Problems)
		}
	}
	if d := b.doctor(missions.DoctorRequest{Known: true}); len(d.Problems) != 0 || len(d.Known) != 1 || !strings.Contains(d.Known[0].Message, gone) {
		t.Errorf("known: %+v %+v", d.Problems, d.Known)
	}
	for _, r := range []missions.DoctorRequest{{Fix: true}, {}} {
		if d := b.doctor(r); len(d.Problems) != 0 || len(d.Known) != 0 {
			t.Errorf("forgotten: %+v %+v", d.Problems, d.Known)
		}
	}
	other := b.beside("other", "another")
	if err := os.RemoveAll(other.dir); err != nil {
		t.Fatal(err)
	}
	if d := b.doctor(missions.DoctorRequest{}); len(d.Problems) != 1 || !strings.Contains(d.Problems[0].Message, other.dir) || len(d.Known) != 0 {
		t.Errorf("what came since: %+v %+v", d.Problems, d.Known)
	}
}

// TestDoctorNamesNoCircle hints at no command that says the same again.
func TestDoctorNamesNoCircle(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.mission("work")
	shadow := b.project().ShadowRepo()
	b.local.CloseProjects()
	for _, name := range []string{"config", "HEAD"} {
		if err := os.Remove(filepath.Join(shadow, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(filepath.Join(shadow, "objects")); err != nil {
		t.Fatal(err)
	}
	for _, r := range []missions.DoctorRequest{{}, {Fix: true}} {
		d := b.doctor(r)
		if len(d.Problems) == 0 {
			t.Errorf("%+v: all is well", r)
		}
		for _, p := range d.Problems {
			if p.Fix == "umbra doctor" || r.Fix && p.Fix == "umbra doctor --fix" {
				t.Errorf("%+v: %s: %s", r, p.Message, p.Fix)
			}
		}
	}
}
