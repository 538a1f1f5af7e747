package capture

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// ErrMoved is returned when the directory at the workspace's path is not, or
// cannot be shown to be, the one that the mission is bound to. It is never
// taken for an empty workspace.
var ErrMoved = errors.New("workspace moved or not visible")

// massFiles is from how many files on a capture that finds most of them
// deleted does a full walk before it believes it.
const massFiles = 100

// Workspace says which directory a Scanner captures.
type Workspace struct {
	// Root is its absolute path.
	Root string
	// Identity is what the directory at Root must be at each capture.
	Identity beneath.Identity
	// Avoid are directories that are skipped as reserved wherever they are met:
	// Umbra's home, if the workspace was allowed to hold it.
	Avoid []beneath.Identity
	// Workers is how many goroutines walk, read and compress; 0 means 2.
	Workers int
}

// Scanner captures one workspace again and again. It keeps what it has seen:
// the stat data and id of every captured file and the tree of every directory.
// It is not safe for concurrent use.
type Scanner struct {
	workspace Workspace
	hooks     *hooks

	base    *node  // of the capture accepted last; nil if none
	rules   *Rules // base was made by them; nil for a base that was loaded
	suspect bool   // ids of base may be missing from the repository
	owed    *dirtyTree
	rotor   string // the path after which the next recheck begins
	newest  *Result
	gitDirs []usergit.Identity // of nested repositories, which a walk has met
}

// NewScanner makes a Scanner that knows nothing: its first capture is a full
// walk that reads every file.
func NewScanner(w Workspace) *Scanner {
	if w.Workers == 0 {
		w.Workers = 2
	}
	return &Scanner{workspace: w, hooks: &hooks{}, owed: &dirtyTree{whole: true}}
}

// hooks are where tests make things happen in the middle of a capture.
type hooks struct {
	beforeList      func(path string)
	beforeDirectory func(path string)
	beforeOpen      func(path string)
	beforeRead      func(path string)
	afterRead       func(path string)
}

func (*hooks) call(hook func(string), path string) {
	if hook != nil {
		hook(path)
	}
}

// Options are what one capture is told besides.
type Options struct {
	// Progress is called, from several goroutines and very often, as the
	// workspace is looked through and as files are read.
	Progress func(Progress)
	// Verify asks for a full walk though Dirty says what has changed. See
	// Result.Missed for what it finds besides.
	Verify bool
	// ByTimes lets a full walk take a directory's names from the listing before
	// if the directory's own times prove that they are the same, as they prove it
	// of a file's content: where a walk is the way to take a snapshot, and not to
	// find what others have missed. What is in the directory is looked at in any
	// case. Verify is stronger.
	ByTimes bool
	// LeaveGrowth lets a capture that makes no full walk end with ErrOnlyGrown where
	// files have only grown: what they were is in what they are, so that a later
	// capture loses nothing. What was dirty stays so.
	LeaveGrowth bool
	// Recheck is how many files to read whose stat data have not changed, in
	// rotation; Stats.Corrected counts those that had.
	Recheck int
	// Seeded asks for a step of reading what earlier captures took over from a
	// Seed and nobody has read yet; see Known.Unread. Stats.Corrected counts what
	// was not what Git had said.
	Seeded bool
	// Present asks the repository for an object. It is needed after Suspect.
	Present func(gitstore.ID) (bool, error)
	// Held is what the snapshot before holds besides what the Scanner knows; nil
	// says that there is none, so that this is the first.
	Held *Held
	// Seed is what a first capture need not read; nil if all of it.
	Seed *Seed
}

// Progress is how far a capture is. While the workspace is looked through
// TotalFiles is 0, and Files counts the names that were seen; then Files and
// Bytes are read, of the totals.
type Progress struct {
	Files, TotalFiles int
	Bytes, TotalBytes int64
}

// Suspect makes the next capture prove that every object that it takes over
// from the captures before is in the repository: after a prune, or when an
// object was found missing.
func (s *Scanner) Suspect() { s.suspect = true; s.owed.whole = true }

// Capture writes the workspace's files and trees into batch and returns the
// tree. Dirty is what may have changed since the capture before, whatever
// became of that one; the first capture and one after a change of rules are
// full walks in any case.
//
// If it fails, nothing is to be published, and what was dirty is looked at
// again by the next capture; so it is until Accept. Errors: ErrMoved, a
// *BudgetError, ErrOnlyGrown, an error of the batch or of the context, or one of the system
// that says nothing about a single file, such as too few descriptors.
func (s *Scanner) Capture(ctx context.Context, batch Batch, rules *Rules, dirty Dirty, options Options) (*Result, error) {
	s.owe(dirty)
	s.newest = nil
	root, err := s.openRoot()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	c := &capturing{scanner: s, ctx: ctx, root: root, batch: batch, rules: rules, options: options}
	result, err := c.run()
	if err != nil {
		return nil, unwrapBatch(err)
	}
	s.newest = result
	return result, nil
}

// Accept makes a result what the next capture starts from. It must only be
// called when the objects of its batch are in the repository. Of several
// results only that of the newest capture is taken; others change nothing.
func (s *Scanner) Accept(result *Result) {
	if result == nil || result != s.newest {
		return
	}
	s.base, s.rules, s.rotor = result.root, result.rules, result.rotor
	s.owed, s.suspect, s.newest = &dirtyTree{}, false, nil
}

func (s *Scanner) owe(dirty Dirty) {
	if dirty.All {
		s.owed.whole = true
	}
	for _, path := range dirty.Paths {
		path = strings.Trim(path, "/")
		if path != "" && !properPath(path) {
			path = "" // nothing below can have such a name: look at everything
		}
		s.owed.add(path)
	}
}

func properPath(path string) bool {
	for name := range strings.SplitSeq(path, "/") {
		if name == "" || name == "." || name == ".." || strings.IndexByte(name, 0) >= 0 {
			return false
		}
	}
	return true
}

// openRoot opens the workspace and proves that it is the one meant.
func (s *Scanner) openRoot() (*beneath.Root, error) {
	root, err := beneath.Open(s.workspace.Root)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", s.workspace.Root, ErrMoved, err)
	}
	if root.Identity() != s.workspace.Identity {
		_ = root.Close()
		return nil, fmt.Errorf("%s: %w: another directory is there now", s.workspace.Root, ErrMoved)
	}
	return root, nil
}
