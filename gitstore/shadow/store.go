package shadow

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/durable"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/flock"
	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/gitstore/objects"
	"github.com/umbra-vcs/umbra/gitstore/uuid"
)

// Store is the shadow repository of one project. Its methods are safe for
// concurrent use by goroutines and by other processes with the same repository
// open. Errors about one object are *ObjectError, about one ref *RefError.
type Store struct {
	*objects.Reader
	*refs
	*segmentLog
	*distrust

	dir     string
	area    string   // where new objects go: dir, but for a scratch
	claim   *os.File // a scratch's, nil else
	project string
	sync    *durable.Syncer

	bounds atomic.Pointer[boundary] // as it was read last
}

// CreateOptions are what a new shadow repository is told about itself.
type CreateOptions struct {
	// ProjectID is the project's UUID.
	ProjectID string
	// FormatVersion is FormatVersion if zero.
	FormatVersion int
}

// Directories of Umbra's own inside the shadow repository. Git passes over them.
const (
	segmentDir = "umbra/segments"
	RefLockDir = "umbra/reflocks"
)

// Create makes the shadow repository dir (whose parent exists) with mode 0700
// and opens it. It is made under a temporary name and appears whole; if dir
// exists the error wraps fs.ErrExist and nothing was changed, also when another
// process made it just now.
func Create(ctx context.Context, dir string, opts CreateOptions) (*Store, error) {
	if !uuid.Is(opts.ProjectID) {
		return nil, fmt.Errorf("create %s: project id %q is not a UUID in lower case", dir, opts.ProjectID)
	}
	if opts.FormatVersion == 0 {
		opts.FormatVersion = FormatVersion
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(dir); err == nil {
		return nil, &fs.PathError{Op: "create", Path: dir, Err: fs.ErrExist}
	}
	parent := filepath.Dir(dir)
	pattern := Unmade + filepath.Base(dir) + "_"
	if err := sweepDirs(parent, pattern); err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp(parent, pattern)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	held, err := flock.Hold(tmp, os.O_RDONLY, unix.LOCK_EX)
	if err != nil {
		return nil, err
	}
	defer func() { _ = flock.Release(held) }()
	s := &durable.Syncer{}
	if err := populate(s, tmp, opts); err != nil {
		return nil, fmt.Errorf("create %s: %w", dir, err)
	}
	failpoint.Hit("store.made")
	if err := os.Rename(tmp, dir); err != nil {
		if _, e := os.Lstat(dir); e == nil {
			return nil, &fs.PathError{Op: "create", Path: dir, Err: fs.ErrExist}
		}
		return nil, err
	}
	failpoint.Hit("store.named")
	if err := s.Dir(parent); err != nil {
		return nil, err
	}
	return Open(dir)
}

// Unmade begins the names of the directories in which Create makes a Store, beside
// where it is to be.
const Unmade = "tmp_"

// sweepDirs removes what killed calls of Create left.
func sweepDirs(parent, prefix string) error {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		path := filepath.Join(parent, e.Name())
		f, err := flock.Hold(path, os.O_RDONLY, unix.LOCK_EX)
		if err != nil {
			continue
		}
		fi, err := f.Stat()
		if err == nil && time.Since(fi.ModTime()) > freshPack {
			err = os.RemoveAll(path)
		}
		if err = errors.Join(err, flock.Release(f)); err != nil {
			return err
		}
	}
	return nil
}

func populate(s *durable.Syncer, dir string, opts CreateOptions) error {
	dirs := []string{"objects", "objects/info", "objects/pack", "info", "refs", "umbra", segmentDir, RefLockDir, UnverifiedDir, "refs/trash"}
	for _, kind := range gitstore.RefKinds() {
		if kind == gitstore.RefFetchedAgent || kind == gitstore.RefFetchedRecord {
			continue // made with the first ref, in a directory of the remote
		}
		dirs = append(dirs, filepath.Clean(string(kind)))
	}
	for _, d := range dirs {
		if err := disk.MakeDirs(dir, filepath.Join(dir, d)); err != nil {
			return err
		}
	}
	files := map[string][]byte{
		"HEAD":   []byte(headText),
		"config": configText(opts.ProjectID, opts.FormatVersion),
	}
	for name, data := range files {
		if err := s.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return err
		}
	}
	// Syncing a directory makes durable what was made in it: those that are
	// empty need none of their own.
	holds := map[string]bool{}
	for _, d := range append(dirs, "HEAD") {
		if above := filepath.Dir(d); !holds[above] {
			holds[above] = true
			if err := s.Dir(filepath.Join(dir, above)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Open opens a shadow repository. Another format version is a *FormatError, a
// directory that is none a *NotShadowError. Objects that an unclean end of the
// machine left unfinished are put right first (see Batch.Flush), unless nothing can
// be written there: then they are missing until it can.
func Open(dir string) (*Store, error) {
	project, err := identity(dir)
	if err != nil {
		return nil, err
	}
	reader, err := objects.OpenDir(filepath.Join(dir, "objects"), "")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &NotShadowError{Dir: dir, Reason: "it has no objects directory"}
	}
	if err != nil {
		return nil, err
	}
	s := bareStore(dir, dir, project)
	s.Reader, s.segmentLog.Reader = reader, reader
	if err := s.replaySegments(); err != nil && !unwritable(err) {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	return s, nil
}

// bareStore gives a Store without its objects.
func bareStore(dir, area, project string) *Store {
	s := &Store{dir: dir, area: area, project: project, sync: &durable.Syncer{}}
	s.refs = &refs{dir: dir, sync: s.sync, stored: s.storedCommit}
	s.segmentLog = &segmentLog{dir: dir, area: area, sync: s.sync}
	s.distrust = &distrust{}
	return s
}

// unwritable tells of an error that a directory can only be read.
func unwritable(err error) bool {
	return errors.Is(err, unix.EROFS) || errors.Is(err, fs.ErrPermission)
}

// Close releases descriptors and locks held. Batches not flushed are lost, and so is
// all that was written to a scratch.
func (s *Store) Close() error {
	segments := s.segmentLog.close()
	return errors.Join(s.Reader.Close(), segments, s.dropScratch())
}

// PackDir is where packs are written.
func (s *Store) PackDir() string { return filepath.Join(s.area, "objects", "pack") }

// Dir is the path of the shadow repository.
func (s *Store) Dir() string { return s.dir }

// ProjectID is the project's UUID.
func (s *Store) ProjectID() string { return s.project }

// Syncer makes files of the repository durable, and is counted by Fsyncs.
func (s *Store) Syncer() *durable.Syncer { return s.sync }

// Fsyncs is how often this Store has called fsync or fdatasync so far.
func (s *Store) Fsyncs() int64 { return s.sync.Count.Load() }

// Git runs git on the shadow repository.
func (s *Store) Git(ctx context.Context, args ...string) ([]byte, error) {
	return git.Run(ctx, git.Command{Dir: s.dir, GitDir: s.dir, Args: args})
}

// IsThere tells whether anything has a name.
func IsThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
