package capture

import (
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/ignore"
)

// dirTimes are a directory's times of modification and of status change, where
// equal ones prove that it has the same names: on a file system that stamps both
// whenever a name is made, removed or renamed, and if any later change would have
// stamped them anew. No times are the zero value.
type dirTimes struct{ mtime, ctime int64 }

func (t dirTimes) none() bool { return t == dirTimes{} }

// directory is one that was opened to be walked.
type directory struct {
	dir *beneath.Dir
	st  beneath.Stat
}

// lookAt closes a directory that it can't describe.
func lookAt(dir *beneath.Dir) (directory, error) {
	st, err := dir.Stat()
	if err != nil {
		_ = dir.Close()
		return directory{}, err
	}
	return directory{dir, st}, nil
}

// times are those that prove the names that are listed from now on. Began is a
// moment before the directory was looked at, by the coarse clock.
func (d *directory) times(system fileSystem, began int64) dirTimes {
	stat := fingerprintOf(&d.st)
	if !system.stampsNames || !(stamp{now: began, coarse: system.coarse}).trusts(&stat) {
		return dirTimes{}
	}
	return dirTimes{mtime: stat.mtime, ctime: stat.ctime}
}

// names puts into list what the directory of a scene holds: what it held, if
// this walk goes by times and they prove it, else what the system says. It
// reads the rules of the directory, too.
//
// A name that was left out is in no node. Whether it counts now is for the rules
// to say, which are the same, or for the names that are dirty: with others, the
// directory is listed.
func (w *walker) names(s *scene, list *beneath.Listing, old *node, dirty *dirtyTree) error {
	if w.byTimes && s.at.stable && w.verify == nil && old != nil && !s.listed.none() && old.listed == s.listed &&
		old.device == s.device && (dirty == nil || len(dirty.below) == 0) {
		list.Reset()
		for i := range old.entries {
			e := &old.entries[i]
			list.Add(e.name, e.kind.hint())
		}
		err := w.ruled(s, list, old)
		if err != nil || s.stable {
			return err
		}
	}
	w.hooks.call(w.hooks.beforeList, s.at.path)
	if err := s.dir.List(list); err != nil {
		return err
	}
	return w.ruled(s, list, old)
}

// hint is what a listing says of an entry that is as it was.
func (k kind) hint() beneath.Kind {
	switch k {
	case kindFile, kindExecutable:
		return beneath.File
	case kindSymlink:
		return beneath.Symlink
	case kindDirectory:
		return beneath.Directory
	}
	return beneath.Unknown
}

// tellsRules reports whether the entries alone tell which of the names that say
// something of other names the directory has, and that it is no repository.
func (s *sheet) tellsRules(names *beneath.Listing) bool {
	for _, special := range []string{gitName, ignore.GitName, ignore.UmbraName, attributesName} {
		if !names.Has(special) {
			continue
		}
		if _, ok := (&node{entries: s.entries}).find(special); !ok {
			return false
		}
	}
	return true
}
