package watcher

import (
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
)

// Why a dirty set is Full: the beginnings of Dirty.Why, and the keys of
// Stats.FullReasons.
const (
	WhyFirst      = "first look"
	WhyOverflow   = "events were lost"
	WhyLimit      = "watch limit reached"
	WhyRoot       = "root moved, replaced or missing"
	WhyRules      = "ignore rules changed"
	WhyTooMany    = "too many changes"
	WhyFileSystem = "file system without reliable events"
	WhyUnwatched  = "a directory could not be watched"
	WhyBarrier    = "no barrier"
	WhyRootMode   = "attributes of the root changed"
)

// Dirty is what may have changed since the Take before: too much, never too
// little. Paths are slash-separated byte strings relative to the root.
type Dirty struct {
	// Full: everything may have changed; walk it all. Paths and Dirs are empty.
	Full bool
	// Why it is Full, for people; it begins with one of the Why constants.
	Why string
	// Paths may have changed, appeared or gone, as an entry of their
	// directory and in content: look at each anew. If a path is a directory,
	// what is below it is as before, unless it says so itself.
	Paths []string
	// Dirs are directories, or were: everything below may have changed,
	// appeared or gone. Walk each as a Full would be walked. No element of
	// Paths or Dirs is below one of Dirs.
	Dirs []string
}

// Empty reports whether nothing may have changed.
func (d Dirty) Empty() bool { return !d.Full && len(d.Paths) == 0 && len(d.Dirs) == 0 }

// why is a reason in a constant form that can be counted, and its detail.
type why struct{ class, detail string }

func (y why) String() string {
	if y.detail == "" {
		return y.class
	}
	return y.class + ": " + y.detail
}

// dirtySet gathers a tree's dirty paths. Any goroutine may use it.
type dirtySet struct {
	mu    sync.Mutex
	count func(class string)
	limit int
	full  why // since the last take, if not zero
	never why // what makes every take Full as long as the tree lives
	flaw  why // what makes every take Full until it is mended
	paths map[string]struct{}
	dirs  map[string]struct{}
}

func (s *dirtySet) isFull() bool { return s.full != why{} || s.never != why{} || s.flaw != why{} }

// addPath makes one path dirty.
func (s *dirtySet) addPath(rel string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isFull() || s.covered(rel) {
		return
	}
	if s.paths == nil {
		s.paths = map[string]struct{}{}
	}
	s.paths[rel] = struct{}{}
	s.bound()
}

// addDir makes everything at and below a path dirty.
func (s *dirtySet) addDir(rel string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isFull() || s.covered(rel) {
		return
	}
	if s.dirs == nil {
		s.dirs = map[string]struct{}{}
	}
	s.dirs[rel] = struct{}{}
	s.bound()
}

// covered reports whether rel is in dirs, or below one.
func (s *dirtySet) covered(rel string) bool {
	for len(s.dirs) > 0 && rel != "." && rel != "" {
		if _, ok := s.dirs[rel]; ok {
			return true
		}
		rel = path.Dir(rel)
	}
	return false
}

// bound keeps memory in bounds: paths fold into their directories, then all.
func (s *dirtySet) bound() {
	if len(s.paths)+len(s.dirs) <= s.limit {
		return
	}
	for p := range s.paths {
		if dir := path.Dir(p); dir != "." {
			if s.dirs == nil {
				s.dirs = map[string]struct{}{}
			}
			s.dirs[dir] = struct{}{}
			delete(s.paths, p)
		}
	}
	s.prune()
	// Less than half saved, the next few paths would fold it all again.
	if len(s.paths)+len(s.dirs) > s.limit/2 {
		s.setFullLocked(why{WhyTooMany, ""})
	}
}

// prune drops what another directory covers.
func (s *dirtySet) prune() {
	for p := range s.paths {
		if s.covered(p) {
			delete(s.paths, p)
		}
	}
	for d := range s.dirs {
		if s.covered(path.Dir(d)) {
			delete(s.dirs, d)
		}
	}
}

func (s *dirtySet) setFull(y why) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.setFullLocked(y)
}

func (s *dirtySet) setFullLocked(y why) {
	if s.full == (why{}) {
		s.full = y
		s.count(y.class)
	}
	s.paths, s.dirs = nil, nil
}

func (s *dirtySet) setNever(y why) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.never != y && y != (why{}) {
		s.count(y.class)
	}
	s.never = y
}

// setFlaw sets what is wrong until cleared; the first flaw is the one told.
func (s *dirtySet) setFlaw(y why) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.flaw == (why{}) {
		s.flaw = y
		s.count(y.class)
	}
}

func (s *dirtySet) clearFlaw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flaw = why{}
}

// flawed reports whether the set can't be relied on for now, or never.
func (s *dirtySet) flawed() (flaw, never bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.flaw != why{}, s.never != why{}
}

func (s *dirtySet) empty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.isFull() && len(s.paths) == 0 && len(s.dirs) == 0
}

// take returns the set and empties it.
func (s *dirtySet) take() Dirty {
	s.mu.Lock()
	defer s.mu.Unlock()
	var d Dirty
	for _, y := range []why{s.never, s.flaw, s.full} {
		if y != (why{}) {
			d = Dirty{Full: true, Why: y.String()}
			break
		}
	}
	if !d.Full {
		s.prune()
		d.Paths = slices.Sorted(maps.Keys(s.paths))
		d.Dirs = slices.Sorted(maps.Keys(s.dirs))
	}
	s.full, s.paths, s.dirs = why{}, nil, nil
	return d
}

// put merges back what was taken.
func (s *dirtySet) put(d Dirty) {
	if d.Full {
		class, detail, _ := strings.Cut(d.Why, ": ")
		s.setFull(why{class, detail})
		return
	}
	for _, rel := range d.Dirs {
		s.addDir(rel)
	}
	for _, rel := range d.Paths {
		s.addPath(rel)
	}
}
