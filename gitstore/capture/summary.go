package capture

import (
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/documents"
)

// summary is what a directory and everything below it amounts to. It is made
// when a directory's node is sealed, so that what a record lists sparsely
// (skipped paths, unusual modes) is found without visiting the rest.
type summary struct {
	files, dirs int
	bytes       int64
	skipped     int
	waiting     int // skipped for the budget
	tracked     int // entries with flagTracked
	held        int // entries with flagHeld
	changing    int
	linked      int
	seeded      int // entries with flagSeeded
	empty       int // directories without captured entries
	rules       int // directories with rules of their own
	perms       []permCount
}

// permCount is how often permission bits occur in a kind of entry.
type permCount struct {
	kind  kind
	perm  uint16
	count int
}

func (s *summary) addEntry(e *entry) {
	switch e.kind {
	case kindSkipped:
		s.skipped++
		if e.skipReason() == documents.ReasonBudget {
			s.waiting++
		}
		return
	case kindDirectory:
		s.addBelow(&e.dir.sum)
		if !e.countsAsDirectory() {
			return
		}
		s.dirs++
		if e.dir.holdsNothing() {
			s.empty++
		}
	default:
		s.files++
		s.bytes += e.stat.size
	}
	if e.flags&flagTracked != 0 {
		s.tracked++
	}
	if e.flags&flagHeld != 0 {
		s.held++
	}
	if e.flags&flagChanging != 0 {
		s.changing++
	}
	if e.flags&flagLinked != 0 {
		s.linked++
	}
	if e.flags&flagSeeded != 0 {
		s.seeded++
	}
	if e.kind != kindSymlink {
		s.addPerm(permCount{e.kind, uint16(e.stat.mode & 0o7777), 1})
	}
}

// countsAsDirectory is false for an ignored directory of which nothing is
// captured: it is not part of the snapshot.
func (e *entry) countsAsDirectory() bool {
	return e.flags&flagIgnored == 0 || e.dir.sum.files > 0
}

// holdsNothing tells whether a directory has no captured entry.
func (n *node) holdsNothing() bool {
	return !slices.ContainsFunc(n.entries, func(e entry) bool {
		return e.kind != kindSkipped && (e.kind != kindDirectory || e.countsAsDirectory())
	})
}

func (s *summary) addBelow(b *summary) {
	s.files += b.files
	s.dirs += b.dirs
	s.bytes += b.bytes
	s.skipped += b.skipped
	s.waiting += b.waiting
	s.tracked += b.tracked
	s.held += b.held
	s.changing += b.changing
	s.linked += b.linked
	s.seeded += b.seeded
	s.empty += b.empty
	s.rules += b.rules
	for _, p := range b.perms {
		s.addPerm(p)
	}
}

func (s *summary) addPerm(p permCount) {
	for i := range s.perms {
		if s.perms[i].kind == p.kind && s.perms[i].perm == p.perm {
			s.perms[i].count += p.count
			return
		}
	}
	s.perms = append(s.perms, p)
}

// usual is the most common permission bits of a kind, the smaller ones of two
// that are equally common, so that it depends on nothing but the workspace.
func (s *summary) usual(k kind) (uint16, bool) {
	best := permCount{}
	for _, p := range s.perms {
		if p.kind == k && (p.count > best.count || p.count == best.count && p.perm < best.perm) {
			best = p
		}
	}
	return best.perm, best.count > 0
}

// unusual tells whether anything summed up has other bits than the usual ones.
func (s *summary) unusual(usual map[kind]uint16) bool {
	return slices.ContainsFunc(s.perms, func(p permCount) bool { return usual[p.kind] != p.perm })
}
