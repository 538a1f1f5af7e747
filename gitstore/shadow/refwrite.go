package shadow

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
)

// UpdateRef sets a ref to new if it names old, where the zero ID stands for "does
// not exist". Another value is a *RefMovedError; a lock held by someone else for
// too long a *RefLockedError. new must be a stored commit. Readers see the old
// value or the new one, never a part, also after SIGKILL; with Durable also
// after a power cut once UpdateRef has returned.
func (r *refs) UpdateRef(ctx context.Context, name gitstore.RefName, old, new gitstore.ID, d gitstore.Durability) error {
	if name.Kind() == gitstore.RefHead {
		return &gitstore.InvalidRefNameError{Name: string(name), Reason: "mission names are symbolic refs"}
	}
	if err := r.stored(new); err != nil {
		return &gitstore.RefError{Ref: string(name), Err: err}
	}
	return r.swap(ctx, name, expect(refValue{id: old}), refValue{id: new}, d)
}

// MendRef sets a ref that is missing or can't be read. One that names an object
// id, whatever it is, is a *RefMovedError. Durable.
func (r *refs) MendRef(ctx context.Context, name gitstore.RefName, id gitstore.ID) error {
	if name.Kind() == gitstore.RefHead {
		return &gitstore.InvalidRefNameError{Name: string(name), Reason: "mission names are symbolic refs"}
	}
	if err := r.stored(id); err != nil {
		return &gitstore.RefError{Ref: string(name), Err: err}
	}
	return r.swap(ctx, name, lostRef, refValue{id: id}, gitstore.Durable)
}

// DeleteRef removes a ref that names old, from packed-refs too. Durable.
func (r *refs) DeleteRef(ctx context.Context, name gitstore.RefName, old gitstore.ID) error {
	return r.swap(ctx, name, expect(refValue{id: old}), refValue{}, gitstore.Durable)
}

// SetSymbolic makes name (a HeadRef) lead to target (an AgentRef or
// TrashAgentRef) if it leads to old, where "" stands for "does not exist". The
// errors are UpdateRef's.
func (r *refs) SetSymbolic(ctx context.Context, name, old, target gitstore.RefName, d gitstore.Durability) error {
	if name.Kind() != gitstore.RefHead {
		return &gitstore.InvalidRefNameError{Name: string(name), Reason: "only names of missions are symbolic"}
	}
	if err := target.Validate(); err != nil {
		return err
	}
	return r.swap(ctx, name, expect(refValue{symbolic: old}), refValue{symbolic: target}, d)
}

// DeleteSymbolic removes a symbolic ref that leads to old. Durable.
func (r *refs) DeleteSymbolic(ctx context.Context, name, old gitstore.RefName) error {
	return r.swap(ctx, name, expect(refValue{symbolic: old}), refValue{}, gitstore.Durable)
}

// expectation decides whether the value found may be replaced.
type expectation func(have refValue, err error) error

func expect(want refValue) expectation {
	return func(have refValue, err error) error {
		if errors.Is(err, gitstore.ErrRefNotFound) {
			err = nil
		}
		if err == nil && have != want {
			err = &gitstore.RefMovedError{Want: want.String(), Have: have.String()}
		}
		return err
	}
}

// swap replaces a ref under its lock; the zero value deletes it.
func (r *refs) swap(ctx context.Context, name gitstore.RefName, ok expectation, next refValue, d gitstore.Durability) error {
	if err := name.Validate(); err != nil {
		return err
	}
	lock, err := r.lockRef(ctx, string(name), next.encode(), d)
	if err != nil {
		return err
	}
	defer lock.release()
	have, err := r.rawRef(string(name))
	if err := ok(have, err); err != nil {
		var moved *gitstore.RefMovedError
		if errors.As(err, &moved) {
			moved.Ref = name
			return moved
		}
		return &gitstore.RefError{Ref: string(name), Err: err}
	}
	if next.isZero() {
		return r.deleteLocked(ctx, string(name))
	}
	if err := r.packedConflict(string(name)); err != nil {
		return err
	}
	if err := lock.publish(); err != nil {
		return err
	}
	if d == gitstore.Derived {
		return nil
	}
	return r.sync.Dir(filepath.Dir(filepath.Join(r.dir, string(name))))
}

// packedConflict looks for a packed ref that would be a directory of name's or
// have name as one. Loose ones show as errors of the file system.
func (r *refs) packedConflict(name string) error {
	packed, err := r.packedRefs()
	if err != nil {
		return err
	}
	for _, l := range packed.lines {
		if strings.HasPrefix(l.name, name+"/") || strings.HasPrefix(name, l.name+"/") {
			return &gitstore.RefConflictError{Ref: name, With: l.name}
		}
	}
	return nil
}

// deleteLocked removes from packed-refs first: otherwise a crash would bring the
// older, packed value back.
func (r *refs) deleteLocked(ctx context.Context, name string) error {
	packed, err := r.packedRefs()
	if err != nil {
		return err
	}
	if _, ok := packed.find(name); ok {
		if err := r.rewritePacked(ctx, name); err != nil {
			return err
		}
	}
	failpoint.Hit("ref.deleting")
	path := filepath.Join(r.dir, name)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	failpoint.Hit("ref.deleted")
	return r.sync.Dir(filepath.Dir(path))
}

// changePacked sets many refs of one directory, or deletes those of the zero id, durably and
// with as few waits for the disk as one takes. Nobody else may move them meanwhile: the
// caller holds the project's lock, exclusive.
func (r *refs) changePacked(ctx context.Context, changes map[gitstore.RefName]gitstore.ID) error {
	if len(changes) == 0 {
		return nil
	}
	for name, id := range changes {
		if err := name.Validate(); err != nil {
			return err
		}
		if id.IsZero() {
			continue
		}
		if err := r.stored(id); err != nil {
			return &gitstore.RefError{Ref: string(name), Err: err}
		}
	}
	err := r.Rewrite(ctx, PackedRefsFile, func() ([]byte, error) {
		packed, err := r.packedRefs()
		if err == nil && len(packed.bad) > 0 {
			err = &packed.bad[0]
		}
		if err != nil {
			return nil, err
		}
		return packed.with(changes), nil
	})
	if err != nil {
		return err
	}
	dirs := map[string]bool{} // whose older, loose values are gone
	for name := range changes {
		path := filepath.Join(r.dir, string(name))
		switch err := os.Remove(path); {
		case err == nil:
			dirs[filepath.Dir(path)] = true
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	for dir := range dirs {
		if err := r.sync.Dir(dir); err != nil {
			return err
		}
	}
	return nil
}

// MendPackedRefs leaves the lines out of packed-refs that don't parse; the file as
// it was stays beside it.
func (r *refs) MendPackedRefs(ctx context.Context) error {
	lock, err := r.lockRef(ctx, PackedRefsFile, nil, gitstore.Durable)
	if err != nil {
		return err
	}
	defer lock.release()
	packed, err := r.packedRefs()
	if err != nil || len(packed.bad) == 0 {
		return err
	}
	return replaceDamaged(r.dir, PackedRefsFile, packed.without(""))
}

// MendSymbolic makes a mission's name whose value does not parse, or that is not
// there, lead to target; without a target it is removed.
func (r *refs) MendSymbolic(ctx context.Context, name, target gitstore.RefName) error {
	if name.Kind() != gitstore.RefHead {
		return &gitstore.InvalidRefNameError{Name: string(name), Reason: "only names of missions are symbolic"}
	}
	return r.swap(ctx, name, lostRef, refValue{symbolic: target}, gitstore.Durable)
}

// lostRef expects a ref that says nothing: it is not there, or does not parse.
func lostRef(have refValue, err error) error {
	if errors.Is(err, gitstore.ErrRefBroken) || errors.Is(err, gitstore.ErrRefNotFound) {
		return nil
	}
	if err == nil {
		err = &gitstore.RefMovedError{Want: "nothing", Have: have.String()}
	}
	return err
}

func (r *refs) rewritePacked(ctx context.Context, without string) error {
	return r.Rewrite(ctx, PackedRefsFile, func() ([]byte, error) {
		packed, err := r.packedRefs()
		if err != nil {
			return nil, err
		}
		if len(packed.bad) > 0 {
			return nil, &packed.bad[0]
		}
		return packed.without(without), nil
	})
}

// Rewrite replaces a file of the repository, durably, by what is made of it under its
// lock.
func (r *refs) Rewrite(ctx context.Context, name string, content func() ([]byte, error)) error {
	lock, err := r.lockRef(ctx, name, nil, gitstore.Derived)
	if err != nil {
		return err
	}
	defer lock.release()
	data, err := content()
	if err != nil {
		return err
	}
	if err := lock.rewrite(data); err != nil {
		return err
	}
	if err := r.sync.File(lock.file); err != nil {
		return err
	}
	if err := lock.publish(); err != nil {
		return err
	}
	return r.sync.Dir(filepath.Dir(filepath.Join(r.dir, name)))
}

// renameOver moves a finished lock file onto its ref. Directories that Git left
// empty where the ref belongs are removed, as Git does.
func renameOver(from, to, name, root string) error {
	err := os.Rename(from, to)
	if err == nil {
		return nil
	}
	if fi, serr := os.Lstat(to); serr != nil || !fi.IsDir() {
		return err
	}
	if with, rerr := removeEmptyDirs(to); rerr != nil {
		if rel, e := filepath.Rel(root, with); e == nil && errors.Is(rerr, syscall.ENOTEMPTY) {
			return &gitstore.RefConflictError{Ref: name, With: filepath.ToSlash(rel)}
		}
		return rerr
	}
	return os.Rename(from, to)
}

// removeEmptyDirs removes dir if it holds nothing but empty directories, else
// names what it holds.
func removeEmptyDirs(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return dir, err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !e.IsDir() {
			return path, syscall.ENOTEMPTY
		}
		if with, err := removeEmptyDirs(path); err != nil {
			return with, err
		}
	}
	return dir, os.Remove(dir)
}
