package capture

import (
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/databases"
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
		if e.kind == kindDirectory || e.kind == kindSkipped {
			continue
		}
		if e.flags&flagGone == 0 {
			st, err := dir.Lstat(e.name)
			if err != nil || fingerprintOf(&st) != e.stat || !began.follows(&e.stat) {
				r.moved = true
			}
		}
		if name := databaseOf(dir, u.node, e); name != "" {
			proveDatabase(dir, u.node, name)
		}
	}
}

// databaseOf is the name of the SQLite database that a file is, or is a log of, "" if it
// is none. A log that is gone by now counts: the database was written to.
func databaseOf(dir *beneath.Dir, n *node, e *entry) string {
	if name, end := databases.Of(e.name); end != "" && n.lookup(name) != nil && isDatabase(dir, name) {
		return name
	}
	if e.flags&flagGone != 0 || e.kind == kindSymlink || !databases.CanBe(e.stat.size) || !isDatabase(dir, e.name) {
		return ""
	}
	return e.name
}

func isDatabase(dir *beneath.Dir, name string) bool {
	return begins(dir, name, string(databases.Head()))
}

// proveDatabase marks the files of a SQLite database as changing unless they are shown
// to be of one moment: all that are there are captured, and nobody has written to any
// since it was read, nor so shortly before that stat data could not tell. Such files are
// what a crash leaves at a moment, from which SQLite recovers. The database is looked at
// last: if it is as it was read then, it was so when its logs were looked at, and a
// journal that was not there then has not come and gone since.
func proveDatabase(dir *beneath.Dir, n *node, name string) {
	logs := databases.Logs()
	parts := append(logs[:], "")
	whole := !slices.ContainsFunc(parts, func(end string) bool { return !isWholePart(dir, n.lookup(name+end), name+end) })
	whole = whole && !spansDatabases(dir, n.lookup(name+databases.Journal))
	for _, end := range append(parts, databases.Index) {
		e := n.lookup(name + end)
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
		return st.Size == 0 // a log that is left out holds what the database lacks
	}
	return fingerprintOf(&st) == e.stat && e.flags&flagTrusted != 0
}

// spansDatabases tells whether a journal is of a transaction over several databases,
// which were not looked at together.
func spansDatabases(dir *beneath.Dir, e *entry) bool {
	if e == nil || e.kind == kindSkipped || e.flags&flagGone != 0 || e.stat.size == 0 {
		return false
	}
	f, _, err := dir.Open(e.name)
	if err != nil {
		return true
	}
	defer f.Close()
	return databases.SpansSeveral(f, e.stat.size)
}

// completes tells whether a file is a log of a database that is captured, which would be
// half of one without it: though a rule leaves the log out.
func (w *walker) completes(s *scene, name string) bool {
	of, end := databases.Of(name)
	if end == "" || end == databases.Index || s.dir == nil {
		return false
	}
	st, err := s.dir.Lstat(of)
	return err == nil && st.Kind() == beneath.File && databases.CanBe(st.Size) && st.Size <= w.rules.settings.SizeCap &&
		!w.standing(s, of, false).left && !w.rules.secrets.Match(s.at.path, of) && isDatabase(s.dir, of)
}

// withDatabases adds to what is read the databases of which a log is gone: they are not
// whole without it but as they are now.
func (p *patcher) withDatabases(entries []entry, reads []int) []int {
	for _, c := range p.found {
		name, end := databases.Of(c.name)
		if c.v != verdictNone || end == "" || p.old.lookup(c.name) == nil {
			continue
		}
		i, ok := slices.BinarySearchFunc(entries, name, func(e entry, name string) int { return strings.Compare(e.name, name) })
		if ok && (entries[i].kind == kindFile || entries[i].kind == kindExecutable) && !slices.Contains(reads, i) && isDatabase(p.scene.dir, name) {
			reads = append(reads, i)
		}
	}
	slices.Sort(reads)
	return reads
}
