package capture

import (
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// kind is what an entry is in a snapshot.
type kind uint8

const (
	kindFile kind = iota + 1
	kindExecutable
	kindSymlink
	kindDirectory
	kindSkipped
)

func (k kind) mode() gitstore.Mode {
	switch k {
	case kindExecutable:
		return gitstore.ModeExec
	case kindSymlink:
		return gitstore.ModeSymlink
	case kindDirectory:
		return gitstore.ModeDir
	}
	return gitstore.ModeFile
}

// is tells whether a captured entry was of that kind.
func (k kind) is(actual beneath.Kind) bool {
	switch k {
	case kindFile, kindExecutable:
		return actual == beneath.File
	case kindSymlink:
		return actual == beneath.Symlink
	case kindDirectory:
		return actual == beneath.Directory
	}
	return false
}

// flags of an entry.
type flags uint16

const (
	// flagTrusted: the content was read at a time at which the stat data could
	// tell any later write, so equal stat data mean equal content.
	flagTrusted flags = 1 << iota
	// flagTracked: captured though a rule leaves it out: the user's repository
	// tracks it, or it only has the name of a secret.
	flagTracked
	// flagIgnored: a directory that is ignored, entered for what is captured
	// in it all the same.
	flagIgnored
	// flagLinked: a file with more than one hard link.
	flagLinked
	// flagChanging: stored as one read gave it, while it was written to; or a part of a
	// SQLite database that is not whole. It stays until the file is read again.
	flagChanging
	// flagGone: vanished, or became ignored, while it was being captured.
	flagGone
	// flagRecheck: read only to see whether stat data tell the truth.
	flagRecheck
	// flagSeeded: not read yet, since the user's index proves what Git has of the
	// file. What a filter that is gone by now made of it, only reading can tell.
	flagSeeded
	// flagHeld: captured though a rule leaves it out, since the snapshot before
	// holds it.
	flagHeld
)

// fingerprint is the stat data that must be equal for a file to be the same.
type fingerprint struct {
	size, mtime, ctime int64
	inode              uint64
	mode               uint32
}

func fingerprintOf(st *beneath.Stat) fingerprint {
	return fingerprint{size: st.Size, mtime: st.Mtime, ctime: st.Ctime, inode: st.Inode, mode: st.Mode}
}

// entry is one name of a directory that is captured or was skipped.
type entry struct {
	name string
	stat fingerprint
	id   gitstore.ID // of a file or link
	dir  *node       // of a directory
	// reason is why it was skipped, an index into reasons.
	reason uint8
	kind   kind
	flags  flags
}

// node is a captured directory. Once sealed it is immutable and shared by
// captures: a capture makes new nodes for directories that changed and for
// those above them, so that a failed one leaves the state before untouched.
type node struct {
	entries []entry // by name, in byte order
	device  uint64
	tree    gitstore.ID // zero if nothing below is in the tree
	sum     summary
	own     *ownRules // nil for most directories
	sealed  bool
	// listed are the times that the directory had when it was listed, and held
	// these entries and names without meaning; none if they prove nothing. A
	// walk notes them even in a sealed node.
	listed dirTimes
	// treeOf is the node that this one replaces, until sealed.
	treeOf *node
}

// find is the position of name, or where it would be.
func (n *node) find(name string) (int, bool) {
	if n == nil {
		return 0, false
	}
	return slices.BinarySearchFunc(n.entries, name, func(e entry, name string) int {
		return strings.Compare(e.name, name)
	})
}

func (n *node) lookup(name string) *entry {
	if i, ok := n.find(name); ok {
		return &n.entries[i]
	}
	return nil
}

const reasonCount = 11

// reasons are what entry.reason indexes; the positions are part of the cache
// file's format.
func reasons() [reasonCount]documents.Reason {
	return [...]documents.Reason{"", documents.ReasonSize, documents.ReasonUnreadable, documents.ReasonSpecial, documents.ReasonSecret,
		documents.ReasonWorktree, documents.ReasonReserved, documents.ReasonBudget, documents.ReasonWithheld, documents.ReasonDepth, documents.ReasonHistory}
}

func reasonIndex(r documents.Reason) uint8 {
	list := reasons()
	return uint8(max(slices.Index(list[:], r), 0))
}

func (e *entry) skipReason() documents.Reason { return reasons()[e.reason] }

// at is the entry of a path below the directory, nil if there is none.
func (n *node) at(path string) *entry {
	_, e := n.within(path)
	return e
}

// inIgnored tells whether a path below the directory lies in an ignored one.
func (n *node) inIgnored(path string) bool {
	for {
		name, rest, more := strings.Cut(path, "/")
		e := n.lookup(name)
		if !more || e == nil || e.kind != kindDirectory {
			return false
		}
		if e.flags&flagIgnored != 0 {
			return true
		}
		n, path = e.dir, rest
	}
}

// filesAfter lists up to most captured files that come after a path in a walk.
func filesAfter(n *node, after string, most int) []string {
	var list []string
	collectAfter(n, "", after, most, &list)
	return list
}

// seededFiles lists files that were taken over and not read yet, up to most and,
// but for the first, of bytes together.
func seededFiles(n *node, most int, bytes int64) []string {
	var list []string
	visit(n, "", func(n *node) bool { return n.sum.seeded > 0 && len(list) < most && bytes > 0 }, func(path string, _ *node, e *entry) {
		if e.flags&flagSeeded != 0 && len(list) < most && bytes > 0 {
			list = append(list, path)
			bytes -= e.stat.size
		}
	})
	return list
}

func collectAfter(n *node, path, after string, most int, list *[]string) {
	name, rest, deeper := strings.Cut(after, "/")
	for i := range n.entries {
		e := &n.entries[i]
		if len(*list) == most {
			return
		}
		if e.name < name {
			continue
		}
		below := ""
		if e.name == name {
			if !deeper {
				continue
			}
			below = rest
		}
		switch e.kind {
		case kindDirectory:
			collectAfter(e.dir, treepath.Join(path, e.name), below, most, list)
		case kindFile, kindExecutable:
			*list = append(*list, treepath.Join(path, e.name))
		}
	}
}
