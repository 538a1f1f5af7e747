package home

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestHangs: that whoever serves does not answer is remembered while that process has the
// home, until it answers or a while is over.
func TestHangs(t *testing.T) {
	t.Parallel()
	h, err := Open(filepath.Join(t.TempDir(), "home"))
	if err != nil {
		t.Fatal(err)
	}
	is := func(when string, want bool) {
		t.Helper()
		if got := h.Hangs(); got != want {
			t.Errorf("%s: %v", when, got)
		}
	}
	is("nothing is known", false)
	h.NoteHang()
	is("nobody has the home", false)
	lock, err := h.Hold("a daemon")
	if err != nil {
		t.Fatal(err)
	}
	h.NoteHang()
	is("it was found just now", true)
	h.ForgetHang()
	is("it answers again", false)
	h.NoteHang()
	for _, at := range []time.Time{time.Now().Add(-2 * hangMemory), time.Now().Add(time.Hour)} {
		if err := os.Chtimes(h.hangFile(), at, at); err != nil {
			t.Fatal(err)
		}
		is("one tries again", false)
		is("who comes while it tries", true)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	is("it has ended", false)
	if !IsHomeEntry(filepath.Base(h.hangFile())) {
		t.Error("uninstall would leave the file")
	}
	Home{}.NoteHang() // there is no home: nothing is written here
	if _, err := os.Lstat(Home{}.hangFile()); err == nil {
		t.Error("a file was written outside of a home")
	}
}
