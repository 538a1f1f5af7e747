package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/flock"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// Problem is one way in which the repository is not as it must be.
type Problem struct {
	// Invariant is I1, I2, I3 or I6.
	Invariant string `json:"invariant"`
	// Ref is the ref it was found from, "" if none.
	Ref     string `json:"ref,omitempty"`
	Message string `json:"message"`
	// Fix is what to type, "" if there is nothing.
	Fix string `json:"fix,omitempty"`
	// Details are what git says of it, a line each.
	Details []string `json:"details,omitempty"`
	// Rotten are the files it is about, for Salvage; Lost what snapshots hold
	// that can't be read.
	Rotten []RottenFile `json:"-"`
	Lost   []Loss       `json:"-"`
}

const (
	fixCommand = "umbra doctor --fix"
	// lockAge is how old a lock of another program must be to be a problem.
	lockAge = time.Minute
)

// checker is one Check.
type checker struct {
	ctx      context.Context
	store    *shadow.Store
	roots    []gitstore.ID
	problems []Problem
	lost     map[gitstore.ID]bool // what can't be read, which is said once; nil if nobody has looked

	unrecorded bool // a record can't be read
}

// Check looks for everything in the repository that breaks I1, I2, I3 or, of its
// own lock files and temporary files, I6. It changes nothing, reads every object, and takes as long
// as that needs. The error is one of the check itself, such as a cancelled
// context.
//
// Roots are what is written and not published.
func Check(ctx context.Context, s *shadow.Store, roots ...gitstore.ID) ([]Problem, error) {
	s.ForgetRecent()
	c := &checker{ctx: ctx, store: s, roots: roots}
	list, err := s.Refs("")
	if err != nil {
		return nil, err
	}
	c.badRefs(list)
	if _, err := s.ReadBoundary(); err != nil {
		c.add(Problem{Invariant: "I1", Message: err.Error()})
	}
	if err := c.objects(); err != nil {
		return nil, err
	}
	for _, ref := range list.Refs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		switch ref.Name.Kind() {
		case gitstore.RefAgent:
			c.mission(ref, gitstore.RecordRef(ref.Name.Mission()))
		case gitstore.RefTrashAgent:
			c.mission(ref, gitstore.TrashRecordRef(ref.Name.Mission()))
		case gitstore.RefPin:
			c.pin(ref)
		}
	}
	if c.unrecorded && c.lost == nil { // git knows nothing of what a trailer names
		if err := c.explain(nil); err != nil {
			return nil, err
		}
	}
	if err := c.locks(); err != nil {
		return nil, err
	}
	if err := c.leftovers(); err != nil {
		return nil, err
	}
	return c.problems, nil
}

func (c *checker) add(p Problem) { c.problems = append(c.problems, p) }

func (c *checker) badRefs(list *gitstore.RefList) {
	for _, bad := range list.Bad {
		p := Problem{Invariant: "I1", Ref: bad.Ref, Message: bad.Err.Error()}
		name := gitstore.RefName(bad.Ref)
		switch {
		case strings.HasPrefix(bad.Ref, shadow.PackedRefsFile+" "):
			p.Fix = fixCommand
		case name.Validate() != nil:
			p.Fix = "git --git-dir=" + c.store.Dir() + " update-ref -d " + bad.Ref
		case name.Kind() == gitstore.RefRecord || name.Kind() == gitstore.RefTrashRecord || name.Kind() == gitstore.RefHead:
			p.Fix = fixCommand
		}
		c.add(p)
	}
}

// locks reports lock files that nobody seems to hold.
func (c *checker) locks() error {
	paths := []string{filepath.Join(c.store.Dir(), shadow.PackedRefsFile+shadow.LockSuffix)}
	err := filepath.WalkDir(filepath.Join(c.store.Dir(), "refs"), func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && strings.HasSuffix(path, shadow.LockSuffix) {
			paths = append(paths, path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	for _, path := range paths {
		c.lock(path)
	}
	return errors.Join(err, c.ownLocks())
}

// ownLocks reports the first names of locks whose process died when the second
// was gone already, or not there yet: no ref waits for them.
func (c *checker) ownLocks() error {
	dir := filepath.Join(c.store.Dir(), shadow.RefLockDir)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	n := 0
	for _, e := range entries {
		f, err := shadow.LockSegment(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		if f == nil {
			continue // a live process's
		}
		path, err := c.store.LockOf(e.Name(), f)
		if err = errors.Join(err, flock.Release(f)); err != nil {
			return err
		}
		if path == "" {
			n++
		}
	}
	if n > 0 {
		c.add(Problem{Invariant: "I6", Message: fmt.Sprintf("%d locks of processes that are gone", n), Fix: fixCommand})
	}
	return err
}

func (c *checker) lock(path string) {
	f, err := flock.Hold(path, os.O_RDONLY, unix.LOCK_EX)
	if err != nil {
		return // at work, or gone
	}
	defer func() { _ = flock.Release(f) }()
	fi, err := f.Stat()
	if err != nil {
		return
	}
	rel := strings.TrimPrefix(strings.TrimSuffix(path, shadow.LockSuffix), c.store.Dir()+string(filepath.Separator))
	p := Problem{Invariant: "I6", Ref: filepath.ToSlash(rel)}
	switch {
	case c.store.OwnLockName(p.Ref, fi) != "":
		p.Message, p.Fix = "a lock of an umbra process that is gone", fixCommand
	case time.Since(fi.ModTime()) > lockAge:
		p.Message = fmt.Sprintf("locked by another program since %s", fi.ModTime().Format(time.RFC3339))
		p.Fix = "rm " + path
	default:
		return
	}
	c.add(p)
}

// leftovers reports temporary files of writers that are gone.
func (c *checker) leftovers() error {
	n, size := 0, int64(0)
	err := eachLeftover(c.ctx, c.store, time.Now(), func(_ string, bytes int64) error {
		n++
		size += bytes
		return nil
	})
	if err != nil {
		return err
	}
	if n > 0 {
		c.add(Problem{Invariant: "I6", Message: fmt.Sprintf("%d temporary files (%d KiB) of processes that are gone", n, size>>10), Fix: fixCommand})
	}
	return withQuarantines(c.store, func(left []os.DirEntry) error {
		if len(left) > 0 {
			c.add(Problem{Invariant: "I6", Message: "what a repack left that was killed", Fix: fixCommand})
		}
		return nil
	})
}
