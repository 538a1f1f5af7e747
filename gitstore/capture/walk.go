package capture

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/ignore"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// heldDepth is how deep a walk holds a handle on each directory above; below,
// it opens by path, so that a tree of any depth needs few descriptors.
const heldDepth = 48

// walker is one capture's way through the workspace. It makes unsealed nodes
// for the directories that changed and remembers what has to be read.
type walker struct {
	ctx      context.Context
	root     *beneath.Root
	rules    *Rules
	verify   func(gitstore.ID) (bool, error) // nil if stored ids are taken for present
	reserved *reserved
	hooks    *hooks
	idle     atomic.Int64 // how many more goroutines may work

	progress func(Progress)
	seen     atomic.Int64 // names
	began    int64        // by the coarse clock
	spending *spending    // nil if this is not the mission's first capture
	base     *node        // of the capture accepted last; nil if none
	held     *Held        // nil without a snapshot before
	byTimes  bool         // directories whose times tell that they hold what they held need not be listed

	rulesChanged atomic.Bool // of a directory inside
	links        *linkSet    // nil in a full walk

	mu       sync.Mutex
	systems  map[uint64]fileSystem // by device
	units    []*unit
	listings sync.Pool // of *beneath.Listing

	attributes []string // directories listed that have a .gitattributes
}

// place is a directory being walked.
type place struct {
	path   string
	name   string
	depth  int
	parent *ignore.Matcher // of the directory above; nil at the root
	repo   *repository     // whose rules are in force above; nil if none
	stable bool            // the rules above are those that the old nodes were made by
	device uint64          // of the directory above
	system fileSystem      // of the directory above
	git    *gitPlace       // nil where Git owns nothing
}

// child is the place of a subdirectory.
func (s *scene) child(name string) *place {
	return &place{
		path: treepath.Join(s.at.path, name), name: name, depth: s.at.depth + 1,
		parent: s.matcher, repo: s.repo, stable: s.stable, device: s.device, system: s.system,
		git: s.at.git.child(name),
	}
}

// scene is what an entry of one directory is judged by.
type scene struct {
	at      *place
	dir     *beneath.Dir
	is      beneath.Identity
	matcher *ignore.Matcher
	repo    *repository
	stable  bool
	device  uint64
	system  fileSystem
	own     *ownRules
	listed  dirTimes // at which the directory held these names
}

// Deepest is how many directories one may lie below: Git's core.maxTreeDepth. Of a tree that is
// deeper it packs, pushes and shows nothing.
const Deepest = 2048

// open begins a visit: it proves that the directory is one to be listed.
func (w *walker) open(at *place, here directory) (*scene, error) {
	if at.depth > Deepest {
		return nil, &skipError{documents.ReasonDepth}
	}
	s := &scene{at: at, dir: here.dir, is: here.st.Identity(), repo: at.repo, device: here.st.Device, system: at.system}
	if at.depth == 0 || s.device != at.device {
		var err error
		if s.system, err = w.system(here.dir, s.device); err != nil {
			return nil, err
		}
		if at.depth > 0 && s.system.pseudo {
			return nil, &skipError{documents.ReasonSpecial}
		}
	}
	if at.depth > 0 && slices.Contains(w.reserved.known, s.is) { // of the workspace itself list asks
		if at.git = w.gitPlace(at, s.is); at.git == nil {
			return nil, &skipError{documents.ReasonReserved}
		}
	}
	s.listed = here.times(s.system, w.began)
	return s, nil
}

// ruled reads the directory's rules of its own.
func (w *walker) ruled(s *scene, names *beneath.Listing, old *node) error {
	var oldOwn *ownRules
	if old != nil {
		oldOwn = old.own
	}
	var err error
	if s.own, err = w.ownRules(s, names, oldOwn); err != nil {
		return err
	}
	same := s.own.sameRules(oldOwn)
	if !same {
		w.rulesChanged.Store(true)
	}
	s.stable = s.at.stable && old != nil && same
	w.judge(s)
	return nil
}

// judge sets the matcher and repository of a scene whose own rules are known.
func (w *walker) judge(s *scene) {
	var files ignore.Files
	if s.own != nil {
		files = s.own.files
	}
	if s.at.parent == nil {
		s.matcher = w.rules.outside.Enter(files)
	} else {
		s.matcher = s.at.parent.Enter(s.at.name, files)
	}
	if s.own == nil || s.own.nested == nil || !s.own.nested.isRepository {
		return
	}
	// What the repository around it tracks in here it tracked before this was
	// one. If that repository ignores it as a whole, so it stays.
	s.repo = nil
	if !s.matcher.Self().Ignored {
		s.repo = s.own.nested.repository(s.at.path)
	}
}

func (w *walker) system(dir *beneath.Dir, device uint64) (fileSystem, error) {
	w.mu.Lock()
	fs, ok := w.systems[device]
	w.mu.Unlock()
	if ok {
		return fs, nil
	}
	fs, err := fileSystemOf(dir)
	if err != nil {
		return fs, err
	}
	w.mu.Lock()
	w.systems[device] = fs
	w.mu.Unlock()
	return fs, nil
}

// full lists a directory and everything below it, and returns old itself if
// nothing changed. It closes the directory.
func (w *walker) full(at *place, here directory, old *node, dirty *dirtyTree) (*node, error) {
	closed := false
	closeDir := func() {
		if !closed {
			closed = true
			_ = here.dir.Close()
		}
	}
	defer closeDir()
	if err := w.ctx.Err(); err != nil {
		return nil, err
	}
	s, err := w.open(at, here)
	if err != nil {
		return nil, err
	}
	sheet, err := w.list(s, old, dirty)
	if err != nil {
		return nil, err
	}
	if at.depth >= heldDepth {
		closeDir()
	}
	if err := w.descend(s, sheet, dirty); err != nil {
		return nil, err
	}
	return w.assemble(s, sheet), nil
}

// keptListing is the size up to which a Listing is kept for the next directory.
const keptListing = 1 << 20

// list judges the names of a directory, one after the other.
func (w *walker) list(s *scene, old *node, dirty *dirtyTree) (*sheet, error) {
	names, _ := w.listings.Get().(*beneath.Listing)
	if names == nil {
		names = &beneath.Listing{}
	}
	defer func() {
		if names.Size() <= keptListing {
			w.listings.Put(names)
		}
	}()
	if err := w.names(s, names, old, dirty); err != nil {
		return nil, err
	}
	if s.at.depth == 0 && isGitDirectory(names.Has) {
		s.at.git = w.bareRoot(s.at.repo)
	}
	if s.at.git == nil && w.keepsHistory(s, names) {
		if s.at.git = w.gitPlace(s.at, s.is); s.at.git == nil {
			return nil, &skipError{documents.ReasonHistory}
		}
	}
	if names.Has(attributesName) {
		w.mu.Lock()
		w.attributes = append(w.attributes, s.at.path)
		w.mu.Unlock()
	}
	if seen := w.seen.Add(int64(names.Len())); w.progress != nil {
		w.progress(Progress{Files: int(seen)})
	}
	sheet := newSheet(old, names.Len())
	counted := 0
	for i := range names.Len() {
		err := w.name(s, names, i, sheet, dirty)
		if err == nil && (i+1)%spendEvery == 0 {
			counted, err = w.spending.add(sheet, counted)
		}
		if err != nil {
			return nil, err
		}
	}
	if _, err := w.spending.add(sheet, counted); err != nil {
		return nil, err
	}
	sheet.done()
	if !s.listed.none() && !sheet.tellsRules(names) {
		s.listed = dirTimes{}
	}
	return sheet, nil
}

// name judges one name. Of one that stands as it did nothing is allocated.
func (w *walker) name(s *scene, names *beneath.Listing, i int, sheet *sheet, dirty *dirtyTree) error {
	was := sheet.find(names.Name(i))
	var name string
	if was != nil {
		name = was.name
	} else {
		name = string(names.Name(i))
	}
	if s.at.git.leavesOut(name) {
		sheet.add(skippedEntryOf(name, documents.ReasonReserved, nil), false, was)
		return nil
	}
	below := dirty.at(name)
	if was != nil && s.stable && w.verify == nil && !below.named() {
		if was.kind == kindDirectory && was.flags == 0 && names.Kind(i) == beneath.Directory {
			sheet.keep(was) // what directory it is shows when it is opened
			return nil
		}
		st, err := s.dir.LstatListed(names, i)
		if err == nil && w.stands(s, was, &st) {
			sheet.keep(was)
			return nil
		}
	}
	e, v, err := w.evaluate(s, name, names.Kind(i), was, below)
	if err != nil || v == verdictNone {
		return err
	}
	sheet.add(e, v == verdictRead, was)
	return nil
}

// stands tells whether by its stat data an entry is what it was, so that there
// is nothing to judge: evaluate would give it again.
func (w *walker) stands(s *scene, was *entry, st *beneath.Stat) bool {
	if was.kind == kindSkipped || was.kind == kindDirectory {
		return false
	}
	linked := st.Links > 1 && was.kind != kindSymlink
	return was.flags&^(flagTracked|flagHeld|flagLinked|flagSeeded) == flagTrusted && linked == (was.flags&flagLinked != 0) &&
		was.stat == fingerprintOf(st) && st.Device == s.device && st.Size <= w.rules.settings.SizeCap
}

// descend visits the subdirectories, another goroutine helping where one may.
func (w *walker) descend(s *scene, sheet *sheet, dirty *dirtyTree) error {
	entries := sheet.entries
	first := slices.IndexFunc(entries, func(e entry) bool { return e.kind == kindDirectory })
	if first < 0 {
		return nil
	}
	var next atomic.Int64
	next.Store(int64(first))
	var failed firstError
	visit := func() bool {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(entries) || failed.get() != nil {
				return false
			}
			if entries[i].kind == kindDirectory {
				failed.set(w.visit(s, sheet, i, &entries[i], dirty))
				return true
			}
		}
	}
	var helpers sync.WaitGroup
	helped := false
	for visit() {
		if !helped && int(next.Load()) < len(entries) && w.hire() {
			helped = true
			helpers.Go(func() {
				defer w.idle.Add(1)
				for visit() {
				}
			})
		}
	}
	if helped {
		// Whoever waits leaves its place to somebody further below.
		w.idle.Add(1)
		helpers.Wait()
		w.idle.Add(-1)
	}
	return failed.get()
}

// hire reports whether one more goroutine may work, until it adds itself to
// idle again.
func (w *walker) hire() bool {
	for {
		n := w.idle.Load()
		if n <= 0 {
			return false
		}
		if w.idle.CompareAndSwap(n, n-1) {
			return true
		}
	}
}

// visit goes into the directory that is the i-th entry.
func (w *walker) visit(s *scene, sheet *sheet, i int, is *entry, dirty *dirtyTree) error {
	e := *is
	if err := w.subdirectory(s, &e, e.dir, dirty.at(e.name)); err != nil {
		return err
	}
	if e != *is {
		sheet.set(i, e)
	}
	return nil
}

// subdirectory fills in the node of a directory's entry, or what it turned out
// to be instead.
func (w *walker) subdirectory(s *scene, e *entry, old *node, dirty *dirtyTree) error {
	at := s.child(e.name)
	w.hooks.call(w.hooks.beforeDirectory, at.path)
	var dir *beneath.Dir
	var err error
	if s.at.depth < heldDepth {
		dir, err = s.dir.OpenDir(e.name)
	} else {
		dir, err = w.root.OpenDir(at.path)
	}
	var here directory
	if err == nil {
		here, err = lookAt(dir)
	}
	if err == nil {
		if e.stat.inode != here.st.Inode {
			old = nil
		}
		e.stat.inode, e.stat.mode = here.st.Inode, here.st.Mode
		e.dir, err = w.full(at, here, old, dirty)
	}
	return w.settle(e, err)
}

// settle turns the errors of a directory that mean something about that
// directory alone into what its entry is.
func (w *walker) settle(e *entry, err error) error {
	if err == nil {
		return nil
	}
	e.dir = nil
	if reason, ok := skipReasonOf(err); ok {
		e.kind, e.reason, e.flags = kindSkipped, reasonIndex(reason), 0
		return nil
	}
	if vanished(err) {
		e.flags |= flagGone
		return nil
	}
	return err
}

// assemble makes the directory's node, unless it is as it was.
func (w *walker) assemble(s *scene, sheet *sheet) *node {
	old := sheet.old
	if sheet.same && old.own == s.own && old.device == s.device && w.verify == nil {
		if s.stable {
			old.listed = s.listed
		}
		return old
	}
	n := &node{entries: sheet.owned(), device: s.device, own: s.own, listed: s.listed, treeOf: old}
	w.want(s, n, sheet.reads)
	return n
}

// want queues the reading of entries of a new node.
func (w *walker) want(s *scene, n *node, reads []int) {
	const most = 64 // files, so that a flat directory is shared by the readers
	scene := *s
	scene.dir = nil
	for part := range slices.Chunk(reads, most) {
		u := &unit{scene: &scene, node: n, reads: part}
		w.mu.Lock()
		w.units = append(w.units, u)
		w.mu.Unlock()
	}
}
