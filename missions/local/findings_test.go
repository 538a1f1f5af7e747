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
	if s, err := b.local.Status(t.Context(), missions.StatusRequest{Caller: b.caller()}); err != nil || len(s.Problems) != 1 || !strings.Contains(s.Problems[0].Message, gone) {
		t.Errorf("status: %+v %v", s.Problems, err)
	}
	for _, r := range []missions.DoctorRequest{{}, {Fix: true}} {
		if d := b.doctor(r); len(d.Problems) != 1 || !strings.Contains(d.Problems[0].Message, gone) || !strings.HasSuffix(d.Problems[0].Fix, "umbra doctor --known") {
			t.Errorf("doctor: %+v", d.Problems)
		}
	}
	if d := b.doctor(missions.DoctorRequest{Known: true}); len(d.Problems) != 0 || len(d.Known) != 2 || !strings.Contains(d.Known[0].Message, gone) {
		t.Errorf("known: %+v %+v", d.Problems, d.Known)
	}
	state := "the state of a mission that is no more"
	if d := b.doctor(missions.DoctorRequest{}); len(d.Problems) != 0 || len(d.Known) != 1 || !strings.Contains(d.Known[0].Message, state) {
		t.Errorf("since it is known: %+v %+v", d.Problems, d.Known)
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

// TestProjectBackFromBackup: what a restore took away in a project that is gone stays in the
// journal until its user knows, whatever happened to the list of projects; and a project that
// is back is listed again.
func TestProjectBackFromBackup(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.mission("work")
	b.write("a.txt", "two\n")
	b.snapshot("two")
	b.restore("work@start")
	dir, register := b.project().Dir, b.local.Home.Path("projects.json")
	b.local.CloseProjects()
	move := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	check := func(r missions.DoctorRequest, entries int, wants ...string) {
		t.Helper()
		d := b.doctor(r)
		var got []string
		for _, p := range append(d.Problems, d.Fixed...) {
			got = append(got, p.Message)
		}
		for i := range max(len(wants), len(got)) {
			if len(wants) != len(got) || !strings.Contains(got[i], wants[i]) {
				t.Errorf("doctor %+v says %q, not %q", r, got, wants)
				break
			}
		}
		if list, _, err := b.local.Journal.List(); err != nil || len(list) != entries {
			t.Errorf("doctor %+v left %d journal entries: %v", r, len(list), err)
		}
	}
	fix, know, look := missions.DoctorRequest{Fix: true}, missions.DoctorRequest{Known: true}, missions.DoctorRequest{}

	move(dir, b.dir+".backup")
	b.put(register, "[{")
	check(look, 1, "the list of projects, "+register+", is damaged")
	check(fix, 1, "is damaged")
	if _, err := os.Lstat(register + ".damaged-1"); err != nil {
		t.Error(err)
	}
	away := "the journal holds what a restore took away in a project that is no more"
	check(fix, 1, away)
	if err := os.Remove(register); err != nil {
		t.Fatal(err)
	}
	check(fix, 1, away)

	move(b.dir+".backup", dir)
	unlisted := filepath.Base(dir) + " is not in the list of projects"
	check(look, 1, unlisted)
	check(fix, 1, unlisted)
	check(look, 1)
	b.local.CloseProjects()
	move(dir, b.dir+".backup")
	check(know, 1)
	move(b.dir+".backup", dir)
	check(fix, 1, unlisted)
	b.local.CloseProjects()
	move(dir, b.dir+".backup")
	check(fix, 1, dir+" is gone")
	check(know, 1)
	check(look, 1)
	check(fix, 0, away, "the state of a mission that is no more")
	check(look, 0)
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
			if p.Fix == "umbra doctor" || r.Fix && strings.Contains(p.Fix, "umbra doctor --fix") {
				t.Errorf("%+v: %s: %s", r, p.Message, p.Fix)
			}
		}
	}
}
