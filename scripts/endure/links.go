package main

import (
	"os"
	"path/filepath"
	"slices"
)

// A shared is one file with several names: what is written through one of them
// is written to all.
type shared struct {
	names   []string // in the workspace
	outside []string // absolute, where nothing is captured

	// told says that an event has told of one of its names since the snapshot
	// before, so that the next sees that it has several; known that one has.
	told, known bool
}

func (s *shared) links() int { return len(s.names) + len(s.outside) }

// linked is the file of that name, if it has others, nil if not.
func (w *world) linked(name string) *shared {
	for _, s := range w.shared {
		if slices.Contains(s.names, name) {
			return s
		}
	}
	return nil
}

// link gives the file of a name another one in the workspace.
func (w *world) link(name, other string) error {
	if err := os.Link(w.path(name), w.path(other)); err != nil {
		return err
	}
	s := w.share(name)
	s.names, s.told = append(s.names, other), true
	w.changed(other, w.files[name])
	return nil
}

// linkOutside gives the file of a name another one outside the workspace, of
// which no event tells.
func (w *world) linkOutside(name string) error {
	w.made++
	other := filepath.Join(w.outside, filepath.Base(w.fresh("", "link_%d")))
	if err := os.Link(w.path(name), other); err != nil {
		return err
	}
	s := w.share(name)
	s.outside = append(s.outside, other)
	return nil
}

func (w *world) share(name string) *shared {
	if s := w.linked(name); s != nil {
		return s
	}
	s := &shared{names: []string{name}}
	w.shared = append(w.shared, s)
	return s
}

// renamed follows a file to its other name.
func (w *world) renamed(from, to string) {
	e := w.files[from]
	if s := w.linked(from); s != nil {
		s.names[slices.Index(s.names, from)] = to
	}
	w.forget(from)
	w.changed(to, e)
}

// parted is told that a name has gone from the file that had it.
func (w *world) parted(name string) {
	s := w.linked(name)
	if s == nil {
		return
	}
	s.names = slices.DeleteFunc(s.names, func(n string) bool { return n == name })
	if s.links() < 2 || len(s.names) == 0 {
		w.shared = slices.DeleteFunc(w.shared, func(o *shared) bool { return o == s })
	}
}

// changed puts new content into the file of a name, and so of all its names. An
// event tells of it under that name.
func (w *world) changed(name string, e entry) {
	names := []string{name}
	if s := w.linked(name); s != nil {
		s.told, names = true, s.names
	}
	for _, n := range names {
		w.put(n, e)
		delete(w.lag, n)
	}
}

// changedUntold puts new content into a file though no event tells of it. Until
// the next walk a snapshot may hold what it held, unless captures have seen that
// the file has several names: then its stat data are looked at each time.
func (w *world) changedUntold(s *shared, e entry) {
	for _, n := range s.names {
		if !s.known {
			w.lag[n] = append(w.lag[n], w.files[n])
		}
		w.put(n, e)
	}
}

// taken is told that a snapshot holds the workspace; walked says that it was
// made by a walk over everything, so that nothing lags any more.
func (w *world) taken(walked bool) {
	for _, s := range w.shared {
		s.known = s.known || s.told || walked
		s.told = false
	}
	if walked {
		clear(w.lag)
	}
}
