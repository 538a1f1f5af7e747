package restore

import (
	"errors"
	"io"
	"io/fs"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/databases"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// ends are the ends of the names of a database's files, in the order of a plan: the
// database comes first.
func ends() []string {
	beside := databases.Beside()
	return append([]string{""}, beside[:]...)
}

// databasePlanner plans the SQLite databases of a plan, each as one: SQLite would put a
// log of another moment into the database that it finds it beside, and damage it.
type databasePlanner struct {
	*planner
	wholes []string // the databases that are changed
}

// plan comes after the differences: it adds what belongs to the databases among them.
func (d *databasePlanner) plan() error {
	names, err := d.candidates()
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, end := databases.Of(name); end != "" {
			continue // by its name it is a part of another: it is put back as any file
		}
		is, err := d.isDatabase(name)
		if err != nil {
			return err
		}
		if is {
			err = d.database(name)
		} else {
			err = d.foreign(name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// candidates are the paths of what may be databases that are changed. A log may lie on
// disk alone, since rules leave it out; and one may come while the plan is carried out.
func (d *databasePlanner) candidates() ([]string, error) {
	var names []string
	for _, path := range d.paths {
		name, _ := databases.Of(path)
		names = append(names, name)
	}
	dirs := map[string]bool{}
	for path, c := range d.changes {
		if c.Action() == Chmod {
			continue
		}
		if name, end := databases.Of(path); end != "" {
			names = append(names, name)
		}
		dirs[treepath.Parent(path)] = true
		if c.From != nil && c.From.Mode != gitstore.ModeSymlink {
			is, err := d.onDisk(path)
			if err != nil {
				return nil, err
			}
			if is {
				names = append(names, path)
			}
		}
	}
	for dir := range dirs {
		list, err := d.disk.ReadDir(dir)
		if err != nil {
			continue // what is to be done there will be said
		}
		for _, e := range list {
			if name, end := databases.Of(treepath.Join(dir, e.Name)); end != "" && d.changes[name] != nil {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// onDisk tells whether the file at a path is a database now.
func (d *databasePlanner) onDisk(path string) (bool, error) {
	if hostile(path) {
		return false, nil
	}
	l, err := d.look(path)
	if err != nil || !l.there || l.stat.Kind() != beneath.File || !databases.CanBe(l.stat.Size) {
		return false, err
	}
	file, _, err := d.disk.Open(path)
	if err != nil {
		if absent(err) || errors.Is(err, fs.ErrPermission) || errors.Is(err, beneath.ErrNotRegular) {
			return false, nil
		}
		return false, err
	}
	defer file.Close()
	return databases.Is(file, l.stat.Size)
}

// isDatabase tells whether a path is one in either snapshot.
func (d *databasePlanner) isDatabase(path string) (bool, error) {
	for _, side := range []*Side{d.from, d.to} {
		e, err := lookup(d.objects, side.Tree, path)
		if err != nil {
			return false, err
		}
		if e.Mode != gitstore.ModeFile && e.Mode != gitstore.ModeExec {
			continue
		}
		is, err := IsDatabase(d.objects, e.ID)
		if err != nil || is {
			return is, err
		}
	}
	return false, nil
}

// IsDatabase tells whether a blob is a SQLite database.
func IsDatabase(objects interface {
	BlobReader(id gitstore.ID) (io.ReadCloser, int64, error)
}, id gitstore.ID) (bool, error) {
	r, size, err := objects.BlobReader(id)
	if err != nil {
		return false, err
	}
	defer r.Close()
	return databases.Is(r, size)
}

// DatabaseFiles are the paths of all files of the SQLite database that the file at a path
// is one of, in one of some trees; none if it is no database's.
func DatabaseFiles(objects Objects, trees []gitstore.ID, path string) ([]string, error) {
	name, _ := databases.Of(path)
	d := &databasePlanner{planner: &planner{objects: objects}}
	for _, tree := range trees {
		d.from, d.to = &Side{Tree: tree}, &Side{Tree: tree}
		is, err := d.isDatabase(name)
		if err != nil {
			return nil, err
		}
		if is {
			return filesOf(name), nil
		}
	}
	return nil, nil
}

func filesOf(name string) (list []string) {
	for _, end := range ends() {
		list = append(list, name+end)
	}
	return list
}

// Databases are the SQLite databases that a plan changes.
func (p *Plan) Databases() (list []string) {
	for i := range p.Changes {
		if _, end := databases.Of(p.Changes[i].Path); p.Changes[i].Whole && end == "" {
			list = append(list, p.Changes[i].Path)
		}
	}
	return list
}

// UncapturedLogs are the files of SQLite databases that stay as they are since a log of
// theirs is ignored: a safety snapshot that holds these allows them to be changed.
func (p *Plan) UncapturedLogs() (list []string) {
	for _, k := range p.Keep {
		name, end := databases.Of(k.Path)
		if end == "" || k.Reason != ReasonIgnored {
			continue
		}
		if of, kept := p.Covers(name); kept && of == (Kept{name, ReasonDatabase}) {
			list = append(list, filesOf(name)...)
		}
	}
	return list
}

// foreign leaves the logs of a database of which neither snapshot has anything else: it
// stays as it is now.
func (d *databasePlanner) foreign(name string) error {
	is, err := d.onDisk(name)
	if err != nil || !is || d.changes[name] != nil {
		return err
	}
	for _, end := range databases.Beside() {
		if d.changes[name+end] != nil {
			d.leaveOut(name+end, ReasonDatabase)
		}
	}
	return nil
}

// database plans the files of one. If neither it nor a log that holds anything differs,
// it stays as it is, with its shared memory and empty logs: a program may have it open.
func (d *databasePlanner) database(name string) error {
	differs := false
	all := map[string]*Change{}
	for _, end := range ends() {
		c, err := d.difference(name + end)
		if err != nil {
			return err
		}
		all[end] = c
		differs = differs || end != databases.Index && !holding(end, c.From).holds(holding(end, c.To))
	}
	for _, end := range ends() {
		path, c := name+end, all[end]
		if !differs {
			if end != "" {
				delete(d.changes, path)
			}
			continue
		}
		if end == databases.Index {
			c.To = nil
			delete(d.keep, path)
		}
		if _, kept := d.keep[path]; kept {
			continue
		}
		c.Whole = true
		d.changes[path] = c
		d.admit(c)
	}
	if differs {
		d.wholes = append(d.wholes, name)
	}
	return nil
}

// holding is a state of a database's file, nil for an empty log.
func holding(end string, s *State) *State {
	if end != "" && s != nil && s.Blob == gitstore.HashObject(gitstore.TypeBlob, nil) {
		return nil
	}
	return s
}

// difference is which file a path is in both snapshots.
func (d *databasePlanner) difference(path string) (*Change, error) {
	from, err := d.file(d.from, path)
	if err != nil {
		return nil, err
	}
	to, err := d.file(d.to, path)
	return &Change{Path: path, From: from, To: to}, err
}

func (d *databasePlanner) file(side *Side, path string) (*State, error) {
	e, err := lookup(d.objects, side.Tree, path)
	if err != nil || e.Mode.IsDir() {
		return nil, err
	}
	return side.state(path, e), nil
}

// settle comes last: of a database of which one file stays, all stay.
func (d *databasePlanner) settle() {
	for _, name := range d.wholes {
		if !slices.ContainsFunc(ends(), func(end string) bool { _, kept := d.keep[name+end]; return kept }) {
			continue
		}
		for _, end := range ends() {
			path := name + end
			if c := d.changes[path]; c != nil {
				delete(d.changes, path)
				if c.differs() && end != databases.Index {
					d.keep[path] = ReasonDatabase
				}
			} else if l, err := d.look(path); err == nil && !l.there && d.isAbsent(d.to, path) {
				delete(d.keep, path) // it is not there, and is not to be
			}
		}
	}
}

func (d *databasePlanner) isAbsent(side *Side, path string) bool {
	e, err := lookup(d.objects, side.Tree, path)
	return err == nil && e.ID.IsZero()
}

// isLog tells of a database's log, or shared memory: it stays or goes with the database,
// whatever rules say of it.
func isLog(c *Change) bool {
	_, end := databases.Of(c.Path)
	return c.Whole && end != ""
}

// isNothing tells of a file beside a database that nobody loses anything with: its shared
// memory, or an empty log.
func isNothing(c *Change, kind beneath.Kind, size int64) bool {
	_, end := databases.Of(c.Path)
	return isLog(c) && kind == beneath.File && (size == 0 || end == databases.Index && databases.CanBeIndex(size))
}

// planBack plans to take back what a plan did to a database: if all of it is as the plan
// left it, but for its shared memory. Else all of it stays.
func (d *databasePlanner) planBack(of *Plan) error {
	for i := range of.Changes {
		name, end := databases.Of(of.Changes[i].Path)
		if !of.Changes[i].Whole || end != "" {
			continue
		}
		d.wholes = append(d.wholes, name)
		if err := d.databaseBack(of, name); err != nil {
			return err
		}
	}
	return nil
}

func (d *databasePlanner) databaseBack(of *Plan, name string) error {
	left, was := true, true
	var changed []string
	for _, end := range ends() {
		c, ok := of.change(name + end)
		if !ok {
			return nil // no plan of Make's
		}
		if end == databases.Index {
			now, err := d.file(d.from, c.Path)
			if err != nil {
				return err
			}
			d.changes[c.Path] = &Change{Path: c.Path, From: now, Whole: true}
			continue
		}
		now, err := d.present(c.Path)
		if err != nil {
			return err
		}
		now = holding(end, now)
		as, before := same(now, holding(end, c.To)), same(now, holding(end, c.From))
		left, was = left && as, was && before
		if !as {
			changed = append(changed, c.Path)
		}
		back := &Change{Path: c.Path, From: c.To, To: c.From, Whole: true}
		if now == nil {
			back.From = nil
		}
		d.changes[c.Path] = back
		if why, ok := d.leave[c.Path]; ok {
			d.leaveOut(c.Path, why)
		} else if why, closed := d.from.closed(c.Path); closed {
			d.leaveOut(c.Path, Reason(why))
		}
	}
	if was && !left {
		for _, end := range ends() {
			delete(d.changes, name+end)
		}
		return nil
	}
	for _, path := range changed {
		d.leaveOut(path, ReasonChanged)
	}
	return nil
}
