package gitstore

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
)

// syncer makes files durable and counts how often, since the cost of a snapshot
// is counted in fsyncs (at most five).
type syncer struct {
	count atomic.Int64
	// before, if set, runs before each fsync; its error replaces it.
	before func(path string) error
}

func (s *syncer) file(f *os.File) error {
	if s.before != nil {
		if err := s.before(f.Name()); err != nil {
			return err
		}
	}
	s.count.Add(1)
	failpoint.Hit("gitstore.sync")
	err := f.Sync()
	failpoint.Hit("gitstore.synced")
	return err
}

// data makes the content of f durable, and of its metadata what reading it needs.
func (s *syncer) data(f *os.File) error {
	if s.before != nil {
		if err := s.before(f.Name()); err != nil {
			return err
		}
	}
	s.count.Add(1)
	failpoint.Hit("gitstore.datasync")
	err := datasync(f)
	failpoint.Hit("gitstore.datasynced")
	return err
}

// dir makes names created in, renamed into and removed from path durable.
func (s *syncer) dir(path string) error {
	f, err := disk.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return s.file(f)
}

// fileSystem makes everything durable that was written to the file system so far,
// and reports true, where the system can do that.
func (s *syncer) fileSystem(dir string) (bool, error) {
	if s.before != nil {
		if err := s.before(dir); err != nil {
			return false, err
		}
	}
	done, err := syncFileSystem(dir)
	if done {
		s.count.Add(1)
	}
	return done, err
}

// mkdirs makes path and its parents below base, and durable the names that are new.
func (s *syncer) mkdirs(base, path string) error {
	if fi, err := os.Stat(path); err == nil && fi.IsDir() {
		return nil
	}
	if path == filepath.Clean(base) {
		return &fs.PathError{Op: "mkdir", Path: path, Err: fs.ErrNotExist}
	}
	parent := filepath.Dir(path)
	if err := s.mkdirs(base, parent); err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o700); err != nil && !os.IsExist(err) {
		return err
	}
	return s.dir(parent)
}

// writeFile writes a new file and makes its content durable, not its name.
func (s *syncer) writeFile(path string, data []byte, perm os.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err == nil {
		err = s.file(f)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
