package beneath

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestHandle(t *testing.T) {
	dir := t.TempDir()
	root, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	d, err := root.OpenDir("")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	h, err := d.CreateHandle("a", 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := h.WriteAt([]byte("hello"), 3); n != 5 || err != nil {
		t.Fatal(n, err)
	}
	if err := errors.Join(h.Truncate(7), h.Chmod(0o640), h.Close()); err != nil {
		t.Fatal(err)
	}
	h, st, err := d.OpenHandle("a")
	if err != nil || st.Size != 7 || st.Perm() != 0o640 || st.Kind() != File {
		t.Fatal(st, err)
	}
	buffer := make([]byte, 10)
	if n, err := h.ReadAt(buffer, 1); n != 6 || err != io.EOF || string(buffer[:n]) != "\x00\x00hell" {
		t.Errorf("read %q %v", buffer[:n], err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.CreateHandle("a", 0o600); !errors.Is(err, fs.ErrExist) {
		t.Errorf("create over a file: %v", err)
	}
	if _, err := d.CreateHandle(".git", 0o600); !errors.Is(err, ErrReserved) {
		t.Errorf("create .git: %v", err)
	}
	if _, _, err := d.OpenHandle("../a"); !errors.Is(err, ErrHostilePath) {
		t.Errorf("open outside: %v", err)
	}
}

// What is not a regular file is never read, and no FIFO hangs.
func TestHandleOfOtherThings(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(
		os.Mkdir(filepath.Join(dir, "dir"), 0o755), os.Symlink("dir", filepath.Join(dir, "link")),
		unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	root, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	d, err := root.OpenDir("")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for name, want := range map[string]error{"dir": ErrNotRegular, "fifo": ErrNotRegular, "link": ErrSymlink, "none": fs.ErrNotExist} {
		if _, _, err := d.OpenHandle(name); !errors.Is(err, want) {
			t.Errorf("open %s: %v, want %v", name, err, want)
		}
	}
}
