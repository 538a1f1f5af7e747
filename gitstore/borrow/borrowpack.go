package borrow

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/flock"
	"github.com/umbra-vcs/umbra/gitstore/objects"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// pack brings a pack of the user's here: .keep, .pack, .idx in this order,
// since a reader looks for the index and a repack for the .keep. While that
// goes on a flock on the pack (the same file in both places, or the copy) keeps
// Sweep from taking it for left behind. It reports gone if the pack was removed meanwhile.
func (b *borrowing) pack(p *objects.Pack, worth int64) (gone bool, err error) {
	f, _, err := objects.OpenFile(p.Base + ".pack")
	if err != nil {
		return errors.Is(err, fs.ErrNotExist), nil
	}
	defer func() { _ = flock.Release(f) }()
	defer b.letGo()
	_ = flock.Take(f, unix.LOCK_SH) // a file system without flocks has no Sweep that asks for one
	own := filepath.Join(b.store.PackDir(), filepath.Base(p.Base))
	if err := errors.Join(b.notePack(filepath.Base(p.Base)), b.keep(own, p.Base)); err != nil {
		return false, err
	}
	failpoint.Hit("borrow.kept")
	copied, err := b.place(p.Base+".pack", own+".pack", worth)
	if err == nil && !copied {
		err = b.holdOwn(own)
	}
	if err == nil {
		failpoint.Hit("borrow.pack")
		// The index is about a tenth of its pack at most, and of no use without.
		_, err = b.place(p.Base+".idx", own+".idx", worth)
		if err != nil {
			b.drop(own + ".pack")
		}
	}
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrNotExist):
		b.drop(own + objects.KeepSuffix)
		return true, nil
	case errors.Is(err, errNotWorth):
		b.drop(own + objects.KeepSuffix)
		return false, nil
	default:
		b.drop(own + objects.KeepSuffix)
		return false, err
	}
	failpoint.Hit("borrow.index")
	if !copied {
		// Git makes its own where it has none; of a copy's it would be another.
		if _, err := b.place(p.Base+".rev", own+".rev", 0); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNotWorth) {
			return false, err
		}
	}
	b.dirty, b.own[own] = true, true
	b.done.Packs++
	if copied {
		b.done.Copied++
	}
	return false, nil
}

// holdOwn takes the flock of a pack that has its name here, and no index yet: it
// may be a copy that a killed process has left, which is another file than its
// source, and a Sweep would take it for left behind.
func (b *borrowing) holdOwn(own string) error {
	if shadow.IsThere(own + ".idx") {
		return nil
	}
	f, err := flock.Hold(own+".pack", os.O_RDONLY, unix.LOCK_SH)
	switch {
	case err == nil:
		b.held = append(b.held, f)
		return nil
	case errors.Is(err, unix.EWOULDBLOCK):
		return fs.ErrNotExist // a Sweep is at it: it goes, and is brought again
	case flock.IsHeld(err):
		return nil // no flocks on this file system
	}
	return err
}

// letGo gives up the flocks of copies.
func (b *borrowing) letGo() {
	for _, f := range b.held {
		_ = flock.Release(f)
	}
	b.held = nil
}

// errNotWorth is returned for a file that can't be linked and is too large to
// copy.
var errNotWorth = errors.New("not worth a copy")

// place links a file, or copies it if it is not larger than worth.
func (b *borrowing) place(from, to string, worth int64) (copied bool, err error) {
	if info, err := os.Stat(from); err == nil && !info.Mode().IsRegular() {
		return false, errNotWorth
	}
	err = b.link(from, to)
	switch {
	case err == nil, errors.Is(err, fs.ErrExist): // a pack is named by what is in it
		info, err := os.Stat(to)
		if err == nil && time.Since(info.ModTime()) < shadow.SettledAge {
			b.fresh = append(b.fresh, to)
		}
		return false, err
	case !noLink(err):
		return false, err
	}
	return true, b.copy(from, to, worth)
}

// noLink tells of an error of link(2) that says the file can't be linked, here
// or at all: EXDEV, EPERM (protected_hardlinks, or a file system without
// links), EMLINK and their like.
func noLink(err error) bool {
	for _, is := range []error{unix.EXDEV, unix.EPERM, unix.EACCES, unix.EMLINK, unix.ENOTSUP, unix.ENOSYS} {
		if errors.Is(err, is) {
			return true
		}
	}
	return false
}

func (b *borrowing) copy(from, to string, worth int64) error {
	src, info, err := objects.OpenFile(from)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, gitstore.ErrDamaged) {
		return errNotWorth
	}
	if err != nil {
		return err
	}
	defer src.Close()
	if info.Size() > worth {
		return errNotWorth
	}
	tmp, err := flock.CreateTemp(filepath.Dir(to), "tmp_umbra_copy_*")
	if err != nil {
		return err
	}
	named := false
	defer func() {
		if !named {
			flock.DropTemp(tmp)
		}
	}()
	if n, err := io.Copy(tmp, src); err != nil {
		return err
	} else if n != info.Size() {
		return fs.ErrNotExist // cut off by somebody: as good as gone
	}
	if err := tmp.Chmod(0o444); err != nil {
		return err
	}
	if err := b.store.Syncer().File(tmp); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), to); err != nil {
		return err
	}
	named = true
	b.held = append(b.held, tmp)
	return nil
}

// drop takes back a name that was made here for nothing.
func (b *borrowing) drop(path string) {
	if base, ok := strings.CutSuffix(path, ".pack"); ok || strings.HasSuffix(path, objects.KeepSuffix) {
		if base = strings.TrimSuffix(base, objects.KeepSuffix); shadow.IsThere(base + ".idx") {
			return // another process has brought the whole of it
		}
	}
	_ = os.Remove(path)
}

// sync makes durable what is here of what was wanted, whoever has brought it:
// the content of files that are new, and all names.
func (b *borrowing) sync(at []objects.Location) error {
	failpoint.Hit("borrow.sync")
	var found shadow.Relied
	found.OnAll(at, b.ids)
	brought := maps.Clone(found.Packs)
	maps.DeleteFunc(brought, func(p *objects.Pack, _ bool) bool { return !b.own[p.Base] })
	maps.DeleteFunc(found.Packs, func(p *objects.Pack, _ bool) bool { return b.own[p.Base] })
	if err := b.syncBrought(&found); err != nil {
		return err
	}
	for p := range brought {
		p.Durable.Store(true)
	}
	for _, note := range b.notes {
		if err := shadow.SyncedLoose(note); err != nil {
			return err
		}
	}
	return nil
}

// syncBrought makes durable what was brought, and what is relied on of others: the
// file system at once where there are loose objects, and then nothing is left to
// be done, else file by file.
func (b *borrowing) syncBrought(found *shadow.Relied) error {
	s := b.store
	if len(b.loose) > 0 {
		whole, err := s.SyncLoose(found.Loose)
		if err != nil {
			return err
		}
		if whole {
			found.Settled()
			return nil
		}
		found.Loose = nil
	}
	for _, path := range b.fresh {
		if err := s.SyncPath(path); err != nil {
			return err
		}
	}
	if b.dirty {
		if err := errors.Join(s.Syncer().Dir(filepath.Join(s.Dir(), shadow.UnverifiedDir)), s.Syncer().Dir(s.PackDir())); err != nil {
			return err
		}
	}
	return s.Secure(found, b.dirty)
}

// keepIntro begins our own .keep files; the pack's name at home follows.
const keepIntro = "borrowed by umbra from "

// keep puts a .keep of ours beside a pack that is to come.
func (b *borrowing) keep(own, source string) error {
	if shadow.IsThere(own + ".idx") {
		return nil
	}
	return os.WriteFile(own+objects.KeepSuffix, fmt.Appendf(nil, "%s%s\n", keepIntro, gitstore.QuotePath(source)), 0o600)
}
