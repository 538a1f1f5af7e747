package restore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
)

// syncEach is up to how many staged files are synced one by one; above, the
// file system is synced as a whole.
const syncEach = 32

// MissingError is returned before anything is changed if the content that S
// holds of a path, which the operation would take away, is not stored.
type MissingError struct {
	Path string
	Blob gitstore.ID
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s: its present content %s is not in the shadow repository", e.Path, e.Blob.Short())
}

// Stage writes everything that the operation will put in place, durably, and
// changes nothing else. All content is read and proved here (H3): if anything
// fails, the staged files are gone again and the workspace is as it was.
func (w *Work) Stage(ctx context.Context) error {
	r, err := w.begin()
	if err != nil {
		return err
	}
	defer r.end()
	err = r.stage(ctx)
	if err != nil {
		return errors.Join(err, r.unstage())
	}
	return nil
}

func (r *run) stage(ctx context.Context) error {
	if err := r.proveSource(); err != nil {
		return err
	}
	if len(r.Document.Beside) > 0 {
		if err := r.openDirs(); err != nil {
			return err
		}
	}
	list := r.indices((*Change).writes)
	single := len(list) <= syncEach || !canSyncFileSystem
	err := r.each(ctx, list, func(i int) error {
		if err := r.step("stage %s", r.change(i).Path); err != nil {
			return err
		}
		_, beside := r.Document.Beside[i]
		failpoint.Hit("restore.stage")
		c := r.change(i)
		if err := r.make(r.stagedSpot(i), c.Path, c.From, c.To, single || beside); err != nil {
			return fmt.Errorf("stage %s: %w", c.Path, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !single {
		if err := syncFileSystem(r.staged.Path()); err != nil {
			return err
		}
	}
	for _, dir := range r.Document.besideDirs() {
		if err := r.Root.SyncDir(dir); err != nil {
			return err
		}
	}
	failpoint.Hit("restore.staged")
	return r.staged.SyncDir("")
}

// proveSource makes sure that whatever the operation takes away is stored.
func (r *run) proveSource() error {
	for _, i := range r.indices(func(c *Change) bool { return c.From != nil }) {
		c := r.change(i)
		have, err := r.Objects.Has(c.From.Blob)
		if err != nil {
			return err
		}
		if !have {
			return &MissingError{c.Path, c.From.Blob}
		}
	}
	return nil
}

// make writes what the store holds of a state, to take the place of what is at a path
// now, of which was is known.
func (r *run) make(at spot, path string, was, is *State, sync bool) error {
	content, _, err := r.Objects.BlobReader(is.Blob)
	if err != nil {
		return err
	}
	defer content.Close()
	if is.Mode == gitstore.ModeSymlink {
		target, err := io.ReadAll(content)
		if err != nil {
			return err
		}
		return at.root.Symlink(string(target), at.path)
	}
	file, err := at.root.Create(at.path, newPerm(is))
	if err != nil {
		return err
	}
	if err = r.copyContent(file, content); err == nil {
		err = r.dress(path, was, is, file)
	}
	if err == nil && sync {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// copyContent copies through a buffer that serves one file after the other,
// where io.Copy would make a new one for each.
func (r *run) copyContent(file io.Writer, content io.Reader) error {
	buffer, ok := r.buffers.Get().(*[]byte)
	if !ok {
		fresh := make([]byte, 64<<10)
		buffer = &fresh
	}
	defer r.buffers.Put(buffer)
	// Plain interfaces: a file's own way of reading from another makes buffers.
	_, err := io.CopyBuffer(struct{ io.Writer }{file}, struct{ io.Reader }{content}, *buffer)
	return err
}

// newPerm is for a file that nothing is known of but its state.
func newPerm(s *State) uint32 {
	switch {
	case s.Perm != 0:
		return s.Perm
	case s.Mode == gitstore.ModeExec:
		return 0o777
	}
	return 0o666
}

// dress gives the staged file what it should have of the one that it replaces,
// or of the directory that it comes into.
func (r *run) dress(path string, was, is *State, file *os.File) error {
	old, st, err := r.Root.Open(path)
	if err == nil {
		defer old.Close()
		for _, u := range beneath.CopyAttributes(old, file, permOver(was, is, st)) {
			r.note(Note{path, u.What, u.Err})
		}
		return nil
	}
	if dir, there, err := statDir(r.Root, parent(path)); err == nil && there && dir.Mode&setGroupID != 0 {
		// In such a directory a file belongs to the directory's group; that it may
		// not be given to it is no reason not to have it.
		_ = file.Chown(-1, int(dir.GID))
	}
	if is.Perm != 0 {
		return file.Chmod(os.FileMode(is.Perm))
	}
	return nil
}

// permOver is the permission bits of a file that takes the place of one with st: the
// same but for the exec bit, unless others were recorded of both.
func permOver(was, is *State, st beneath.Stat) uint32 {
	if was != nil && was.Perm != is.Perm && was.Perm != 0 && is.Perm != 0 {
		return is.Perm
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

// unstage removes what was staged, of which nothing has been in the workspace
// yet, and puts directories' modes back.
func (r *run) unstage() error {
	slots, err := r.inventory()
	if err != nil {
		return err
	}
	var errs []error
	for i, list := range slots {
		for _, s := range list {
			if r.isStaged(i, s) {
				errs = append(errs, s.root.Unlink(s.path))
			}
		}
	}
	return errors.Join(append(errs, r.closeDirs())...)
}
