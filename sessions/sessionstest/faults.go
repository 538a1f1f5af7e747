package sessionstest

import (
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

// A fault is a way in which an adapter may break the contract.
type fault struct {
	says   string // begins with what only the check that is to find it says
	check  func(Subject, *report)
	broken func(whole, Subject) sessions.Adapter // nil: such an adapter can't have it
}

// An all is an adapter in the roles that the faults are of.
type all interface {
	sessions.Installing
	sessions.Hooked
	sessions.Sided
}

// whole is an adapter that a fault changes in one thing.
type whole struct{ all }

func (w whole) unwrap() sessions.Adapter { return w.all }

// as is what an adapter, or the one that a fault has changed, is beside.
func as[T any](a sessions.Adapter) (T, bool) {
	for {
		if t, ok := a.(T); ok {
			return t, true
		}
		w, ok := a.(interface{ unwrap() sessions.Adapter })
		if !ok {
			var none T
			return none, false
		}
		a = w.unwrap()
	}
}

// Catches shows that the suite finds faults: it breaks a sound adapter in one way after the
// other, and fails t for each fault that the suite does not report.
func Catches(t *testing.T, s Subject) {
	t.Helper()
	in, ok := s.Adapter.(all)
	if !ok {
		t.Fatalf("%s has no hooks or no side files to be broken", s.Adapter.Name())
	}
	sound := whole{in}
	s.Adapter = sound
	Test(t, s)
	for _, faults := range [][]fault{identityFaults(), readFaults(), cutFaults(), cutAfterFaults(), rewriteFaults(), launchFaults(), eventFaults(), settingsFaults(), configFaults()} {
		for _, f := range faults {
			if s.Adapter = f.broken(sound, s); s.Adapter == nil {
				t.Logf("this adapter can't be broken so that the suite says %q, or not with these recordings", f.says)
				continue
			}
			r := &report{}
			f.check(s, r)
			if !r.has(f.says) {
				t.Errorf("of a broken adapter the suite should say %q, but says %q", f.says, r.problems)
			}
		}
	}
}

func (r *report) has(says string) bool {
	for _, problem := range r.problems {
		if strings.Contains(problem.Error(), says) {
			return true
		}
	}
	return false
}
