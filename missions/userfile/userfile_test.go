package userfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// put has a file hold a content, and nothing else.
func put(file string, mode fs.FileMode, content []byte) error {
	_, err := Change(file, mode, func([]byte) ([]byte, error) { return content, nil })
	return err
}

// TestWrite replaces a file as people have it: new, with a mode of its own, and
// behind a link.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "new", "settings"), filepath.Join(dir, "link")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if p, err := Read(file); p != nil || err != nil {
		t.Errorf("a file that is not there: %q, %v", p, err)
	}
	check := func(text string, mode fs.FileMode) {
		t.Helper()
		p, err := Read(link)
		info, serr := os.Lstat(file)
		if err != nil || serr != nil || string(p) != text || info.Mode() != mode {
			t.Errorf("%q, %v, %v, %v; want %q, %v", p, info, err, serr, text, mode)
		}
	}
	if err := put(file, 0o600, []byte("one")); err != nil {
		t.Fatal(err)
	}
	check("one", 0o600)
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := put(link, 0o755, []byte("two")); err != nil {
		t.Fatal(err)
	}
	check("two", 0o640)
	other := filepath.Join(dir, "hook")
	if err := put(other, 0o755, []byte{}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(other); err != nil || info.Mode() != 0o755 {
		t.Errorf("a new hook: %v, %v", info, err)
	}
	if p, err := Read(other); p == nil || len(p) > 0 || err != nil {
		t.Errorf("an empty file: %q, %v", p, err)
	}
}

// TestRefused: what can't be read or written is named.
func TestRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	below := filepath.Join(file, "below")
	_, err := Read(below)
	for what, err := range map[string]error{"read": err, "write": put(below, 0o600, []byte{}), "write over a directory": put(filepath.Dir(file), 0o600, []byte{})} {
		if err == nil || !strings.Contains(err.Error(), filepath.Dir(file)) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := Reason(&fs.PathError{Op: "open", Path: file, Err: syscall.EACCES}); err != syscall.EACCES {
		t.Errorf("the reason is %v", err)
	}
	if err := Reason(syscall.EIO); err != syscall.EIO {
		t.Errorf("the reason is %v", err)
	}
}
