package shadow

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/flock"
)

// replaySegments finishes what segments of an earlier boot hold.
func (s *segmentLog) replaySegments() error {
	boot := segmentBoot()
	for _, path := range s.list() {
		if boot != noBoot && strings.HasPrefix(filepath.Base(path), boot+".") {
			continue
		}
		f, err := waitSegment(path)
		if err != nil {
			return err
		}
		if f == nil {
			continue
		}
		err = s.replay(f)
		if err == nil {
			err = os.Remove(path)
		}
		if err = errors.Join(err, flock.Release(f)); err != nil {
			return fmt.Errorf("replay %s: %w", path, err)
		}
	}
	return nil
}

// replayPatience is how long Open waits for another process that replays the
// same segment.
const replayPatience = 5 * time.Second

// waitSegment is LockSegment for a segment that someone else may be replaying; it
// gives nil once that is done, or if a process on another machine holds it.
func waitSegment(path string) (*os.File, error) {
	for deadline := time.Now().Add(replayPatience); ; time.Sleep(5 * time.Millisecond) {
		f, err := LockSegment(path)
		if f != nil || err != nil {
			return f, err
		}
		if _, err := os.Lstat(path); err != nil || time.Now().After(deadline) {
			return nil, nil
		}
	}
}

// replay writes again, durably, each object of a segment that cannot be read.
func (s *segmentLog) replay(f *os.File) error {
	touched := false
	_, err := readSegment(f, func(id gitstore.ID, raw []byte) error {
		if _, _, err := s.Object(id); err == nil {
			return nil
		}
		if t, data, err := s.DecodeLoose(raw); err != nil || gitstore.HashFast(t, data) != id {
			return nil
		}
		touched = true
		return s.placeLoose(id, raw)
	})
	if err != nil || !touched {
		return err
	}
	return s.syncSegment(f)
}

// syncSegment makes the loose objects of a segment durable by themselves.
func (s *segmentLog) syncSegment(f *os.File) error {
	if done, err := s.sync.FileSystem(s.dir); done {
		return err
	}
	if _, err := f.Seek(0, 0); err != nil {
		return err
	}
	dirs := map[string]bool{filepath.Join(s.dir, "objects"): true}
	_, err := readSegment(f, func(id gitstore.ID, _ []byte) error {
		path := filepath.Join(s.dir, "objects", id.String()[:2], id.String()[2:])
		dirs[filepath.Dir(path)] = true
		return s.SyncPath(path)
	})
	for dir := range dirs {
		err = errors.Join(err, s.SyncPath(dir))
	}
	return err
}

// SyncPath makes a file or directory durable, unless it is gone.
func (s *segmentLog) SyncPath(path string) error {
	err := s.sync.Dir(path)
	if errors.Is(err, fs.ErrNotExist) {
		// Packed meanwhile, durably, and then removed.
		return nil
	}
	return err
}

// RetireSegments removes segments, this Store's own too, after their objects were synced,
// and counts them.
func (s *segmentLog) RetireSegments(ctx context.Context) (retired int, err error) {
	s.mu.Lock()
	own := s.segment
	s.segment = nil
	s.mu.Unlock()
	if own != nil {
		if err := own.close(); err != nil {
			return retired, err
		}
	}
	for _, path := range s.list() {
		if err := ctx.Err(); err != nil {
			return retired, err
		}
		f, err := LockSegment(path)
		if err != nil {
			return retired, err
		}
		if f == nil {
			continue
		}
		err = s.replay(f)
		if err == nil {
			err = s.syncSegment(f)
		}
		if err == nil {
			failpoint.Hit("segment.retiring")
			if err = os.Remove(path); err == nil {
				retired++
			}
		}
		if err = errors.Join(err, flock.Release(f)); err != nil {
			return retired, err
		}
	}
	return retired, nil
}
