package documents

import (
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
)

// Reason says why a path is not in a snapshot. It is part of the record's
// format.
type Reason string

const (
	// ReasonSize is a file over the size cap.
	ReasonSize Reason = "size"
	// ReasonUnreadable is a file or directory that could not be read.
	ReasonUnreadable Reason = "unreadable"
	// ReasonSpecial is a FIFO, socket or device, or a directory where a file
	// system such as /proc is mounted.
	ReasonSpecial Reason = "special"
	// ReasonSecret is a file whose name says that it holds credentials, unless
	// the user's repository tracks it.
	ReasonSecret Reason = "secret"
	// ReasonWorktree is the directory of another linked worktree of the same
	// repository.
	ReasonWorktree Reason = "worktree"
	// ReasonReserved is a name that some file system takes for ".git", a directory
	// of any name that Git uses for a work tree here, or one of Umbra's own.
	ReasonReserved Reason = "reserved"
	// ReasonBudget is a file that came after the file or byte budget was spent.
	ReasonBudget Reason = "budget"

	// ReasonWithheld is what was ignored until a restore, or the moment that a fork
	// begins at, took the rule away. It stays out until it is gone, a rule names it
	// again, or the user's repository tracks it.
	ReasonWithheld Reason = "withheld"

	// ReasonDepth is a directory below more others than Git follows, and so more than
	// any walk does that somebody makes directories ahead of.
	ReasonDepth Reason = "depth"

	// ReasonHistory is a directory of commits to which no .git leads.
	ReasonHistory Reason = "history"

	// ReasonIgnored is an answer of Rules.Eligible alone: no record lists ignored paths.
	ReasonIgnored Reason = "ignored"
)

// Skipped is a path that would have been captured but was left out. If it is a
// directory, so was everything below it.
type Skipped struct {
	Path   string
	Reason Reason
	Size   int64 // in bytes, of a file; else 0
	Mtime  int64 // when a file was last written, in nanoseconds since 1970; 0 if not known
}

// HasContent tells whether the path is a file that was left out for what it is, so that
// no snapshot can put its bytes back.
func (s Skipped) HasContent() bool {
	return s.Reason == ReasonSize || s.Reason == ReasonSecret || s.Reason == ReasonBudget
}

// Matches tells whether a file is as it was when it was left out, as far as that can be
// told without its bytes.
func (s Skipped) Matches(st beneath.Stat) bool {
	return st.Kind() == beneath.File && st.Size == s.Size && st.Mtime == s.Mtime
}

// SkippedSet is a snapshot's skipped list, to be asked about paths. It is
// immutable.
type SkippedSet struct {
	list   []Skipped
	byPath map[string]int
}

type skippedDocument struct {
	Version int            `json:"version"`
	Skipped []skippedEntry `json:"skipped"`
}

type skippedEntry struct {
	Path   text   `json:"path"`
	Reason Reason `json:"reason"`
	Size   int64  `json:"size,omitempty"`
	Mtime  int64  `json:"mtime,omitempty"`
}

// SkippedDocument is skipped.json for a list, which is sorted by path.
func SkippedDocument(list []Skipped) []byte {
	doc := skippedDocument{Version: Version, Skipped: make([]skippedEntry, len(list))}
	sorted := slices.Clone(list)
	slices.SortFunc(sorted, func(a, b Skipped) int { return strings.Compare(a.Path, b.Path) })
	for i, s := range sorted {
		doc.Skipped[i] = skippedEntry{Path: text(s.Path), Reason: s.Reason, Size: s.Size, Mtime: s.Mtime}
	}
	return encode(doc)
}

// ParseSkipped reads skipped.json. An error is an *Error; it must not be
// taken for an empty list (H3).
func ParseSkipped(data []byte) (*SkippedSet, error) {
	var doc skippedDocument
	if err := decode("skipped.json", data, &doc); err != nil {
		return nil, err
	}
	list := make([]Skipped, len(doc.Skipped))
	for i, e := range doc.Skipped {
		list[i] = Skipped{Path: string(e.Path), Reason: e.Reason, Size: e.Size, Mtime: e.Mtime}
	}
	return NewSkippedSet(list), nil
}

// NewSkippedSet makes a set of a list.
func NewSkippedSet(list []Skipped) *SkippedSet {
	s := &SkippedSet{list: slices.Clone(list), byPath: make(map[string]int, len(list))}
	slices.SortFunc(s.list, func(a, b Skipped) int { return strings.Compare(a.Path, b.Path) })
	for i, e := range s.list {
		s.byPath[e.Path] = i
	}
	return s
}

// All lists the set, sorted by path. The caller does not change the slice.
func (s *SkippedSet) All() []Skipped { return s.list }

// Covers tells whether path, or a directory above it, was skipped, and which.
func (s *SkippedSet) Covers(path string) (Skipped, bool) {
	if len(s.list) == 0 {
		return Skipped{}, false
	}
	for end := 0; end < len(path); end++ {
		slash := strings.IndexByte(path[end:], '/')
		if slash < 0 {
			break
		}
		end += slash
		if i, ok := s.byPath[path[:end]]; ok {
			return s.list[i], true
		}
	}
	i, ok := s.byPath[path]
	if !ok {
		return Skipped{}, false
	}
	return s.list[i], true
}
