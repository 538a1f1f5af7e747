package fork

import (
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"sync"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/attributes"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/filecopy"
	"github.com/umbra-vcs/umbra/gitstore/objects"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// writer puts the files of a snapshot below a directory that was empty.
type writer struct {
	k       *maker
	objects *objects.Reader
	root    *beneath.Root
	live    *beneath.Root // nil if the source's workspace is gone
	list    *listing
	perm    func(path string, mode gitstore.Mode) (bits uint32, known bool)

	sourcePlaces []string // the paths by which a link leads into the source

	done    written
	mu      sync.Mutex
	left    []Left
	linksIn []string
	annexed int
}

// snapshot writes everything, directories first. The modes of directories come
// last, so that a read-only one can be filled.
func (w *writer) snapshot(ctx context.Context) error {
	w.done = written{files: w.list.files, stats: make([]beneath.Stat, len(w.list.files)), scope: w.k.doc.Scope}
	for _, dir := range w.list.dirs {
		if err := makeDirectory(w.root, dir); err != nil {
			return err
		}
	}
	return each(ctx, byDirectory(w.list.files), 1, func(group span) error {
		p, err := job{from: w.live, to: w.root}.enter(treepath.Parent(w.list.files[group.from].path))
		if err != nil {
			return err
		}
		defer p.close()
		so := progressing{c: w.k.copier}
		defer so.tell()
		for n := group.from; n < group.to; n++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := w.file(p, n); err != nil {
				return fmt.Errorf("%s of the snapshot: %w", w.list.files[n].path, err)
			}
			so.add(w.done.stats[n].Size)
		}
		return nil
	})
}

// finish gives directories the modes they had.
func (w *writer) finish(empty []string) error {
	for _, dir := range empty {
		if beneath.CheckPath(dir) != nil || w.list.holdsFile(dir) {
			continue
		}
		if err := makeDirectory(w.root, dir); err != nil {
			return fmt.Errorf("empty directory %s: %w", dir, err)
		}
	}
	dirs := append(append([]string{}, w.list.dirs...), empty...)
	w.done.dirs = make([]beneath.Stat, len(dirs))
	for n := len(dirs) - 1; n >= 0; n-- {
		st, err := w.directory(dirs[n])
		if err != nil {
			return err
		}
		w.done.dirs[n] = st
	}
	return nil
}

func (w *writer) directory(path string) (beneath.Stat, error) {
	st, err := w.root.Lstat(path)
	want, known := w.perm(path, gitstore.ModeDir)
	if err != nil || !known || st.Kind() != beneath.Directory || st.Perm() == want {
		return st, err
	}
	if err := w.root.Chmod(path, want); err != nil {
		return st, err
	}
	return w.root.Lstat(path)
}

// file writes the n-th file: from the live one if that holds exactly the
// snapshot's bytes, which is quicker than inflating them, else from the Store.
func (w *writer) file(p *place, n int) error {
	if w.list.files[n].mode == gitstore.ModeSymlink {
		return w.link(p, n)
	}
	if p.live != nil {
		if done, err := w.fromLive(p, n); done || err != nil {
			return err
		}
	}
	return w.fromStore(p, n)
}

// fromLive reports false, with nothing made, if the live file will not do.
func (w *writer) fromLive(p *place, n int) (bool, error) {
	f := &w.list.files[n]
	live, st, err := p.live.OpenHandle(treepath.Base(f.path))
	if err != nil {
		return false, nil
	}
	defer live.Close()
	id, known := w.k.src.Known.Content(f.path, &st)
	switch {
	case known && id == f.id:
		return w.copied(p, n, live, &st)
	case known || st.Size > filecopy.Whole:
		return false, nil
	}
	return w.same(p, n, live, &st)
}

// copied copies a live file that is known to hold the snapshot's bytes, if it
// was not written to before that was done.
func (w *writer) copied(p *place, n int, live beneath.Handle, st *beneath.Stat) (bool, error) {
	moved := false
	err := w.put(p, n, func(target beneath.Handle) error {
		if err := w.k.copier.files.Copy(live, target, st.Size); err != nil && !readFailure(err) {
			return err
		} else if err == nil {
			after, err := live.Stat()
			if err == nil && unchanged(st, &after) {
				return filecopy.SetModTime(target, st.Mtime)
			}
		}
		moved = true
		return nil
	})
	if err != nil || !moved {
		return true, err
	}
	w.done.stats[n] = beneath.Stat{}
	return false, p.target.Unlink(treepath.Base(w.list.files[n].path))
}

// same reads the live file and writes it if it holds the snapshot's bytes. A
// plain SHA-1 is enough here: an id of the Store is never that of content made
// to collide (see gitstore.HashObject).
func (w *writer) same(p *place, n int, live beneath.Handle, st *beneath.Stat) (bool, error) {
	buffer := w.k.copier.files.Buffer()
	defer w.k.copier.files.Release(buffer)
	read, err := live.ReadAt((*buffer)[:st.Size], 0)
	if err != nil || hash((*buffer)[:read]) != w.list.files[n].id {
		return false, nil
	}
	return true, w.put(p, n, func(target beneath.Handle) error {
		if _, err := target.WriteAt((*buffer)[:read], 0); err != nil {
			return err
		}
		// Caches that come along compare times with those of their sources.
		return filecopy.SetModTime(target, st.Mtime)
	})
}

func hash(content []byte) gitstore.ID {
	h := sha1.New()
	h.Write(strconv.AppendInt([]byte("blob "), int64(len(content)), 10))
	h.Write([]byte{0})
	h.Write(content)
	return gitstore.ID(h.Sum(nil))
}

// fromStore inflates the snapshot's content.
func (w *writer) fromStore(p *place, n int) error {
	reader, size, err := w.objects.BlobReader(w.list.files[n].id)
	if err != nil {
		return err
	}
	defer reader.Close()
	return w.put(p, n, func(target beneath.Handle) error {
		buffer := w.k.copier.files.Buffer()
		defer w.k.copier.files.Release(buffer)
		for at := int64(0); ; {
			got, err := io.ReadFull(reader, (*buffer)[:filecopy.Whole])
			if ended := err == io.EOF || err == io.ErrUnexpectedEOF; err != nil && !ended {
				return err
			} else if ended && at+int64(got) != size {
				return gitstore.ErrDamaged
			}
			if err := writeParts(target, (*buffer)[:got], at); err != nil {
				return err
			}
			at += int64(got)
			if err != nil && at < attributes.LongRun {
				return nil
			} else if err != nil {
				return target.Truncate(at)
			}
		}
	})
}

// writeParts writes what begins at a place of a new file, and leaves holes where long runs
// would be nothing but zeros, as a restore does.
func writeParts(target beneath.Handle, content []byte, at int64) error {
	for len(content) > 0 {
		part := content[:min(attributes.LongRun-int(at%attributes.LongRun), len(content))]
		if len(part) < attributes.LongRun || !attributes.IsZeros(part) {
			if _, err := target.WriteAt(part, at); err != nil {
				return err
			}
		}
		content, at = content[len(part):], at+int64(len(part))
	}
	return nil
}

// put makes the file and gives it its mode.
func (w *writer) put(p *place, n int, fill func(beneath.Handle) error) error {
	f := &w.list.files[n]
	perm, known := w.perm(f.path, f.mode)
	create := perm
	if !known {
		create = 0o666
		if f.mode == gitstore.ModeExec {
			create = 0o777
		}
	}
	target, err := p.target.CreateHandle(treepath.Base(f.path), create&0o777|0o200)
	if errors.Is(err, fs.ErrExist) {
		// A file system that takes two names for one.
		w.leave(f.path, reasonInTheWay)
		return nil
	}
	if err != nil {
		return err
	}
	st, err := w.filled(target, fill)
	if err == nil && known && st.Perm() != perm {
		if err = target.Chmod(perm); err == nil {
			st, err = target.Stat()
		}
	}
	if closed := target.Close(); err == nil {
		err = closed
	}
	if err == nil {
		w.done.stats[n] = st
	}
	return err
}

func (w *writer) filled(target beneath.Handle, fill func(beneath.Handle) error) (beneath.Stat, error) {
	if err := fill(target); err != nil {
		return beneath.Stat{}, err
	}
	return target.Stat()
}

func (w *writer) link(p *place, n int) error {
	f := &w.list.files[n]
	content, err := w.objects.Blob(f.id)
	if err != nil {
		return err
	}
	err = p.target.Symlink(string(content), treepath.Base(f.path))
	if errors.Is(err, fs.ErrExist) {
		w.leave(f.path, reasonInTheWay)
		return nil
	}
	if err == nil {
		w.noteLink(f.path, string(content))
		w.done.stats[n], err = p.target.Lstat(treepath.Base(f.path))
	}
	return err
}

// annexObjects is in the links that git-annex makes of files, whose content is there
// ("internals" in its documentation).
const annexObjects = ".git/annex/objects/"

// noteLink notes a link that does not lead in the fork to where it leads in the source.
func (w *writer) noteLink(path, target string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case strings.Contains(target, annexObjects):
		w.annexed++
	case leadsInto(target, w.sourcePlaces):
		w.linksIn = append(w.linksIn, path)
	}
}

func (w *writer) leave(path, reason string) {
	w.mu.Lock()
	w.left = append(w.left, Left{path, reason})
	w.mu.Unlock()
}
