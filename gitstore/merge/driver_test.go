package merge_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/merge"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
)

// TestHangingDriver: a driver that hangs ends with the merge, and so does all that it has
// started. Both hold a pipe open as long as they are there.
func TestHangingDriver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe, program := filepath.Join(dir, "pipe"), filepath.Join(dir, "mergiraf")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, []byte("#!/bin/sh\nexec 3>'"+pipe+"'\nsleep 1000 &\necho begun >&3\nwait\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := storetest.New(t)
	sides := merge.Sides{
		Base: writeTree(t, s, files{"f": "1\n"}), Ours: writeTree(t, s, files{"f": "2\n"}), Theirs: writeTree(t, s, files{"f": "3\n"}),
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := merge.Attempt(ctx, s, sides, merge.Driver{Name: "mergiraf", Program: program})
		ended <- err
	}()
	opened := make(chan *os.File, 1)
	go func() {
		held, _ := os.Open(pipe) // waits for the driver
		opened <- held
	}()
	var held *os.File
	select {
	case held = <-opened:
		defer held.Close()
	case err := <-ended:
		t.Fatalf("no driver has begun: %v", err)
	}
	if _, err := io.ReadFull(held, make([]byte, len("begun\n"))); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("it has ended with %v", err)
	}
	if _, err := io.ReadAll(held); err != nil { // until nobody holds it
		t.Error(err)
	}
}
