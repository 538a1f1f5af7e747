package disk

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestReadFileReadsWhatOSReads(t *testing.T) {
	dir := t.TempDir()
	for _, size := range []int{0, 1, 511, 512, 513, 1 << 20} {
		name := filepath.Join(dir, "file")
		content := bytes.Repeat([]byte{'x'}, size)
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadFile(name); err != nil || !bytes.Equal(got, content) {
			t.Errorf("of %d bytes %d were read: %v", size, len(got), err)
		}
	}
	for name, want := range map[string]error{"missing": fs.ErrNotExist, "file/below": unix.ENOTDIR, "": unix.EISDIR} {
		_, err := ReadFile(filepath.Join(dir, name))
		var path *fs.PathError
		if !errors.Is(err, want) || !errors.As(err, &path) || path.Path != filepath.Join(dir, name) {
			t.Errorf("%q: %v, want %v", name, err, want)
		}
	}
}

func TestReadFileReadsFilesWithoutALength(t *testing.T) {
	name := "/proc/self/mountinfo" // longer than any first buffer, and said to be empty
	want, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		name = "/dev/null" // a system without /proc
		want, err = os.ReadFile(name)
	}
	got, gerr := ReadFile(name)
	if err != nil || gerr != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, want %d: %v, %v", len(got), len(want), gerr, err)
	}
}

func TestOpenFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	f, err := OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("one"); err != nil {
		t.Error(err)
	}
	if flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
		t.Errorf("a child would hold it: %#x, %v", flags, err)
	}
	if fi, err := f.Stat(); err != nil || fi.Mode()&^0o640 != 0 || f.Name() != name {
		t.Errorf("%v, %v, %s", fi.Mode(), err, f.Name())
	}
	if _, err := OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o640); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second file was made: %v", err)
	}
	more, err := OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer more.Close()
	if _, err := more.WriteString("two"); err != nil {
		t.Error(err)
	}
	if got, err := ReadFile(name); err != nil || string(got) != "onetwo" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := Open(filepath.Join(filepath.Dir(name), "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("opened what is not there: %v", err)
	}
}

// TestIsAt: what a path names by now is told from what can't be known.
func TestIsAt(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sub", "file")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	other := filepath.Join(dir, "other")
	steps := []struct {
		what string
		do   func() error
		want bool
	}{
		{"made", func() error { return nil }, true},
		{"a link to it", func() error { return errors.Join(os.Rename(path, other), os.Symlink(other, path)) }, false},
		{"its other name", func() error { return errors.Join(os.Remove(path), os.Link(other, path)) }, true},
		{"another file", func() error { return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600)) }, false},
		{"nothing", func() error { return os.Remove(path) }, false},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		if is, err := IsAt(path, f); is != step.want || err != nil {
			t.Errorf("%s: %v, %v", step.what, is, err)
		}
	}
	if err := errors.Join(os.Remove(filepath.Dir(path)), os.Rename(other, filepath.Dir(path))); err != nil {
		t.Fatal(err)
	}
	if is, err := IsAt(path, f); is || !errors.Is(err, unix.ENOTDIR) {
		t.Errorf("a file in the directory's place: %v, %v", is, err)
	}
}
