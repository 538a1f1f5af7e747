package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestRepacks: who holds the directory of the quarantines repacks, and nobody else.
func TestRepacks(t *testing.T) {
	shadow := t.TempDir()
	if repacks(shadow) {
		t.Error("a repository that was never repacked is being repacked")
	}
	place := filepath.Join(shadow, "umbra", "repack")
	if err := os.MkdirAll(place, 0o755); err != nil {
		t.Fatal(err)
	}
	dir, err := os.Open(place)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	for range 2 {
		if repacks(shadow) {
			t.Error("nobody holds it, and it is being repacked")
		}
		if err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			t.Fatal(err)
		}
		if !repacks(shadow) {
			t.Error("a repack is not seen")
		}
		if err := syscall.Flock(int(dir.Fd()), syscall.LOCK_UN); err != nil {
			t.Fatal(err)
		}
	}
}
