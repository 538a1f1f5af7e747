// Package userfile reads and replaces the files of the user's that Umbra may change
// a part of: settings, hooks, configuration. It knows of no format, and makes
// nothing that it was not asked for but the directory of a new file.
package userfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/journal"
)

// Read reads a file whole; nil without an error is that there is none. It waits for
// nobody: what is no file, such as a FIFO, is an error.
func Read(file string) ([]byte, error) {
	p, err := disk.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, Reason(err))
	}
	return p, nil
}

// write replaces a file durably, where it really is, with the mode it had, or with
// one for a file that is new.
func write(file string, mode fs.FileMode, content []byte) error {
	if info, err := os.Stat(file); err == nil {
		mode = info.Mode().Perm()
	}
	if _, err := journal.Sweep(filepath.Dir(file)); err != nil { // of a process that was killed here
		return fmt.Errorf("write %s: %w", file, err)
	}
	if err := journal.WriteFile(file, mode, content); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}

// followed is where a file really is, or would be: behind links, also those that
// lead to nothing yet.
func followed(file string) (string, error) {
	for range 40 {
		target, err := os.Readlink(file)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EINVAL) { // none, or no link
			return file, nil
		}
		if err != nil {
			return file, err
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(file), target)
		}
		file = target
	}
	return file, syscall.ELOOP
}

// makeDir makes the directory of a file.
func makeDir(file string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("make %s: %w", filepath.Dir(file), Reason(err))
	}
	return nil
}

// MissingDirs are the directories that Change would make for a file, the deepest first.
func MissingDirs(file string) (dirs []string) {
	target, err := followed(file)
	if err != nil {
		return nil
	}
	for dir := filepath.Dir(target); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			return dirs
		}
		dirs = append(dirs, dir)
	}
}

// Reason is the reason in an error of the os package, without its path.
func Reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
