package restore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/attributes"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
)

// statDir describes the directory at a path, "" being the root. Anything but a
// directory is not there.
func statDir(root *beneath.Root, dir string) (beneath.Stat, bool, error) {
	if dir == "" {
		handle, err := root.OpenDir("")
		if err != nil {
			return beneath.Stat{}, false, err
		}
		defer handle.Close()
		st, err := handle.Stat()
		return st, err == nil, err
	}
	st, err := root.Lstat(dir)
	if err != nil && absent(err) {
		return st, false, nil
	}
	return st, err == nil && st.Kind() == beneath.Directory, err
}

// chmodDir changes a directory's bits if they are from.
func (w *Work) chmodDir(m DirMode) error {
	st, there, err := statDir(w.Root, m.Path)
	if err != nil || !there || st.Perm() != m.From || m.From == m.To {
		return err
	}
	if err := w.step("chmod %s", m.Path); err != nil {
		return err
	}
	failpoint.Hit("restore.chmod.directory")
	if m.Path == "" {
		return w.chmodRoot(m.To)
	}
	if err := w.Root.Chmod(m.Path, m.To); err != nil && !absent(err) {
		return err
	}
	return nil
}

// chmodRoot changes the workspace's own directory.
func (w *Work) chmodRoot(perm uint32) error {
	dir, err := os.Open(w.Root.Path())
	if err != nil {
		return err
	}
	defer dir.Close()
	st, err := beneath.StatFile(dir)
	if err != nil {
		return err
	}
	if st.Identity() != w.Root.Identity() {
		return fmt.Errorf("%s: %w", w.Root.Path(), beneath.ErrMoved)
	}
	return os.NewSyscallError("chmod", syscall.Fchmod(int(dir.Fd()), perm))
}

// openDirs makes directories writable that are not. Those that an earlier run
// had made or put back may have their modes already.
func (r *run) openDirs() error {
	for _, m := range r.Document.Opened {
		// What it was to be opened for tells whether that was needed.
		if err := r.chmodDir(m); err != nil && beneath.ObstacleOf(err) == "" {
			return err
		}
	}
	if !r.resumed {
		return nil
	}
	for _, d := range slices.Concat(r.Document.Plan.MakeDirs, r.Document.Plan.RemoveDirs) {
		if _, err := r.openDir(d.Path); err != nil && beneath.ObstacleOf(err) == "" {
			return err
		}
	}
	return nil
}

// openDir makes one directory writable, and returns how to put its mode back.
func (w *Work) openDir(dir string) (DirMode, error) {
	st, there, err := statDir(w.Root, dir)
	if err != nil || !there || st.Perm()&0o300 == 0o300 {
		return DirMode{Path: dir}, err
	}
	m := DirMode{Path: dir, From: st.Perm(), To: st.Perm() | 0o700}
	return DirMode{Path: dir, From: m.To, To: m.From}, w.chmodDir(m)
}

// closeDirs puts their modes back, the deepest first.
func (r *run) closeDirs() error {
	var errs []error
	for _, m := range slices.Backward(r.Document.Opened) {
		errs = append(errs, noteObstacle(r, m.Path, "permission bits", r.chmodDir(DirMode{Path: m.Path, From: m.To, To: m.From})))
	}
	return errors.Join(errs...)
}

// makeDir makes one directory, open to ourselves until all is in place. One that had an
// owner or an ACL is closed to others until it has them again.
func (w *Work) makeDir(d Directory) error {
	perm := uint32(0o777)
	if d.Kept != nil {
		perm = 0o700
	} else if bits, known := d.Perm.Known(); known {
		perm = attributes.WithoutMask(bits) | 0o700
	}
	if err := w.step("mkdir %s", d.Path); err != nil {
		return err
	}
	failpoint.Hit("restore.mkdir")
	err := w.Root.Mkdir(d.Path, perm)
	// Where something is in the way, what should be below is left.
	if err == nil || errors.Is(err, fs.ErrExist) || absent(err) {
		return nil
	}
	return err
}

// dressDir gives a directory that was made its permission bits, past the umask, and what
// else is known of it.
func (w *Work) dressDir(d Directory) error {
	st, there, err := statDir(w.Root, d.Path)
	perm, known := d.Perm.Known()
	if d.Kept != nil {
		perm = uint32(d.Kept.Mode)
	}
	if err != nil || !there || d.Kept == nil && !known {
		return err
	}
	dir, err := w.Root.OpenDir(d.Path)
	if err != nil {
		if absent(err) || beneath.ObstacleOf(err) != "" && st.Perm() == perm {
			return nil // nothing was made here, or somebody else has made it
		}
		return err
	}
	defer dir.Close()
	if err := w.step("dress %s", d.Path); err != nil {
		return err
	}
	failpoint.Hit("restore.dress.directory")
	if d.Kept == nil {
		return dressNewDir(w, d, dir, perm)
	}
	lost := d.Kept.Give(dir)
	if err := w.Root.Chtimes(d.Path, d.Kept.Time(), d.Kept.Time()); err != nil && !absent(err) {
		lost = append(lost, attributes.Lost{What: "time", Err: err})
	}
	w.noteLost(d.Path, lost)
	return nil
}

// dressNewDir is for a directory of which a snapshot alone tells.
func dressNewDir(w *Work, d Directory, dir *beneath.Dir, perm uint32) error {
	above, err := openAbove(w, d.Path)
	if err != nil {
		return err
	}
	defer above.Close()
	w.noteLost(d.Path, attributes.Inherit(above, dir, perm, true))
	return nil
}

// removeDir removes a directory if it is empty, and tells whether it is gone.
func (w *Work) removeDir(d Directory) (bool, error) {
	if err := w.step("rmdir %s", d.Path); err != nil {
		return false, err
	}
	failpoint.Hit("restore.rmdir")
	err := w.Root.Rmdir(d.Path)
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist):
		return true, nil
	case errors.Is(err, syscall.ENOTEMPTY), errors.Is(err, fs.ErrExist), absent(err), beneath.ObstacleOf(err) != "":
		return false, nil
	}
	return false, err
}

// rename changes the spelling of a name.
func (w *Work) rename(n Rename) error {
	from, err := lookAt(w.Root, n.From)
	if err != nil || !from.there {
		return err
	}
	to, err := lookAt(w.Root, n.To)
	if err != nil {
		return err
	}
	if err := w.step("rename %s", n.From); err != nil {
		return err
	}
	if to.there && to.stat.Identity() != from.stat.Identity() {
		return nil
	}
	if to.there {
		// One file by both names: nothing can be replaced.
		return beneath.Rename(w.Root, n.From, w.Root, n.To)
	}
	if err := beneath.RenameNoReplace(w.Root, n.From, w.Root, n.To); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("rename %s: %w", n.From, err)
	}
	return nil
}

// chmod gives a file the permission bits of a state, whatever is in it.
func (r *run) chmod(i int, to *State) error {
	path := r.change(i).Path
	file, st, err := r.Root.Open(path)
	if err != nil {
		if absent(err) || errors.Is(err, beneath.ErrNotRegular) || errors.Is(err, syscall.EISDIR) {
			r.setLeft(i, ReasonChanged)
			return nil
		}
		if leaveObstructed(r, i, err) {
			return nil
		}
		return err
	}
	defer file.Close()
	perm, known := to.Perm.Known()
	if !known {
		perm = withExec(st.Perm()&0o777, to.Mode == gitstore.ModeExec)
	}
	perm |= st.Perm() &^ 0o777
	if perm == st.Perm() {
		r.setDone(i)
		return nil
	}
	if err := r.step("chmod %s", path); err != nil {
		return err
	}
	failpoint.Hit("restore.chmod")
	if err := syscall.Fchmod(int(file.Fd()), perm); err != nil {
		if leaveObstructed(r, i, err) {
			return nil
		}
		return &fs.PathError{Op: "chmod", Path: path, Err: err}
	}
	r.setDone(i)
	return nil
}
