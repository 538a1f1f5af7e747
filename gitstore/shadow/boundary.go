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
	"strconv"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
)

// shallowFile is Git's own list of commits whose parents are not there
// (gitrepository-layout(5)), so that every Git client ends a history there too.
const shallowFile = "shallow"

// prunedFile says which boundaries pruning has made, and when: a line for each, with the
// commit after it and the seconds since 1970.
const prunedFile = "umbra/pruned"

// boundary says where histories break off, by the commit after it.
type boundary map[gitstore.ID]gap

// gap is what is before a boundary: the newest commit that is left of those before the lost
// one, zero if none is, and when the lost one was pruned, zero if it was not.
type gap struct {
	before   gitstore.ID
	prunedAt time.Time
}

// ReadBoundary reads the boundary anew: another process may have changed it.
func (s *Store) ReadBoundary() (boundary, error) {
	b := boundary{}
	err := eachLine(s.dir, shallowFile, func(id gitstore.ID, _ string) error {
		b[id] = gap{}
		return nil
	})
	if err == nil && len(b) > 0 {
		err = readBefore(s, b)
	}
	if err != nil {
		return nil, err
	}
	if len(b) > 0 {
		err = eachLine(s.dir, prunedFile, func(id gitstore.ID, at string) error {
			seconds, err := strconv.ParseInt(at, 10, 64)
			if g, is := b[id]; is && err == nil {
				b[id] = gap{g.before, time.Unix(seconds, 0).UTC()}
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	s.bounds.Store(&b)
	return b, nil
}

// readBefore reads what is left before each boundary. A ref of a boundary that can't be read
// is an error.
func readBefore(s *Store, b boundary) error {
	refs, err := s.Refs(gitstore.RefBefore)
	if err != nil {
		return err
	}
	for _, ref := range refs.Refs {
		if after, err := gitstore.ParseID(ref.Name.Arg()); err == nil {
			if _, is := b[after]; is {
				b[after] = gap{before: ref.ID}
			}
		}
	}
	for _, bad := range refs.Bad {
		after, err := gitstore.ParseID(gitstore.RefName(bad.Ref).Arg())
		if _, is := b[after]; is || err != nil {
			return &bad
		}
	}
	return nil
}

// eachLine reads a file of lines that each begin with an id; there may be none.
func eachLine(dir, name string, fn func(id gitstore.ID, rest string) error) error {
	data, err := disk.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for line := range bytes.Lines(data) {
		word, rest, _ := strings.Cut(string(bytes.TrimSpace(line)), " ")
		id, bad := gitstore.ParseID(word)
		if err == nil {
			err = bad
		}
		if err == nil {
			err = fn(id, rest)
		}
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}

// Reread takes note of boundaries that another process has made, as each walk over a
// history does.
func (s *Store) Reread() error {
	_, err := s.ReadBoundary()
	return err
}

// Boundaries is what is left before each commit at which a history breaks off, zero if nothing is.
func Boundaries(s *Store) (map[gitstore.ID]gitstore.ID, error) {
	b, err := s.ReadBoundary()
	before := make(map[gitstore.ID]gitstore.ID, len(b))
	for after, g := range b {
		before[after] = g.before
	}
	return before, err
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
	c, err := s.Reader.Commit(id)
	if err != nil {
		return nil, err
	}
	if s.bounds.Load() == nil {
		if err := s.Reread(); err != nil {
			return nil, err
		}
	}
	if g, cut := (*s.bounds.Load())[id]; cut {
		c.Lost, c.Parents, c.PrunedAt = c.FirstParent(), nil, g.prunedAt
		if !g.before.IsZero() {
			c.Parents = []gitstore.ID{g.before}
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
	return s.writeBoundary(ctx, func(b boundary) { b[after] = gap{before: before} })
}

// Regained takes boundaries away whose lost commits are there again. What was pruned may
// be there for a while still.
func (s *Store) Regained(ctx context.Context) error {
	b, err := s.ReadBoundary()
	if err != nil || len(b) == 0 {
		return err
	}
	back := map[gitstore.ID]gitstore.ID{}
	for after, g := range b {
		c, err := s.Reader.Commit(after)
		if err != nil || !g.prunedAt.IsZero() {
			continue
		}
		if _, err := s.Reader.Commit(c.FirstParent()); err == nil {
			back[after] = g.before
		}
	}
	if len(back) == 0 {
		return nil
	}
	if err := s.writeBoundary(ctx, func(b boundary) {
		maps.DeleteFunc(b, func(id gitstore.ID, _ gap) bool { _, is := back[id]; return is })
	}); err != nil {
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
	return s.Reread()
}

// IDLines lists ids, one a line.
func IDLines[V any](ids map[gitstore.ID]V) []byte {
	var text bytes.Buffer
	for _, id := range slices.SortedFunc(maps.Keys(ids), gitstore.ID.Compare) {
		fmt.Fprintln(&text, id)
	}
	return text.Bytes()
}
