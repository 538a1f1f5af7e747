package tui

import (
	"slices"

	"github.com/umbra-vcs/umbra/missions"
)

// current reports whether what is shown is what is wanted: it may come later.
func (d *details) current() bool { return d.have && d.now.key == d.want }

// scroll scrolls the details.
func (d *details) scroll(n int) { d.top = max(min(d.top+n, len(d.lines)-1), 0) }

// movePointer puts the pointer so many lines further, and keeps it on a screen of so many.
func (d *details) movePointer(n, screen int) {
	d.pointer = max(min(d.pointer+n, len(d.lines)-1), 0)
	d.top = max(min(d.top, d.pointer), d.pointer-screen+1)
}

// fileAt is the file that the pointer is on: in the list of what changed, or in
// the patch.
func (d *details) fileAt() (missions.FileChange, bool) {
	if !d.current() || d.pointer >= len(d.files) || d.files[d.pointer] < 0 {
		return missions.FileChange{}, false
	}
	return d.now.files[d.files[d.pointer]], true
}

// chosenFile is the file that is meant: the one that the pointer is on, if the keys go there,
// else the only one that changed.
func (d *details) chosenFile(pointed bool) (missions.FileChange, bool) {
	if pointed {
		return d.fileAt()
	}
	if !d.current() || len(d.now.files) != 1 {
		return missions.FileChange{}, false
	}
	return d.now.files[0], true
}

// markPath marks the path that the pointer is on, or no longer. It reports false if it is on none.
func (d *details) markPath() bool {
	f, ok := d.fileAt()
	if !ok {
		return false
	}
	if i := slices.Index(d.marked, f.Path); i >= 0 {
		d.marked = slices.Delete(slices.Clone(d.marked), i, i+1)
	} else {
		d.marked = append(slices.Clip(d.marked), f.Path)
	}
	return true
}
