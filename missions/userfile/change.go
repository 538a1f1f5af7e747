//go:build unix

package userfile

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// How often Change tries again when others change the file, and how long it waits for one
// that has locked it.
const (
	mostAttempts = 100
	patience     = 10 * time.Second
)

// Change replaces a file's content by what change makes of it, durably, and reports whether
// the two differ. Nil stands for no file, before and after. A link stays: its target is
// written, made or removed. The mode is for a new file. change is called again if the file
// was changed since it was read, so it must have no other effect.
//
// Processes of Umbra's wait for each other, so none loses another's change. Another program
// does not wait: what it writes between the last read and the replacement is lost.
func Change(file string, mode fs.FileMode, change func(before []byte) ([]byte, error)) (changed bool, err error) {
	for range mostAttempts {
		before, err := Read(file)
		if err != nil {
			return false, err
		}
		after, err := change(before)
		if err != nil || same(before, after) {
			return false, err
		}
		if done, err := replace(file, mode, before, after); done || err != nil {
			return done, err
		}
	}
	return false, fmt.Errorf("change %s: others change it all the time", file)
}

// same reports whether two contents are equal. Nil, no file, differs from an empty one.
func same(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

// replace writes after, unless the file no longer holds before.
func replace(file string, mode fs.FileMode, before, after []byte) (done bool, err error) {
	target, err := followed(file)
	if err != nil {
		return false, fmt.Errorf("write %s: %w", file, Reason(err))
	}
	if err := makeDir(target); err != nil {
		return false, err
	}
	release, err := hold(filepath.Dir(target))
	if err != nil {
		return false, fmt.Errorf("write %s: %w", file, err)
	}
	defer release()
	now, err := Read(file)
	if err != nil || !same(now, before) {
		return false, err
	}
	if after != nil {
		return true, write(target, mode, after)
	}
	if err := os.Remove(target); err != nil {
		return false, fmt.Errorf("remove %s: %w", target, Reason(err))
	}
	return true, nil
}

// hold locks a file's directory, so that calls of Change for files in it wait for each other.
// It locks the directory itself, so that no lock file is left beside the user's file. Some file
// systems can't lock a directory (NFS locks only what is open for writing): there Change relies
// on comparing the content.
func hold(dir string) (release func(), err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, Reason(err)
	}
	release = func() { _ = d.Close() }
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		switch err := unix.Flock(int(d.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
		case err != unix.EWOULDBLOCK && err != unix.EINTR:
			return release, nil
		case time.Now().After(end):
			release()
			return nil, fmt.Errorf("another process has had %s locked for %s", dir, patience)
		}
	}
}
