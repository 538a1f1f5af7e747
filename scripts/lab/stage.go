package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/umbra-vcs/umbra/scripts/patience"
)

// A Stage is a place to measure in: a fresh file system of its own where one may
// be mounted, else a new directory. ext4 makes files many times slower for a
// while after others were removed, so nothing is measured where something was
// deleted before.
type Stage struct {
	Dir   string // absolute
	Where string // what it is, for people

	image string // mounted at Dir, "" if nothing is
	base  string // holds all of it
}

// NewStage makes one below parent with a file system of the given type and size
// in bytes (sparse). If that can't be mounted, Where says why, and the stage is
// a new directory; it is an error only if required says that it must be mounted.
func NewStage(ctx context.Context, parent, kind string, size int64, required bool) (*Stage, error) {
	base, err := os.MkdirTemp(parent, "umbra-stage-")
	if err != nil {
		return nil, fmt.Errorf("make a place to measure in: %w", err)
	}
	s := &Stage{Dir: filepath.Join(base, "fs"), base: base}
	if err := os.Mkdir(s.Dir, 0o755); err != nil {
		return nil, errors.Join(err, os.RemoveAll(base))
	}
	err = s.mount(ctx, kind, size)
	switch {
	case err == nil:
		s.Where = "a fresh " + kind + ", loop-mounted"
	case required:
		return nil, errors.Join(err, os.RemoveAll(base))
	default:
		s.Where = fmt.Sprintf("a new directory (no file system of its own: %v)", err)
	}
	return s, nil
}

func (s *Stage) mount(ctx context.Context, kind string, size int64) error {
	image := filepath.Join(s.base, "image")
	f, err := os.Create(image)
	if err != nil {
		return fmt.Errorf("make an image: %w", err)
	}
	if err := errors.Join(f.Truncate(size), f.Close()); err != nil {
		return fmt.Errorf("make an image: %w", err)
	}
	for _, args := range [][]string{
		{"mkfs." + kind, "-q", image},
		{"mount", "-o", "loop", image, s.Dir},
	} {
		if _, _, err := (Command{Args: args, Env: os.Environ()}).Run(ctx); err != nil {
			return errors.Join(err, os.Remove(image))
		}
	}
	s.image = image
	return os.Chmod(s.Dir, 0o755)
}

// Settle writes everything out that waits to be written, so that the next fsync
// pays for its own bytes alone.
func (s *Stage) Settle(ctx context.Context) error {
	_, _, err := Command{Args: []string{"sync", "-f", s.Dir}, Env: os.Environ()}.Run(ctx)
	return err
}

// Close takes all of it away.
func (s *Stage) Close() error {
	if s.image != "" {
		if err := s.unmount(); err != nil {
			return fmt.Errorf("%w; then remove %s", err, s.base)
		}
	}
	return os.RemoveAll(s.base)
}

// unmount waits for a process that has ended to let go of its files.
func (s *Stage) unmount() error {
	// The context of a run that was interrupted is over by now.
	ctx, cancel := context.WithTimeout(context.Background(), patience.Of(time.Minute))
	defer cancel()
	for {
		_, _, err := Command{Args: []string{"umount", s.Dir}, Env: os.Environ()}.Run(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(200 * time.Millisecond):
		}
	}
}
