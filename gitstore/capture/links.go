package capture

import "sync"

// A write to a file is told by the name that it went through, and a link made
// to it by the new name alone: what a watcher says of one name of a file holds
// for all of them.

// linkSet gathers the inodes of files that were found to have got another name.
type linkSet struct {
	mu     sync.Mutex
	inodes map[uint64]bool
}

// note is for several goroutines. A nil set, that of a full walk, needs none.
func (l *linkSet) note(inode uint64) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inodes == nil {
		l.inodes = map[uint64]bool{}
	}
	l.inodes[inode] = true
}

// addLinked has the stat data looked at of the files that have several names.
func (c *capturing) addLinked(dirty *dirtyTree) {
	visit(c.scanner.base, "", func(n *node) bool { return n.sum.linked > 0 }, func(path string, _ *node, e *entry) {
		if e.kind != kindDirectory && e.flags&flagLinked != 0 {
			dirty.look(path)
		}
	})
}

// addOtherNames has those names looked at under which a file was captured that
// has got another one since, and reports whether there are any.
func (c *capturing) addOtherNames(dirty *dirtyTree, links *linkSet) bool {
	if links == nil || len(links.inodes) == 0 {
		return false
	}
	found := false
	visit(c.scanner.base, "", func(*node) bool { return true }, func(path string, _ *node, e *entry) {
		if (e.kind == kindFile || e.kind == kindExecutable) && links.inodes[e.stat.inode] && dirty.look(path) {
			found = true
		}
	})
	return found
}
