package capture

import (
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
)

// proveMoment looks again at all that was read, when all is read: what is as it was
// when it was read is of one moment, that of this look. Two files that were each read
// whole need not be (H49). What was taken over unread is known to be unchanged when the
// walk began, so all that was read must have been written before that.
func (r *reading) proveMoment() error {
	for _, u := range r.done {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		r.proveUnit(u)
	}
	return nil
}

func (r *reading) proveUnit(u *unit) {
	dir, err := r.root.OpenDir(u.scene.at.path)
	if err != nil {
		r.moved = true
		return
	}
	defer dir.Close()
	began := stamp{now: r.began, coarse: u.scene.system.coarse}
	for _, i := range u.reads {
		e := &u.node.entries[i]
		if e.kind == kindDirectory || e.kind == kindSkipped || e.flags&flagGone != 0 {
			continue
		}
		st, err := dir.Lstat(e.name)
		if err != nil || fingerprintOf(&st) != e.stat || !began.follows(&e.stat) {
			r.moved = true
		}
		if name := databaseOf(dir, u.node, e); name != "" {
			proveDatabase(dir, u.node, name)
		}
	}
}

// databaseParts end the names of the files that a SQLite database is made of:
// https://www.sqlite.org/tempfiles.html. The shared memory of a write-ahead log holds
// nothing that is not in the log.
var databaseParts = []string{"", "-wal", "-journal"}

// databaseHead begins the file of a SQLite database, whose size is one of whole pages:
// https://www.sqlite.org/fileformat.html.
const (
	databaseHead = "SQLite format 3\x00"
	databasePage = 512
)

// databaseOf is the name of the SQLite database that a file is, or is a part of, "" if
// it is none.
func databaseOf(dir *beneath.Dir, n *node, e *entry) string {
	for _, part := range databaseParts[1:] {
		if name, ok := strings.CutSuffix(e.name, part); ok && n.lookup(name) != nil && begins(dir, name, databaseHead) {
			return name
		}
	}
	if e.kind == kindSymlink || e.stat.size < databasePage || e.stat.size%databasePage != 0 || !begins(dir, e.name, databaseHead) {
		return ""
	}
	return e.name
}

// proveDatabase marks the files of a SQLite database as changing unless they are shown
// to be of one moment: all that are there are captured, and nobody has written to any
// since it was read, nor so shortly before that stat data could not tell. Such files are
// what a crash leaves at a moment, from which SQLite recovers.
func proveDatabase(dir *beneath.Dir, n *node, name string) {
	whole := !slices.ContainsFunc(databaseParts, func(part string) bool { return !isWholePart(dir, n.lookup(name+part), name+part) })
	for _, part := range append([]string{"-shm"}, databaseParts...) {
		e := n.lookup(name + part)
		switch {
		case e == nil || e.kind == kindSkipped || e.kind == kindDirectory:
		case whole && e.flags&flagTrusted != 0:
			e.flags &^= flagChanging
		case !whole:
			e.flags |= flagChanging
		}
	}
}

// isWholePart tells whether a part of a database is captured as it is on disk, if it is
// there.
func isWholePart(dir *beneath.Dir, e *entry, name string) bool {
	captured := e != nil && (e.kind == kindFile || e.kind == kindExecutable) && e.flags&flagGone == 0
	st, err := dir.Lstat(name)
	switch {
	case err != nil:
		return vanished(err) && !captured
	case !captured:
		return st.Size == 0 // a log that is ignored holds what the database lacks
	}
	return fingerprintOf(&st) == e.stat && e.flags&flagTrusted != 0
}
