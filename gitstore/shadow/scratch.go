package shadow

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/flock"
	"github.com/umbra-vcs/umbra/gitstore/objects"
)

// scratchPrefix begins the names of the directories of scratches.
const scratchPrefix = "umbra-scratch-"

// Scratch gives a Store that reads as this one does, and keeps what is written to
// it in a private directory for temporary files, which goes when it is closed: for
// who looks at a workspace where the repository can't be written to. Nothing of it
// is durable, and no ref may be written through it. It ends before this Store does.
func (s *Store) Scratch() (*Store, error) {
	if err := sweepDirs(os.TempDir(), scratchPrefix); err != nil {
		return nil, err
	}
	area, err := os.MkdirTemp("", scratchPrefix)
	if err != nil {
		return nil, err
	}
	scratch := bareStore(s.dir, area, s.project)
	if err := scratch.furnish(s); err != nil {
		return nil, errors.Join(err, os.RemoveAll(area))
	}
	return scratch, nil
}

// furnish makes the directories of a scratch, and claims it: nobody sweeps it away.
func (s *Store) furnish(of *Store) (err error) {
	if s.claim, err = flock.Hold(s.area, os.O_RDONLY, unix.LOCK_EX); err != nil {
		return err
	}
	dir := filepath.Join(s.area, "objects")
	if err := os.MkdirAll(filepath.Join(dir, "pack"), 0o700); err != nil {
		return errors.Join(err, flock.Release(s.claim))
	}
	if s.Reader, err = objects.OpenDir(dir, filepath.Join(of.dir, "objects")); err != nil {
		return errors.Join(err, flock.Release(s.claim))
	}
	s.segmentLog.Reader, s.distrust = s.Reader, of.distrust.clone()
	return nil
}

// IsScratch tells a Store that Scratch has made.
func (s *Store) IsScratch() bool { return s.area != s.dir }

// GitEnv is what a git of this repository needs in its environment: of a scratch, where
// its objects are, and that it writes them there.
func (s *Store) GitEnv() []string {
	if !s.IsScratch() {
		return nil
	}
	return []string{
		"GIT_OBJECT_DIRECTORY=" + filepath.Join(s.area, "objects"),
		"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + gitstore.QuoteC(filepath.Join(s.dir, "objects")),
	}
}

// dropScratch removes all that a scratch holds.
func (s *Store) dropScratch() error {
	if !s.IsScratch() {
		return nil
	}
	return errors.Join(os.RemoveAll(s.area), flock.Release(s.claim))
}
