package daemon

import (
	"os"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestIndexUnusable: a file in the place of the index fails no command; status
// and doctor say what to type, and that mends it.
func TestIndexUnusable(t *testing.T) {
	b := newBench(t)
	must(t, os.RemoveAll(b.home.IndexDir()))
	must(t, os.WriteFile(b.home.IndexDir(), []byte("mine"), 0o600))
	s := b.start()
	c := b.connect()
	b.write("a.txt", "one\n")
	b.mission(c, "work")
	if entries, err := c.Log(b.ctx(), missions.LogRequest{Caller: b.caller(), Lines: true}); err != nil || len(entries) == 0 {
		t.Errorf("log: %+v %v", entries, err)
	}
	told := func(what string, problems []missions.Problem, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range problems {
			if strings.Contains(p.Message, "index") && p.Fix == "umbra doctor --rebuild" {
				return
			}
		}
		t.Errorf("%s says nothing of it: %+v", what, problems)
	}
	status, err := c.Status(b.ctx(), missions.StatusRequest{Caller: b.caller()})
	told("status", status.Problems, err)
	checked, err := c.Doctor(b.ctx(), missions.DoctorRequest{Caller: b.caller()})
	told("doctor", checked.Problems, err)
	mended, err := c.Doctor(b.ctx(), missions.DoctorRequest{Caller: b.caller(), Rebuild: true})
	if err != nil || !mended.Rebuilt || len(mended.Problems) > 0 || s.index.now() == nil {
		t.Errorf("rebuilt: %+v %v", mended, err)
	}
	checked, err = c.Doctor(b.ctx(), missions.DoctorRequest{Caller: b.caller()})
	if err != nil || len(checked.Problems) > 0 {
		t.Errorf("afterwards: %+v %v", checked, err)
	}
}
