package restore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/attributes"
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
	twins, err := twinsOf(r)
	if err != nil {
		return err
	}
	stage := func(i int) error {
		if err := r.step("stage %s", r.change(i).Path); err != nil {
			return err
		}
		_, beside := r.Document.Beside[i]
		failpoint.Hit("restore.stage")
		c := r.change(i)
		if linked, err := twins.link(i, r.stagedSpot(i)); linked || err != nil {
			return err
		}
		if err := r.make(r.stagedSpot(i), c.Path, c.From, c.To, single || beside); err != nil {
			return fmt.Errorf("stage %s: %w", c.Path, err)
		}
		return nil
	}
	if err := r.each(ctx, slices.DeleteFunc(slices.Clone(list), twins.has), stage); err != nil {
		return err
	}
	if err := r.each(ctx, slices.Collect(maps.Keys(twins)), stage); err != nil {
		return err
	}
	if err := noteApart(r, list); err != nil {
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
func (w *Work) proveSource() error {
	for _, i := range w.indices(func(c *Change) bool { return c.From != nil }) {
		c := w.change(i)
		have, err := w.Objects.Has(c.From.Blob)
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
func (w *Work) make(at spot, path string, was, is *State, sync bool) error {
	content, size, err := w.Objects.BlobReader(is.Blob)
	if err != nil {
		return err
	}
	defer content.Close()
	if is.Mode == gitstore.ModeSymlink {
		target, err := io.ReadAll(content)
		if err != nil {
			return err
		}
		if err := at.root.Symlink(string(target), at.path); err != nil {
			return err
		}
		putLink(w, at, path, is)
		return nil
	}
	o, err := outfitOf(w.Root, path, was, is)
	if err != nil {
		return err
	}
	file, err := at.root.Create(at.path, newPerm(is)&0o700|0o600)
	if err != nil {
		return err
	}
	if run := o.run(size); run > 0 {
		holes := attributes.NewSparse(file, run)
		err = errors.Join(w.copyContent(holes, content), holes.Close())
	} else {
		err = w.copyContent(file, content)
	}
	if err == nil {
		err = o.put(w, at, path, is, file)
	}
	if err == nil && sync {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// copyContent copies through a buffer that serves one file after the other,
// where io.Copy would make a new one for each.
func (w *Work) copyContent(file io.Writer, content io.Reader) error {
	buffer, ok := w.buffers.Get().(*[]byte)
	if !ok {
		fresh := make([]byte, 64<<10)
		buffer = &fresh
	}
	defer w.buffers.Put(buffer)
	// Plain interfaces: a file's own way of reading from another makes buffers.
	_, err := io.CopyBuffer(struct{ io.Writer }{file}, struct{ io.Reader }{content}, *buffer)
	return err
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
