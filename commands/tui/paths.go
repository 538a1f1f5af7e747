package tui

import (
	"slices"

	"github.com/umbra-vcs/umbra/missions"
)

// current reports whether what is shown is what is wanted: it may come later.
func (d *details) current() bool { return d.have && d.now.key == d.want }

// moveDetails scrolls the details.
func (m *model) moveDetails(n int) {
	m.details.top = max(min(m.details.top+n, len(m.details.lines)-1), 0)
}

// movePointer puts the pointer so many lines further, and keeps it on the screen.
func (m *model) movePointer(n int) {
	d := &m.details
	d.pointer = max(min(d.pointer+n, len(d.lines)-1), 0)
	h := max(m.layout().details.h-1, 1)
	d.top = max(min(d.top, d.pointer), d.pointer-h+1)
}

// fileAt is the file that the pointer is on: in the list of what changed, or in
// the patch.
func (m *model) fileAt() (missions.FileChange, bool) {
	d := &m.details
	if !d.current() || d.pointer >= len(d.files) || d.files[d.pointer] < 0 {
		return missions.FileChange{}, false
	}
	return d.now.files[d.files[d.pointer]], true
}

// markPath marks the path that the pointer is on, or no longer.
func (m *model) markPath() {
	f, ok := m.fileAt()
	if !ok {
		m.say("no file is on this line")
		return
	}
	d := &m.details
	if i := slices.Index(d.marked, f.Path); i >= 0 {
		d.marked = slices.Delete(slices.Clone(d.marked), i, i+1)
	} else {
		d.marked = append(slices.Clip(d.marked), f.Path)
	}
	m.layDetails()
}
