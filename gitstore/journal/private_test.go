package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestPrivate: a private document is the owner's alone, is whole or damaged, and is no
// entry of the journal's.
func TestPrivate(t *testing.T) {
	j := opened(t)
	_, err := j.Private(id(1))
	want(t, err, fs.ErrNotExist)
	must(t, j.DropPrivate(id(1)))
	must(t, j.PutPrivate(id(2), []byte(`{"a":1}`)))
	must(t, j.PutPrivate(id(1), []byte(`{"a":2}`)))
	must(t, j.PutPrivate(id(1), []byte(`{"a":3}`)))
	if err := j.PutPrivate(id(1), []byte(`{`)); err == nil {
		t.Error("stored what is not JSON")
	}
	want(t, j.PutPrivate("../"+id(1), []byte(`{}`)), ErrBadID)
	doc, err := j.Private(id(1))
	must(t, err)
	missions, err := j.PrivateMissions()
	must(t, err)
	if string(doc) != `{"a":3}` || fmt.Sprint(missions) != fmt.Sprint([]string{id(1), id(2)}) {
		t.Errorf("%s %v", doc, missions)
	}
	path, err := j.PrivateFile(id(1))
	must(t, err)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	whole := read(t, path)
	for cut := range len(whole) - 1 {
		must(t, os.WriteFile(path, []byte(whole[:cut]), 0o600))
		var bad *DamagedError
		if _, err := j.Private(id(1)); !errors.As(err, &bad) || bad.Path != path {
			t.Fatalf("cut at %d: %v", cut, err)
		}
	}
	must(t, os.WriteFile(filepath.Join(filepath.Dir(path), tempPrefix+"left"), nil, 0o600))
	if swept, err := j.Sweep(); err != nil || len(swept) != 1 {
		t.Errorf("swept %q, %v", swept, err)
	}
	listed(t, j, 0, 0)
	must(t, j.DropPrivate(id(1)))
	must(t, j.DropPrivate(id(1)))
	_, err = j.Private(id(1))
	want(t, err, fs.ErrNotExist)
}

// TestPrivateAside: what was moved aside of a private document counts as it, and goes with
// it; what was moved aside of another, or of no document, stays.
func TestPrivateAside(t *testing.T) {
	j := opened(t)
	for range 2 {
		must(t, j.PutPrivate(id(1), []byte(`{}`)))
		path, err := j.PrivateFile(id(1))
		must(t, err)
		_, err = j.MoveAside(&DamagedError{Path: path})
		must(t, err)
	}
	must(t, j.PutPrivate(id(1), []byte(`{}`)))
	aside := filepath.Join(j.Dir(), damagedDir)
	others := []string{id(1) + "-x", id(1) + logSuffix + "-1", id(2) + "-1"}
	for _, name := range others {
		must(t, os.WriteFile(filepath.Join(aside, name), nil, 0o600))
	}
	files, err := j.PrivateFiles(id(1))
	must(t, err)
	if want := []string{filepath.Join(j.Dir(), privateDir, id(1)), filepath.Join(aside, id(1)+"-1"), filepath.Join(aside, id(1)+"-2")}; !slices.Equal(files, want) {
		t.Errorf("%q", files)
	}
	must(t, j.DropPrivate(id(1)))
	if files, err := j.PrivateFiles(id(1)); err != nil || len(files) > 0 {
		t.Errorf("%q, %v", files, err)
	}
	if _, names, err := j.Aside(); err != nil || !slices.Equal(names, slices.Sorted(slices.Values(others))) {
		t.Errorf("aside: %q, %v", names, err)
	}
	_, err = j.PrivateFiles("../" + id(1))
	want(t, err, ErrBadID)
}
