// Package hazards names what went wrong in the systems that tried this before
// Umbra. A test that reproduces one says so here: first with Shown, that the
// failure is real, then with Held, that Umbra does not have it. The table in
// docs/hazards.md is made of those calls, which are read from the source.
package hazards

import "testing"

// An ID is a hazard's name in docs/hazards.md.
type ID string

// A Hazard is something that happened to somebody's work.
type Hazard struct {
	ID        ID
	Elsewhere string // what happened, and to whom
}

// Shown says that the naive way fails: happened tells that the failure was
// seen just now, and the test fails if it was not, since it then shows nothing.
// naive says who does what. It is called from the test function itself, with
// naive as a literal.
func Shown(t testing.TB, id ID, happened bool, naive string) {
	t.Helper()
	if !happened {
		t.Fatalf("%s was not reproduced, so this test shows nothing: %s", id, naive)
	}
	t.Logf("%s, the naive way: %s", id, naive)
}

// Held says what the rest of the test proves of Umbra. It is called from the
// test function itself, with umbra as a literal.
func Held(t testing.TB, id ID, umbra string) {
	t.Helper()
	t.Cleanup(func() {
		if !t.Failed() && !t.Skipped() {
			t.Logf("%s, held: %s", id, umbra)
		}
	})
}

// Needs skips the test, and says why, unless the machine has what it takes.
// The table names what that is. It is called from the test function itself,
// with what as a literal.
func Needs(t testing.TB, id ID, has bool, what string) {
	t.Helper()
	if !has {
		t.Skipf("%s is not tested here: it needs %s", id, what)
	}
}
