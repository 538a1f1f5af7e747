package shadow

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
)

// everyFile lists what is in a repository.
func everyFile(t *testing.T, s *Store) string {
	t.Helper()
	var list []string
	noErr(t, filepath.WalkDir(s.Dir(), func(path string, _ os.DirEntry, err error) error {
		list = append(list, path)
		return err
	}))
	return strings.Join(list, "\n")
}

// TestScratch: what is written to a scratch can be read through it, beside all that
// the Store has, which gets nothing of it; and it goes.
func TestScratch(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	s := newStore(t)
	first := s.NewBatch()
	defer first.Discard()
	known, err := first.Blob([]byte("known"))
	noErr(t, err)
	noErr(t, first.Flush(t.Context()))
	before := everyFile(t, s)
	scratch, err := s.Scratch()
	noErr(t, err)
	if !scratch.IsScratch() || s.IsScratch() {
		t.Error("which of the two is a scratch can't be told")
	}
	batch := scratch.NewBatch()
	defer batch.Discard()
	ids := map[gitstore.ID]string{known: "known"}
	for i := range 2 * looseObjects { // as loose objects, then as a pack
		text := string(rune('a'+i%26)) + string(rune('a'+i/26))
		id, err := batch.Blob([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		ids[id] = text
		if i == 3 {
			if err := batch.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := batch.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	for id, text := range ids {
		got, err := scratch.Blob(id)
		if err != nil || string(got) != text {
			t.Errorf("%q: %q %v", text, got, err)
		}
		if ok, err := s.Has(id); err != nil || ok != (id == known) {
			t.Errorf("%q is in the repository: %v %v", text, ok, err)
		}
	}
	info, err := os.Stat(scratch.area)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its directory: %v %v", info, err)
	}
	other, err := s.Scratch() // which sweeps nothing that is in use
	if err != nil {
		t.Fatal(err)
	}
	if got, err := scratch.Blob(known); err != nil || string(got) != "known" {
		t.Errorf("beside another: %q %v", got, err)
	}
	for _, one := range []*Store{other, scratch} {
		if err := one.Close(); err != nil {
			t.Error(err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(temp, "*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
	if after := everyFile(t, s); after != before {
		t.Errorf("the repository changed:\n%s\nwas\n%s", after, before)
	}
}
