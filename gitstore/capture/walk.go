package capture

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/ignore"
)

// heldDepth is how deep a walk holds a handle on each directory above; below,
// it opens by path, so that a tree of any depth needs few descriptors.
const heldDepth = 48

// walker is one capture's way through the workspace. It makes unsealed nodes
// for the directories that changed and remembers what has to be read.
type walker struct {
	ctx    context.Context
	root   *beneath.Root
	rules  *Rules
	verify func(gitstore.ID) (bool, error) // nil if stored ids are taken for present
	avoid  []beneath.Identity
	hooks  *hooks
	slots  chan struct{} // for goroutines besides the first

	rulesChanged atomic.Bool // of a directory inside

	mu      sync.Mutex
	systems map[uint64]fileSystem // by device
	units   []*unit
	buffers sync.Pool
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
}

func (p *place) child(name string, m *ignore.Matcher, repo *repository, stable bool, device uint64) *place {
	return &place{
		path: join(p.path, name), name: name, depth: p.depth + 1,
		parent: m, repo: repo, stable: stable, device: device,
	}
}

// scene is what an entry of one directory is judged by.
type scene struct {
	at      *place
	dir     *beneath.Dir
	matcher *ignore.Matcher
	repo    *repository
	stable  bool
	device  uint64
	system  fileSystem
	own     *ownRules
}

// open begins a visit: it reads the directory's rules of its own.
func (w *walker) open(at *place, dir *beneath.Dir, names []beneath.Entry, old *node) (*scene, error) {
	st, err := dir.Stat()
	if err != nil {
		return nil, err
	}
	s := &scene{at: at, dir: dir, repo: at.repo, device: st.Device}
	if s.system, err = w.system(dir, st.Device); err != nil {
		return nil, err
	}
	if at.depth > 0 && st.Device != at.device && s.system.pseudo {
		return nil, &skipError{ReasonSpecial}
	}
	if slices.Contains(w.avoid, st.Identity()) {
		return nil, &skipError{ReasonReserved}
	}
	var oldOwn *ownRules
	if old != nil {
		oldOwn = old.own
	}
	if s.own, err = w.ownRules(s, names, oldOwn); err != nil {
		return nil, err
	}
	same := s.own.sameRules(oldOwn)
	if !same {
		w.rulesChanged.Store(true)
	}
	s.stable = at.stable && old != nil && same
	w.judge(s)
	return s, nil
}

// judge sets the matcher and repository of a scene whose own rules are known.
func (w *walker) judge(s *scene) {
	var files ignore.Files
	if s.own != nil {
		files = s.own.files
	}
	if s.at.parent == nil {
		s.matcher = w.rules.outside.enter(files)
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
// nothing changed. It closes dir.
func (w *walker) full(at *place, dir *beneath.Dir, old *node, dirty *dirtyTree) (*node, error) {
	closed := false
	closeDir := func() {
		if !closed {
			closed = true
			_ = dir.Close()
		}
	}
	defer closeDir()
	if err := w.ctx.Err(); err != nil {
		return nil, err
	}
	list, err := w.list(dir)
	if err != nil {
		return nil, err
	}
	s, err := w.open(at, dir, list, old)
	if err != nil {
		return nil, err
	}
	entries := make([]entry, 0, len(list))
	var reads []int
	for _, name := range list {
		e, v, err := w.evaluate(s, name.Name, name.Kind, old.lookup(name.Name), dirty.at(name.Name))
		if err != nil {
			return nil, err
		}
		if v == verdictNone {
			continue
		}
		if v == verdictRead {
			reads = append(reads, len(entries))
		}
		entries = append(entries, e)
	}
	if at.depth >= heldDepth {
		closeDir()
	}
	if err := w.descend(s, entries, old, dirty); err != nil {
		return nil, err
	}
	return w.assemble(s, entries, reads, old), nil
}

// list reads the names of a directory, sorted.
func (w *walker) list(dir *beneath.Dir) ([]beneath.Entry, error) {
	buffer, _ := w.buffers.Get().(*[]byte)
	if buffer == nil {
		b := make([]byte, 32<<10)
		buffer = &b
	}
	list, err := dir.ReadDir(*buffer)
	w.buffers.Put(buffer)
	slices.SortFunc(list, func(a, b beneath.Entry) int { return strings.Compare(a.Name, b.Name) })
	return list, err
}

// descend visits the subdirectories among entries, some of them at once.
func (w *walker) descend(s *scene, entries []entry, old *node, dirty *dirtyTree) error {
	var wait sync.WaitGroup
	var mu sync.Mutex
	var first error
	visit := func(e *entry) {
		var oldDir *node
		if o := old.lookup(e.name); o != nil && o.kind == kindDirectory && o.stat.inode == e.stat.inode {
			oldDir = o.dir
		}
		if err := w.subdirectory(s, e, oldDir, dirty.at(e.name)); err != nil {
			mu.Lock()
			defer mu.Unlock()
			if first == nil {
				first = err
			}
		}
	}
	for i := range entries {
		e := &entries[i]
		if e.kind != kindDirectory {
			continue
		}
		select {
		case w.slots <- struct{}{}:
			wait.Go(func() {
				defer func() { <-w.slots }()
				visit(e)
			})
		default:
			visit(e)
		}
	}
	wait.Wait()
	return first
}

// subdirectory fills in the node of a directory's entry, or what it turned out
// to be instead.
func (w *walker) subdirectory(s *scene, e *entry, old *node, dirty *dirtyTree) error {
	at := s.at.child(e.name, s.matcher, s.repo, s.stable, s.device)
	w.hooks.call(w.hooks.beforeDirectory, at.path)
	var dir *beneath.Dir
	var err error
	if s.at.depth < heldDepth {
		dir, err = s.dir.OpenDir(e.name)
	} else {
		dir, err = w.root.OpenDir(at.path)
	}
	if err == nil {
		e.dir, err = w.full(at, dir, old, dirty)
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
func (w *walker) assemble(s *scene, entries []entry, reads []int, old *node) *node {
	if old != nil && len(reads) == 0 && w.verify == nil && old.own == s.own &&
		old.device == s.device && slices.Equal(old.entries, entries) {
		return old
	}
	n := &node{entries: entries, device: s.device, own: s.own, treeOf: old}
	w.want(s, n, reads)
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
