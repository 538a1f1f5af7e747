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

// How often a file that others change is begun with again, and how long one of them
// may hold it.
const (
	mostAttempts = 100
	patience     = 10 * time.Second
)

// Change replaces what a file holds by what change makes of it, durably, and reports
// whether that is anything else. Nil stands for no file, before and after. A link
// stays, and what it leads to is written, made or removed. The mode is that of a file
// that is new. change is called again if the file was changed since it was read, so
// it must do nothing but that.
// Of several processes of Umbra's each sees what the others have written; of
// another program's writing only what falls between the last look at the file and
// its replacement can be lost, since no program waits for another's lock.
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

// same reports whether two contents are one, where nil is none.
func same(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

// replace writes what is to be after, unless the file no longer is what it was.
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

// hold locks the directory of a file against others that change something in it by
// Change. The directory itself is what is locked, so that nothing is left beside
// the user's file. Where a file system knows no locks of directories (NFS lets none
// be taken of what can't be written to), the comparison has to do.
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
