package capture

import (
	"io/fs"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/ignore"
)

// patch visits only what is dirty in and below a directory that was captured
// before, and returns old itself if nothing changed there.
func (w *walker) patch(at *place, old *node, dirty *dirtyTree) (*node, error) {
	if err := w.ctx.Err(); err != nil {
		return nil, err
	}
	if dirty.whole || dirty.hasRules() && (at.depth > 0 || !dirty.onlyGit()) || old.leavesOutGit() || w.mayHaveBegunHistory(at, old, dirty) {
		return w.reopen(at, old, dirty)
	}
	s := &scene{at: at, repo: at.repo, stable: true, device: old.device, own: old.own}
	w.judge(s)
	p := &patcher{walker: w, scene: s, old: old}
	defer p.close()
	for _, name := range dirty.names() {
		if err := p.name(name, dirty.at(name)); err != nil {
			return nil, err
		}
	}
	return p.assemble(), nil
}

// reopen is full for a directory that is not open.
func (w *walker) reopen(at *place, old *node, dirty *dirtyTree) (*node, error) {
	dir, err := w.root.OpenDir(at.path)
	if err != nil {
		return nil, err
	}
	here, err := lookAt(dir)
	if err != nil {
		return nil, err
	}
	return w.full(at, here, old, dirty)
}

// patcher gathers what changed in one directory.
type patcher struct {
	walker *walker
	scene  *scene
	old    *node
	found  []change
}

// change is what a dirty name turned out to be.
type change struct {
	name string
	v    verdict
	e    entry
}

func (p *patcher) close() {
	if p.scene.dir != nil {
		_ = p.scene.dir.Close()
		p.scene.dir = nil
	}
}

// name looks at one dirty name, or at what is dirty below it.
func (p *patcher) name(name string, dirty *dirtyTree) error {
	if name == gitName {
		return nil
	}
	w, s := p.walker, p.scene
	was := p.old.lookup(name)
	if !dirty.whole && was != nil && was.kind == kindDirectory && was.flags&flagIgnored == 0 {
		at := s.child(name)
		n, err := w.patch(at, was.dir, dirty)
		if err == nil {
			e := *was
			e.dir = n
			p.found = append(p.found, change{name, verdictKnown, e})
			return nil
		}
		if _, skip := skipReasonOf(err); !skip && !vanished(err) {
			return err
		}
		// No longer what it was: look at the name itself.
	}
	return p.look(name, was, dirty)
}

func (p *patcher) look(name string, was *entry, dirty *dirtyTree) error {
	w, s := p.walker, p.scene
	if s.dir == nil {
		if err := p.open(); err != nil {
			return err
		}
	}
	e, v, err := w.evaluate(s, name, beneath.Unknown, was, dirty)
	if err != nil {
		return err
	}
	if v == verdictKnown && e.kind == kindDirectory {
		var oldDir *node
		if was != nil && was.kind == kindDirectory && was.stat.inode == e.stat.inode {
			oldDir = was.dir
		}
		if err := w.subdirectory(s, &e, oldDir, dirty); err != nil {
			return err
		}
		if e.flags&flagGone != 0 {
			v = verdictNone
		}
	}
	p.found = append(p.found, change{name, v, e})
	return nil
}

func (p *patcher) open() error {
	dir, err := p.walker.root.OpenDir(p.scene.at.path)
	if err != nil {
		return err
	}
	p.scene.dir = dir
	st, err := dir.Stat()
	if err != nil {
		return err
	}
	if st.Device != p.old.device {
		// Something was mounted on it: it is not the directory it was.
		return fs.ErrNotExist
	}
	p.scene.system, err = p.walker.system(dir, st.Device)
	return err
}

// assemble merges what was found into the old entries.
func (p *patcher) assemble() *node {
	w := p.walker
	same := true
	for i := range p.found {
		c := &p.found[i]
		was := p.old.lookup(c.name)
		if c.v == verdictNone {
			same = same && was == nil
		} else {
			same = same && c.v == verdictKnown && was != nil && *was == c.e
		}
	}
	if same {
		return p.old
	}
	entries := make([]entry, 0, len(p.old.entries)+len(p.found))
	var reads []int
	rest := p.old.entries
	for _, c := range p.found {
		for len(rest) > 0 && rest[0].name < c.name {
			entries, rest = append(entries, rest[0]), rest[1:]
		}
		if len(rest) > 0 && rest[0].name == c.name {
			rest = rest[1:]
		}
		if c.v == verdictNone {
			continue
		}
		if c.v == verdictRead {
			reads = append(reads, len(entries))
		}
		entries = append(entries, c.e)
	}
	entries = append(entries, rest...)
	reads = p.withDatabases(entries, reads)
	n := &node{entries: entries, device: p.old.device, own: p.old.own, treeOf: p.old}
	w.want(p.scene, n, reads)
	return n
}

// onlyGit tells whether of the names that change a directory's rules only .git
// is dirty.
func (t *dirtyTree) onlyGit() bool {
	return t.at(ignore.GitName) == nil && t.at(ignore.UmbraName) == nil
}
