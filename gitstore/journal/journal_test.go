package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func id(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012x", n) }

func opened(t *testing.T) *Journal {
	t.Helper()
	j, err := Open(filepath.Join(t.TempDir(), "home"), time.Now)
	must(t, err)
	return j
}

type plan struct {
	Target string
	Paths  []string
}

func begun(t *testing.T, j *Journal, n int) *Operation {
	t.Helper()
	o, err := j.Begin(id(n), "restore", plan{Target: "T", Paths: []string{"a <&>", "b\n"}})
	must(t, err)
	return o
}

func listed(t *testing.T, j *Journal, operations, damaged int) ([]*Operation, []*DamagedError) {
	t.Helper()
	have, bad, err := j.List()
	must(t, err)
	if len(have) != operations || len(bad) != damaged {
		t.Fatalf("%d operations, %d damaged (%v), want %d and %d", len(have), len(bad), bad, operations, damaged)
	}
	return have, bad
}

func TestOperationLife(t *testing.T) {
	j := opened(t)
	o := begun(t, j, 1)
	if phase, _ := o.Phase(); phase != Staging || o.Kind() != "restore" || o.ID() != id(1) {
		t.Errorf("begun: %s %s %s", o.ID(), o.Kind(), phase)
	}
	_, err := j.Begin(id(1), "fork", nil)
	want(t, err, fs.ErrExist)
	must(t, os.WriteFile(filepath.Join(o.StagedDir(), "0"), []byte("new"), 0o600))
	must(t, o.Update(plan{Target: "U"}))
	want(t, o.Advance(Applied), ErrPhase)
	for _, phase := range []Phase{Staged, Applying, Applied} {
		want(t, o.Drop(), ErrPhase)
		must(t, o.Advance(phase))
		again, err := j.Load(id(1))
		must(t, err)
		var doc plan
		must(t, again.Document(&doc))
		found, since := again.Phase()
		have, haveSince := o.Phase()
		if found != phase || have != phase || !since.Equal(haveSince) || doc.Target != "U" || !again.Began().Equal(o.Began()) {
			t.Errorf("loaded %s %v %+v, want %s", found, since, doc, phase)
		}
	}
	must(t, o.Finish())
	listed(t, j, 0, 0)
	_, err = j.Load(id(1))
	want(t, err, fs.ErrNotExist)
	if left := names(t, j.Dir()); len(left) != 0 {
		t.Errorf("left over: %v", left)
	}
}

func TestQuarantineIsKeptUntilDropped(t *testing.T) {
	j := opened(t)
	o := begun(t, j, 1)
	must(t, o.Advance(Staged))
	must(t, o.Advance(Applying))
	kept := filepath.Join(o.DisplacedDir(), "0")
	must(t, os.WriteFile(kept, []byte("the user's"), 0o600))
	must(t, o.Advance(Interrupted))
	must(t, o.Advance(Applying))
	must(t, o.Finish())
	must(t, o.Finish())
	operations, _ := listed(t, j, 1, 0)
	if phase, _ := operations[0].Phase(); phase != Done || read(t, kept) != "the user's" {
		t.Errorf("phase %s", phase)
	}
	if swept, err := j.Sweep(); len(swept) != 0 || err != nil {
		t.Errorf("swept %v, %v", swept, err)
	}
	must(t, operations[0].Drop())
	listed(t, j, 0, 0)
}

func TestIDsAreUUIDs(t *testing.T) {
	j := opened(t)
	for _, bad := range []string{"", "..", "requests", "../" + id(1), strings.ToUpper("a" + id(1)[1:]), id(1) + "/x"} {
		_, err := j.Begin(bad, "restore", nil)
		want(t, err, ErrBadID)
		_, err = j.Load(bad)
		want(t, err, ErrBadID)
		_, err = j.Enqueue(bad, nil)
		want(t, err, ErrBadID)
		want(t, j.PutLive(bad, []byte("{}")), ErrBadID)
	}
}

func TestDamagedEntriesAreReportedAndKept(t *testing.T) {
	j := opened(t)
	begun(t, j, 0)
	for n, harm := range []func(o *Operation) error{
		func(o *Operation) error { return os.Truncate(filepath.Join(o.path, operationFile), 0) },
		func(o *Operation) error { return os.Truncate(filepath.Join(o.path, operationFile), 40) },
		func(o *Operation) error { return os.Remove(filepath.Join(o.path, operationFile)) },
		func(o *Operation) error { return os.Truncate(filepath.Join(o.path, phasesFile), 0) },
		func(o *Operation) error { return os.Remove(filepath.Join(o.path, phasesFile)) },
		func(o *Operation) error {
			return os.WriteFile(filepath.Join(o.path, phasesFile), []byte("applied 2026-01-01T00:00:00Z 00000000\n"), 0o600)
		},
		func(o *Operation) error {
			path := filepath.Join(o.path, operationFile)
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(path, []byte(strings.Replace(string(content), `"T"`, `"V"`, 1)), 0o600)
		},
		func(o *Operation) error {
			return os.WriteFile(filepath.Join(o.path, operationFile), []byte(`{"version":99}`), 0o600)
		},
	} {
		o := begun(t, j, n+1)
		must(t, harm(o))
		_, err := j.Load(o.ID())
		var bad *DamagedError
		if !errors.As(err, &bad) || bad.Path != o.Path() {
			t.Errorf("harm %d: %v", n, err)
		}
		_, err = os.Stat(o.StagedDir())
		must(t, err)
	}
	_, err := j.Load(id(8))
	want(t, err, ErrNewer)
	must(t, os.WriteFile(filepath.Join(j.Dir(), "stray"), nil, 0o600))
	_, damaged := listed(t, j, 1, 9)
	for _, bad := range damaged {
		moved, err := j.MoveAside(bad)
		must(t, err)
		if _, err := os.Lstat(moved); err != nil {
			t.Error(err)
		}
	}
	listed(t, j, 1, 0)
	dir, names, err := j.Aside()
	must(t, err)
	if len(names) != len(damaged) || dir != filepath.Join(j.Dir(), damagedDir) {
		t.Errorf("aside in %s: %q", dir, names)
	}
	if _, err := j.MoveAside(&DamagedError{Path: filepath.Dir(j.Dir())}); err == nil {
		t.Error("moved what is not in the journal")
	}
}

// A transition cut short by a power cut was never acknowledged.
func TestTornPhaseLineDoesNotCount(t *testing.T) {
	j := opened(t)
	o := begun(t, j, 1)
	log := filepath.Join(o.Path(), phasesFile)
	before := read(t, log)
	must(t, o.Advance(Staged))
	whole := read(t, log)
	for cut := len(before); cut < len(whole); cut++ {
		must(t, os.WriteFile(log, []byte(whole[:cut]), 0o600))
		torn, err := j.Load(id(1))
		must(t, err)
		if phase, _ := torn.Phase(); phase != Staging {
			t.Fatalf("cut at %d: %s", cut, phase)
		}
		must(t, torn.Advance(Staged))
		again, err := j.Load(id(1))
		must(t, err)
		if phase, _ := again.Phase(); phase != Staged {
			t.Fatalf("cut at %d, then on: %s", cut, phase)
		}
	}
}

func TestPhases(t *testing.T) {
	all := []Phase{Staging, Staged, Applying, Applied, Done, Interrupted}
	for _, from := range all {
		if from.CanBecome(from) {
			t.Errorf("%s to itself", from)
		}
		if from != Done && from != Interrupted && !from.CanBecome(Interrupted) {
			t.Errorf("%s cannot be interrupted", from)
		}
		if Done.CanBecome(from) || from.CanBecome(Staging) {
			t.Errorf("done to %s, or %s to staging", from, from)
		}
	}
}

func TestLive(t *testing.T) {
	j := opened(t)
	_, err := j.Live(id(1))
	want(t, err, fs.ErrNotExist)
	must(t, j.PutLive(id(2), []byte(`{"pid":1}`)))
	must(t, j.PutLive(id(1), []byte(`{"pid":2}`)))
	must(t, j.PutLive(id(1), []byte(`{"pid":3}`)))
	if err := j.PutLive(id(1), []byte(`{`)); err == nil {
		t.Error("stored what is not JSON")
	}
	state, err := j.Live(id(1))
	must(t, err)
	missions, err := j.LiveMissions()
	must(t, err)
	if string(state) != `{"pid":3}` || fmt.Sprint(missions) != fmt.Sprint([]string{id(1), id(2)}) {
		t.Errorf("%s %v", state, missions)
	}
	must(t, os.Truncate(filepath.Join(j.Dir(), "live", id(2)+".log"), 3))
	var bad *DamagedError
	if _, err := j.Live(id(2)); !errors.As(err, &bad) {
		t.Errorf("damaged: %v", err)
	}
	must(t, j.DeleteLive(id(2)))
	must(t, j.DeleteLive(id(2)))
	listed(t, j, 0, 0)
}

// TestSeveralPhasesAtOnce: cut off anywhere, an operation is at one of them.
func TestSeveralPhasesAtOnce(t *testing.T) {
	j := opened(t)
	o := begun(t, j, 1)
	log := filepath.Join(o.Path(), phasesFile)
	before := read(t, log)
	want(t, o.Advance(Staged, Applied), ErrPhase)
	if phase, _ := o.Phase(); phase != Staging || read(t, log) != before {
		t.Fatalf("half a transition: %s", phase)
	}
	must(t, o.Advance(Staged, Applying))
	must(t, o.AdvanceVolatile(Applied))
	want(t, o.AdvanceVolatile(Staged), ErrPhase)
	whole := read(t, log)
	at, order := 0, []Phase{Staging, Staged, Applying, Applied}
	for cut := len(before); cut <= len(whole); cut++ {
		must(t, os.WriteFile(log, []byte(whole[:cut]), 0o600))
		torn, err := j.Load(id(1))
		must(t, err)
		phase, _ := torn.Phase()
		if phase == order[min(at+1, len(order)-1)] {
			at = min(at+1, len(order)-1)
		}
		if phase != order[at] {
			t.Fatalf("cut at %d: %s after %s", cut, phase, order[at])
		}
	}
	if order[at] != Applied {
		t.Errorf("the whole log ends at %s", order[at])
	}
}
