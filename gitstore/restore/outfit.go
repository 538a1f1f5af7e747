package restore

import (
	"errors"
	"os"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/attributes"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// errOtherContent is why a program that was changed does not run with the rights that
// its former content was given.
var errOtherContent = errors.New("they were given to other content")

// outfit is what a file that is put at a path gets beside its content.
type outfit struct {
	// kept is of the file whose place it takes or, of one that a restore had removed,
	// its own. It is nil for a new file.
	kept *attributes.Kept
	// dated says that the time comes back too: nothing was at the path meanwhile, so
	// nothing was built of other content.
	dated bool
	// replaces says that something is at the path, be it that nobody can read it.
	replaces bool
	lost     []attributes.Lost
}

// outfitOf is for a file that is to be as is at a path at which there is what was says.
func outfitOf(root *beneath.Root, path string, was, is *State) (outfit, error) {
	old, st, err := root.Open(path)
	if err != nil {
		_, err := root.Lstat(path)
		return outfit{kept: is.Kept, dated: is.Kept != nil, replaces: err == nil}, nil
	}
	now := attributes.Of(old, st)
	if err := old.Close(); err != nil {
		return outfit{}, err
	}
	o := outfit{kept: now, replaces: true}
	if is.Kept != nil {
		now.TakePrivileges(is.Kept)
		now.Sparse = now.Sparse || is.Kept.Sparse
	} else if now.HasPrivileges() {
		now.DropPrivileges()
		o.lost = []attributes.Lost{{What: "set-ID bits or capabilities", Err: errOtherContent}}
	}
	now.Mode = now.Mode&^0o777 | attributes.Mode(permOver(was, is, st))
	return o, nil
}

// run is how many zeros become a hole; 0 makes none. A file without holes, or one that can't
// be read, is replaced by one without. Of a file that is not there, nobody knows whether it
// had any.
func (o *outfit) run(size int64) int64 {
	switch {
	case o.kept != nil && o.kept.Sparse:
		return attributes.Block
	case o.kept == nil && !o.replaces && size >= attributes.LongRun:
		return attributes.LongRun
	}
	return 0
}

// put gives the file what it gets. What could not be given is noted, and no reason not
// to have the file.
func (o *outfit) put(w *Work, at spot, path string, is *State, file *os.File) error {
	lost := o.lost
	if o.kept != nil {
		lost = append(lost, o.kept.Give(file)...)
	} else {
		inherited, err := inherit(w, path, is, file)
		if err != nil {
			return err
		}
		lost = append(lost, inherited...)
	}
	if o.dated {
		if err := at.root.Chtimes(at.path, o.kept.Time(), o.kept.Time()); err != nil {
			lost = append(lost, attributes.Lost{What: "time", Err: err})
		}
	}
	w.noteLost(path, lost)
	return nil
}

// inherit gives a new file what its directory gives to files that are made in it.
func inherit(w *Work, path string, is *State, file *os.File) ([]attributes.Lost, error) {
	above, err := openAbove(w, path)
	if err != nil {
		return nil, err
	}
	defer above.Close()
	_, exact := is.Perm.Known()
	return attributes.Inherit(above, file, newPerm(is), exact), nil
}

// openAbove opens the directory that what is made at a path inherits from: the nearest one
// that was there before, since it gives the same to directories. What this operation has
// made has no ACL but that.
func openAbove(w *Work, path string) (*beneath.Dir, error) {
	dir := treepath.Parent(path)
	for ; dir != ""; dir = treepath.Parent(dir) {
		if _, made := slices.BinarySearchFunc(w.Document.Plan.MakeDirs, Directory{Path: dir}, topDown); made {
			continue
		}
		if _, there, err := statDir(w.Root, dir); err != nil || there {
			if err != nil {
				return nil, err
			}
			break
		}
	}
	return w.Root.OpenDir(dir)
}

// putLink gives a symbolic link owner and time.
func putLink(w *Work, at spot, path string, is *State) {
	if is.Kept == nil {
		return
	}
	var lost []attributes.Lost
	if st, err := at.root.Lstat(at.path); err != nil || !attributes.OfStat(st).SameOwner(is.Kept) {
		if err := at.root.Chown(at.path, int(is.Kept.UID), int(is.Kept.GID)); err != nil {
			lost = append(lost, attributes.Lost{What: "owner", Err: err})
		}
	}
	if err := at.root.Chtimes(at.path, is.Kept.Time(), is.Kept.Time()); err != nil {
		lost = append(lost, attributes.Lost{What: "time", Err: err})
	}
	w.noteLost(path, lost)
}

// newPerm is for a file that nothing is known of but its state.
func newPerm(s *State) uint32 {
	if bits, known := s.Perm.Known(); known {
		return bits
	}
	if s.Mode == gitstore.ModeExec {
		return 0o777
	}
	return 0o666
}

// permOver is the permission bits of a file that takes the place of one with st: the
// same but for the exec bit, unless others were recorded of both.
func permOver(was, is *State, st beneath.Stat) uint32 {
	if bits, _ := is.Perm.Known(); was != nil && was.Perm.Differs(is.Perm) {
		return bits
	}
	return withExec(st.Perm()&0o777, is.Mode == gitstore.ModeExec)
}

func withExec(perm uint32, exec bool) uint32 {
	if !exec {
		return perm &^ 0o111
	}
	if perm&0o100 != 0 {
		return perm
	}
	return perm | 0o100 | perm&0o044>>2
}
