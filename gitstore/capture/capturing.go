package capture

import (
	"context"
	"fmt"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// capturing is one run of Scanner.Capture.
type capturing struct {
	scanner  *Scanner
	ctx      context.Context
	root     *beneath.Root
	batch    Batch
	rules    *Rules
	options  Options
	rotor    string
	full     bool     // everything is looked at
	byTimes  bool     // see Options.ByTimes
	tracked  []string // paths that the user's repository began or ceased to track, or Held names
	seeded   int
	unseeded error // why nothing was taken over from the user's repository
}

func (c *capturing) run() (*Result, error) {
	s := c.scanner
	stable := s.base != nil && s.rules != nil && s.rules.sameOutside(c.rules)
	c.full = s.base == nil || !stable || s.owed.whole || c.options.Verify
	c.byTimes = c.full && c.options.ByTimes && !c.options.Verify
	dirty := s.owed.clone()
	if stable {
		c.addTracked(dirty)
	}
	if s.base != nil {
		c.addNested(dirty, s.base, "")
		c.addWanted(dirty)
		visit(s.base, "", func(n *node) bool { return n.sum.waiting > 0 }, func(path string, _ *node, e *entry) {
			if e.kind == kindSkipped && e.skipReason() == documents.ReasonBudget {
				dirty.add(path)
			}
		})
	}
	told := &dirtyTree{below: dirty.clone().below}
	if s.base != nil {
		c.addRecheck(dirty)
		c.addSeeded(dirty)
		c.addLinked(dirty)
	}
	top, r, err := c.read(stable, dirty)
	if err != nil {
		return nil, err
	}
	if err := r.seal(top); err != nil {
		return nil, err
	}
	if err := c.proveRoot(); err != nil {
		return nil, err
	}
	result, err := c.result(r, top)
	if err == nil && stable && c.full {
		result.Missed = missed(s.base, top, told)
	}
	if err == nil {
		result.RulesChanged = c.watchOther(r.walker, top, stable)
	}
	return result, err
}

// read finds what is there and reads what has to be read. It makes a full walk
// of one that has lost too much to be believed.
func (c *capturing) read(stable bool, dirty *dirtyTree) (*node, *reading, error) {
	for {
		w, top, err := c.walk(stable, dirty)
		if err != nil {
			return nil, nil, err
		}
		if len(w.reserved.found) > 0 {
			// It has been in what it did not know to be a git directory.
			c.scanner.gitDirs = append(c.scanner.gitDirs, w.reserved.found...)
			c.full = true
			continue
		}
		if !c.full && tooManyGone(c.scanner.base, top) {
			c.full = true
			continue
		}
		if c.options.LeaveGrowth && !c.full && w.hasOnlyGrown(c.scanner.base, top) {
			return nil, nil, ErrOnlyGrown
		}
		if !c.first() {
			files, bytes := measure(top)
			c.budget(w, files, bytes)
		}
		c.unseeded = c.seed(w)
		r := &reading{walker: w, batch: c.batch}
		r.total.TotalFiles, r.total.TotalBytes = w.wanted()
		if err := r.all(c.scanner.workspace.Workers); err != nil {
			return nil, nil, err
		}
		if err := r.proveMoment(); err != nil {
			return nil, nil, err
		}
		if !c.addOtherNames(dirty, w.links) {
			return top, r, nil
		}
	}
}

// first tells whether nothing was captured before: neither by this Scanner nor,
// as far as the caller knows, by others.
func (c *capturing) first() bool {
	return c.scanner.base == nil && (c.options.Held == nil || c.options.Held.none)
}

// walk finds what is there. Without anything to be read nothing was written.
func (c *capturing) walk(stable bool, dirty *dirtyTree) (*walker, *node, error) {
	s := c.scanner
	w := &walker{
		ctx: c.ctx, root: c.root, rules: c.rules, reserved: s.reserved(c.rules), hooks: s.hooks,
		systems: map[uint64]fileSystem{}, progress: c.options.Progress,
		began: disk.Now(), byTimes: c.byTimes,
	}
	w.idle.Store(int64(s.workspace.Workers) - 1)
	w.base, w.held = s.base, c.options.Held
	if c.first() {
		w.spending = &spending{settings: &c.rules.settings}
	}
	if s.suspect && c.options.Present != nil {
		w.verify = c.options.Present
	}
	at := &place{repo: c.rules.repo, stable: stable}
	var top *node
	var err error
	if c.full {
		top, err = w.reopen(at, s.base, dirty)
	} else {
		w.links = &linkSet{}
		top, err = w.patch(at, s.base, dirty)
	}
	if err == nil {
		return w, top, nil
	}
	if _, skip := skipReasonOf(err); skip || vanished(err) {
		return nil, nil, fmt.Errorf("%s: %w: %w", s.workspace.Root, ErrMoved, err)
	}
	return nil, nil, err
}

// proveRoot shows that the path still leads to the directory that was captured.
func (c *capturing) proveRoot() error {
	if err := c.root.Verify(); err != nil {
		return fmt.Errorf("%w: %w", ErrMoved, err)
	}
	return nil
}

func (c *capturing) result(r *reading, top *node) (*Result, error) {
	tree := top.tree
	if tree.IsZero() {
		var err error
		if tree, err = c.batch.Tree(nil); err != nil {
			return nil, err
		}
	}
	result := &Result{
		Tree: tree, Walked: c.full,
		Skipped:  collectSkipped(top),
		Modes:    collectModes(top),
		Rules:    collectRules(c.rules, top),
		Moved:    r.moved,
		Changing: collectFlagged(top, flagChanging, func(s *summary) int { return s.changing }),
		Stats: Stats{
			Files: top.sum.files, Bytes: top.sum.bytes, Directories: top.sum.dirs,
			ReadFiles: int(r.files.Load()), ReadBytes: r.bytes.Load(), Corrected: int(r.corrected.Load()), Seeded: c.seeded,
		},
		Unseeded: c.unseeded,
		root:     top, rules: c.rules, rotor: c.rotor,
	}
	return result, nil
}

// addTracked makes dirty what the user's repository tracks now, or did, and
// what would be captured only for that.
func (c *capturing) addTracked(dirty *dirtyTree) {
	s := c.scanner
	if s.rules.repo == nil || c.rules.repo == nil || s.rules.repo.tracked == c.rules.repo.tracked {
		return
	}
	s.rules.repo.tracked.Difference(c.rules.repo.tracked, func(path string) {
		e := s.base.at(path)
		if e == nil || e.kind == kindSkipped || e.flags&(flagTracked|flagHeld) != 0 {
			dirty.add(path)
			c.tracked = append(c.tracked, path)
		}
	})
}

// watchOther tells whether other directories than before hold what is captured,
// for other reasons than that they were made or removed.
func (c *capturing) watchOther(w *walker, top *node, stable bool) bool {
	return !stable || w.rulesChanged.Load() || slices.ContainsFunc(c.tracked, top.inIgnored)
}

// addNested makes those nested repositories dirty whose own excludes or index
// have changed, which no event in the workspace tells.
func (c *capturing) addNested(dirty *dirtyTree, n *node, path string) {
	if n.sum.rules == 0 {
		return
	}
	if n.own != nil && n.own.nested != nil && n.own.nested.changed() {
		dirty.add(path)
		return
	}
	for i := range n.entries {
		if e := &n.entries[i]; e.kind == kindDirectory {
			c.addNested(dirty, e.dir, treepath.Join(path, e.name))
		}
	}
}

// A step of reading what was taken over is as long as nobody minds to wait for.
const (
	seededStep  = 2000
	seededBytes = 32 << 20
)

// addSeeded makes dirty the next files that were taken over and never read.
func (c *capturing) addSeeded(dirty *dirtyTree) {
	if c.options.Seeded {
		for _, path := range seededFiles(c.scanner.base, seededStep, seededBytes) {
			dirty.add(path)
		}
	}
}

// addRecheck makes dirty the next files whose stat data are to be doubted.
func (c *capturing) addRecheck(dirty *dirtyTree) {
	c.rotor = c.scanner.rotor
	if c.options.Recheck <= 0 {
		return
	}
	paths := filesAfter(c.scanner.base, c.rotor, c.options.Recheck)
	if len(paths) == 0 && c.rotor != "" {
		paths = filesAfter(c.scanner.base, "", c.options.Recheck)
	}
	c.rotor = ""
	for _, path := range paths {
		dirty.add(path)
		c.rotor = path
	}
}

// Result is a capture. It is not to be changed.
type Result struct {
	// Tree is the workspace's tree, in the batch.
	Tree gitstore.ID
	// Skipped is what was left out, sorted by path; see SkippedDocument.
	Skipped []documents.Skipped
	// Modes is what the tree cannot hold; see Modes.Document.
	Modes *documents.Modes
	// Rules is rules.json.
	Rules []byte
	// Changing are the files, sorted, that were written to whenever they were
	// read, and are stored as one read gave them.
	Changing []string
	// Moved says that something was written to after the capture began: two files may be of
	// different moments.
	Moved bool
	Stats Stats
	// Walked says that this was a full walk.
	Walked bool
	// Missed are the paths, sorted, that a full walk found changed though
	// Dirty.Paths did not name them; see Options.Verify.
	Missed []string
	// RulesChanged says that ignore rules are others than at the capture
	// accepted before, or that this is the first one: what a Filter answers may
	// have changed for directories that a watcher has asked about.
	RulesChanged bool
	// Unseeded is why a Seed was of no use; everything was read then.
	Unseeded error

	root  *node
	rules *Rules
	rotor string
}

// Stats are the numbers of a capture.
type Stats struct {
	Files       int   // captured, links included
	Bytes       int64 // of them
	Directories int
	ReadFiles   int   // read in this capture
	ReadBytes   int64 // of them
	Corrected   int   // read again and found changed, though their stat data had not
	Seeded      int   // taken over from the user's repository instead of being read
}
