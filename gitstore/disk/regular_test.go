package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOnlyFilesAreRead: nobody waits at a FIFO, and a device or directory is not
// read; what is not there is told from them.
func TestOnlyFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	fifo, file, link := filepath.Join(dir, "fifo"), filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := errors.Join(unix.Mkfifo(fifo, 0o600), os.WriteFile(file, []byte("text"), 0o600), os.Symlink(file, link)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{
		fifo: ErrNotRegular, "/dev/zero": ErrNotRegular, dir: nil, filepath.Join(dir, "none"): fs.ErrNotExist, "": fs.ErrNotExist,
	} {
		f, _, err := OpenRegular(path)
		if err == nil {
			f.Close()
		}
		if err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("open %q: %v", path, err)
		}
		if _, err := ReadFile(path); err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("read %q: %v", path, err)
		}
	}
	for _, path := range []string{file, link} {
		f, info, err := OpenRegular(path)
		if err != nil || info.Size() != 4 {
			t.Fatal(info, err)
		}
		f.Close()
		if text, err := ReadFile(path); err != nil || string(text) != "text" {
			t.Errorf("%s: %q %v", path, text, err)
		}
	}
}
