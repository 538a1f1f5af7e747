package missions

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCutOffSnapshotsAreKept: a commit that is lost in the middle of a history
// takes none of the snapshots before it along. Doctor pins them, once; they are
// listed, read and restored, and git finds them.
func TestCutOffSnapshotsAreKept(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newBench(t)
	b.write("a.txt", "0\n")
	m := b.mission("work")
	other := b.mission("other")
	var taken []Entry
	for n := range 6 {
		b.write("a.txt", fmt.Sprintln("change", n))
		e, err := b.local.Snapshot(ctx, SnapshotRequest{Caller: b.caller(), Mission: "work"})
		if err != nil {
			t.Fatal(err)
		}
		taken = append(taken, e)
	}
	for _, lost := range []int{4, 2} {
		if err := os.Remove(filepath.Join(m.ShadowRepo, "objects", taken[lost].ID[:2], taken[lost].ID[2:])); err != nil {
			t.Fatal(err)
		}
	}
	b = b.again()
	d, err := b.local.Doctor(ctx, DoctorRequest{Caller: b.caller()})
	if err != nil || len(d.Problems) == 0 {
		t.Fatalf("doctor saw nothing: %+v %v", d, err)
	}
	pins := func() []Pin {
		t.Helper()
		pins, err := b.local.Pins(ctx, PinsRequest{Caller: b.caller()})
		if err != nil {
			t.Fatal(err)
		}
		return pins
	}
	if got := pins(); len(got) > 0 {
		t.Errorf("pinned without being asked: %+v", got)
	}
	if d, err = b.local.Doctor(ctx, DoctorRequest{Caller: b.caller(), Fix: true}); err != nil {
		t.Fatal(err)
	}
	said := ""
	for _, p := range d.Fixed {
		said += p.Message + "\n"
	}
	for _, want := range []string{taken[3].ID[:8], " and 0 before it", taken[1].ID[:8], " and 2 before it"} { // the last is the mission's start
		if !strings.Contains(said, want) {
			t.Errorf("not said: %s, but\n%s", want, said)
		}
	}
	for _, p := range d.Problems {
		if !strings.HasPrefix(p.Message, "lost for good: snapshot ") || p.Mission != "work" {
			t.Errorf("%+v", p)
		}
	}
	got := pins()
	if len(got) != 2 || !slices.ContainsFunc(got, func(p Pin) bool { return p.Snapshot == taken[1].ID && p.Mission == m.ID }) {
		t.Fatalf("pins: %+v (%s is another's)", got, other.ID)
	}
	b = b.again()
	pin := recoveredPin + taken[1].ID[:len(got[0].Name)-len(recoveredPin)]
	list, err := b.local.Log(ctx, LogRequest{Caller: b.caller(), Mission: pin})
	if err != nil || len(list) != 3 || list[0].ID != taken[1].ID || !slices.Equal(list[0].Pins, []string{pin}) || list[2].ID != m.Head {
		t.Errorf("log: %+v %v", list, err)
	}
	for moment, want := range map[string]string{pin: "change 1\n", pin + "~1": "change 0\n", taken[0].ID: "change 0\n", m.Head: "0\n", taken[3].ID: "change 3\n"} {
		if got := b.cat(moment, "a.txt"); got != want {
			t.Errorf("%s: %q", moment, got)
		}
	}
	if _, err := b.local.Doctor(ctx, DoctorRequest{Caller: b.caller(), Fix: true}); err != nil || len(pins()) != 2 {
		t.Errorf("again: %+v %v", pins(), err)
	}
	b.restore(pin)
	if got := b.read("a.txt"); got != "change 1\n" {
		t.Errorf("restored %q", got)
	}
	if out := b.git("--git-dir", m.ShadowRepo, "rev-list", "--objects", "refs/pins/"+pin, "refs/keep/"+taken[1].ID); !strings.Contains(out, m.Head) {
		t.Errorf("git: %s", out)
	}
}
