// Package durable makes files and names outlast a power cut, and counts what that costs.
// It knows nothing of what is in them.
package durable

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
)

// Syncer makes files durable and counts how often, since the cost of a snapshot
// is counted in fsyncs (at most five).
type Syncer struct {
	// Count is how often it was done so far.
	Count atomic.Int64
	// Before, if set, runs before each fsync; its error replaces it.
	Before func(path string) error
}

// File makes the content of f durable.
func (s *Syncer) File(f *os.File) error {
	if s.Before != nil {
		if err := s.Before(f.Name()); err != nil {
			return err
		}
	}
	s.Count.Add(1)
	failpoint.Hit("gitstore.sync")
	err := f.Sync()
	failpoint.Hit("gitstore.synced")
	return err
}

// Data makes the content of f durable, and of its metadata what reading it needs.
func (s *Syncer) Data(f *os.File) error {
	if s.Before != nil {
		if err := s.Before(f.Name()); err != nil {
			return err
		}
	}
	s.Count.Add(1)
	failpoint.Hit("gitstore.datasync")
	err := datasync(f)
	failpoint.Hit("gitstore.datasynced")
	return err
}

// Dir makes names created in, renamed into and removed from path durable.
func (s *Syncer) Dir(path string) error {
	f, err := disk.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return s.File(f)
}

// FileSystem makes everything durable that was written to the file system so far,
// and reports true, where the system can do that.
func (s *Syncer) FileSystem(dir string) (bool, error) {
	if s.Before != nil {
		if err := s.Before(dir); err != nil {
			return false, err
		}
	}
	done, err := syncFileSystem(dir)
	if done {
		s.Count.Add(1)
	}
	return done, err
}

// MakeDirs makes path and its parents below base, and durable the names that are new.
func (s *Syncer) MakeDirs(base, path string) error {
	if fi, err := os.Stat(path); err == nil && fi.IsDir() {
		return nil
	}
	if path == filepath.Clean(base) {
		return &fs.PathError{Op: "mkdir", Path: path, Err: fs.ErrNotExist}
	}
	parent := filepath.Dir(path)
	if err := s.MakeDirs(base, parent); err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o700); err != nil && !os.IsExist(err) {
		return err
	}
	return s.Dir(parent)
}

// WriteFile writes a new file and makes its content durable, not its name.
func (s *Syncer) WriteFile(path string, data []byte, perm os.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err == nil {
		err = s.File(f)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
