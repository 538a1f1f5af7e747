package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestMakeDirs makes what is missing below a directory, and never that itself.
func TestMakeDirs(t *testing.T) {
	base := filepath.Join(t.TempDir(), "base")
	deep := filepath.Join(base, "a", "b")
	for _, dir := range []string{deep, filepath.Join(base, "a")} {
		if err := MakeDirs(base+"/", dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("below nothing: %v", err)
		}
	}
	if _, err := os.Lstat(base); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("the base was made: %v", err)
	}
	if err := os.Mkdir(base, 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := MakeDirs(base, deep); err != nil {
			t.Error(err)
		}
	}
	if info, err := os.Stat(deep); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	file := filepath.Join(base, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := MakeDirs(base, file); !errors.Is(err, fs.ErrExist) {
		t.Errorf("where a file is: %v", err)
	}
	if err := MakeDirs(base, filepath.Join(file, "a", "b")); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("below a file: %v", err)
	}
}
