package shadow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
)

// shallowFile is Git's own list of commits whose parents are not there
// (gitrepository-layout(5)), so that every Git client ends a history there too.
const shallowFile = "shallow"

// boundary says where histories break off: for each commit whose parent is lost, the
// newest commit that is left of those before the lost one, zero if none is.
type boundary map[gitstore.ID]gitstore.ID

// ReadBoundary reads the boundary anew: another process may have changed it.
func (s *Store) ReadBoundary() (boundary, error) {
	data, err := disk.ReadFile(filepath.Join(s.dir, shallowFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	b := boundary{}
	for line := range bytes.Lines(data) {
		id, err := gitstore.ParseID(string(bytes.TrimSpace(line)))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", shallowFile, err)
		}
		if b[id], err = s.Ref(gitstore.BeforeRef(id)); err != nil && !errors.Is(err, gitstore.ErrRefNotFound) {
			return nil, err
		}
	}
	s.bounds.Store(&b)
	return b, nil
}

// Reread takes note of boundaries that another process has made, as each walk over a
// history does.
func (s *Store) Reread() error {
	_, err := s.ReadBoundary()
	return err
}

// Bounded reports whether history breaks off at a commit.
func (s *Store) Bounded(id gitstore.ID) bool {
	b := s.bounds.Load()
	if b == nil {
		return false
	}
	_, is := (*b)[id]
	return is
}

// Commit reads a commit. Where its parent is lost, Lost names that one, and Parents
// is the newest commit that is left of those before it.
func (s *Store) Commit(id gitstore.ID) (*gitstore.Commit, error) {
	c, err := s.Objects.Commit(id)
	if err != nil {
		return nil, err
	}
	b := s.bounds.Load()
	if b == nil {
		read, err := s.ReadBoundary()
		if err != nil {
			return nil, err
		}
		b = &read
	}
	if before, cut := (*b)[id]; cut {
		c.Lost, c.Parents = c.FirstParent(), nil
		if !before.IsZero() {
			c.Parents = []gitstore.ID{before}
		}
	}
	return c, nil
}

// Bind makes a boundary: what keeps the commits before it first.
func (s *Store) Bind(ctx context.Context, after, before gitstore.ID) error {
	if !before.IsZero() {
		if err := s.UpdateRef(ctx, gitstore.BeforeRef(after), gitstore.ID{}, before, gitstore.Durable); err != nil && !errors.Is(err, gitstore.ErrRefMoved) {
			return err
		}
	}
	return s.writeBoundary(ctx, func(b boundary) { b[after] = before })
}

// Regained takes boundaries away whose lost commits are there again.
func (s *Store) Regained(ctx context.Context) error {
	b, err := s.ReadBoundary()
	if err != nil || len(b) == 0 {
		return err
	}
	back := map[gitstore.ID]gitstore.ID{}
	for after, before := range b {
		c, err := s.Objects.Commit(after)
		if err != nil {
			continue
		}
		if _, err := s.Objects.Commit(c.FirstParent()); err == nil {
			back[after] = before
		}
	}
	if len(back) == 0 {
		return nil
	}
	if err := s.writeBoundary(ctx, func(b boundary) { maps.DeleteFunc(b, func(id, _ gitstore.ID) bool { _, is := back[id]; return is }) }); err != nil {
		return err
	}
	for after, before := range back {
		if before.IsZero() {
			continue
		}
		if err := s.DeleteRef(ctx, gitstore.BeforeRef(after), before); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) writeBoundary(ctx context.Context, change func(boundary)) error {
	err := s.Rewrite(ctx, shallowFile, func() ([]byte, error) {
		b, err := s.ReadBoundary()
		if err != nil {
			return nil, err
		}
		change(b)
		return IDLines(b), nil
	})
	if err != nil {
		return err
	}
	_, err = s.ReadBoundary()
	return err
}

// IDLines lists ids, one a line.
func IDLines[V any](ids map[gitstore.ID]V) []byte {
	var text bytes.Buffer
	for _, id := range slices.SortedFunc(maps.Keys(ids), gitstore.ID.Compare) {
		fmt.Fprintln(&text, id)
	}
	return text.Bytes()
}
