package fork

import (
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
)

// wholeFile is up to which size a file is read into memory.
const wholeFile = 1 << 20

// written is a file of the snapshot as it is on disk, for the index.
type written struct {
	id   gitstore.ID
	mode gitstore.Mode
	stat beneath.Stat
}

// writer puts the files of a snapshot below a directory that was empty.
type writer struct {
	k       *maker
	objects *gitstore.Objects
	root    *beneath.Root
	live    *beneath.Root // nil if the source's workspace is gone
	list    *listing
	perm    func(path string, mode gitstore.Mode) uint32

	mu   sync.Mutex
	done map[string]written // by path below root
	left []Left
}

// snapshot writes everything, directories first. The modes of directories come
// last, so that a read-only one can be filled.
func (w *writer) snapshot(ctx context.Context) error {
	w.done = make(map[string]written, len(w.list.files))
	for _, dir := range w.list.dirs {
		if err := w.k.directory(w.root, dir); err != nil {
			return err
		}
	}
	return each(ctx, byDirectory(w.list.files), 1, func(group []file) error {
		p, err := w.k.enter(job{from: w.live, to: w.root}, parentOf(group[0].path))
		if err != nil {
			return err
		}
		defer p.close()
		for _, f := range group {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := w.file(p, f); err != nil {
				return fmt.Errorf("%s of the snapshot: %w", f.path, err)
			}
			w.k.progressed(0)
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
		if err := w.k.directory(w.root, dir); err != nil {
			return fmt.Errorf("empty directory %s: %w", dir, err)
		}
	}
	dirs := append(append([]string{}, w.list.dirs...), empty...)
	for n := len(dirs) - 1; n >= 0; n-- {
		want := w.perm(dirs[n], gitstore.ModeDir)
		if want == 0 {
			continue
		}
		st, err := w.root.Lstat(dirs[n])
		if err != nil {
			return err
		}
		if st.Kind() == beneath.Directory && st.Perm() != want {
			if err := w.root.Chmod(dirs[n], want); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *writer) file(p *place, f file) error {
	if f.mode == gitstore.ModeSymlink {
		return w.link(p, f)
	}
	if content, mtime, release := w.same(p, f); content != nil {
		defer release()
		return w.put(p, f, func(target *os.File) error {
			if _, err := target.Write(*content); err != nil {
				return err
			}
			// Caches that come along compare times with those of their sources.
			return setModTime(target, time.Unix(0, mtime))
		})
	}
	reader, size, err := w.objects.BlobReader(f.id)
	if err != nil {
		return err
	}
	defer reader.Close()
	return w.put(p, f, func(target *os.File) error {
		if size > wholeFile {
			_, err := io.Copy(target, reader)
			return err
		}
		buffer := w.k.buffer()
		defer w.k.buffers.Put(buffer)
		content := (*buffer)[:size]
		if _, err := io.ReadFull(reader, content); err != nil {
			return err
		}
		if n, err := reader.Read((*buffer)[size : size+1]); n != 0 || err != io.EOF {
			return errors.Join(gitstore.ErrDamaged, err)
		}
		_, err := target.Write(content)
		return err
	})
}

// same reads the live file if it holds exactly the snapshot's bytes, which is
// quicker than inflating them. A plain SHA-1 is enough here: an id of the Store
// is never that of content made to collide (see gitstore.HashObject).
func (w *writer) same(p *place, f file) (content *[]byte, mtime int64, release func()) {
	if p.live == nil {
		return nil, 0, nil
	}
	live, st, err := p.live.Open(baseOf(f.path))
	if err != nil {
		return nil, 0, nil
	}
	defer live.Close()
	if st.Size > wholeFile {
		return nil, 0, nil
	}
	buffer := w.k.buffer()
	n, err := live.Read((*buffer)[:st.Size])
	if err != nil && err != io.EOF || int64(n) != st.Size || hash((*buffer)[:n]) != f.id {
		w.k.buffers.Put(buffer)
		return nil, 0, nil
	}
	read := (*buffer)[:n]
	return &read, st.Mtime, func() { w.k.buffers.Put(buffer) }
}

func hash(content []byte) gitstore.ID {
	h := sha1.New()
	h.Write(strconv.AppendInt([]byte("blob "), int64(len(content)), 10))
	h.Write([]byte{0})
	h.Write(content)
	return gitstore.ID(h.Sum(nil))
}

// put makes the file and gives it its mode.
func (w *writer) put(p *place, f file, fill func(*os.File) error) error {
	perm := w.perm(f.path, f.mode)
	create := perm
	if perm == 0 {
		create = 0o666
		if f.mode == gitstore.ModeExec {
			create = 0o777
		}
	}
	target, err := p.target.Create(baseOf(f.path), create&0o777|0o200)
	if errors.Is(err, fs.ErrExist) {
		// A file system that takes two names for one.
		w.leave(f.path, reasonInTheWay)
		return nil
	}
	if err != nil {
		return err
	}
	defer target.Close()
	if err := fill(target); err != nil {
		return err
	}
	st, err := beneath.StatFile(target)
	if err == nil && perm != 0 && st.Perm() != perm {
		if err = target.Chmod(fileMode(perm)); err == nil {
			st, err = beneath.StatFile(target)
		}
	}
	if err != nil {
		return err
	}
	w.note(f, st)
	return target.Close()
}

func fileMode(perm uint32) os.FileMode {
	mode := os.FileMode(perm & 0o777)
	for bit, flag := range map[uint32]os.FileMode{0o4000: os.ModeSetuid, 0o2000: os.ModeSetgid, 0o1000: os.ModeSticky} {
		if perm&bit != 0 {
			mode |= flag
		}
	}
	return mode
}

func (w *writer) link(p *place, f file) error {
	target, err := w.objects.Blob(f.id)
	if err != nil {
		return err
	}
	err = p.target.Symlink(string(target), baseOf(f.path))
	if errors.Is(err, fs.ErrExist) {
		w.leave(f.path, reasonInTheWay)
		return nil
	}
	if err != nil {
		return err
	}
	st, err := p.target.Lstat(baseOf(f.path))
	if err != nil {
		return err
	}
	w.note(f, st)
	return nil
}

func (w *writer) note(f file, st beneath.Stat) {
	w.mu.Lock()
	w.done[f.path] = written{f.id, f.mode, st}
	w.mu.Unlock()
}

func (w *writer) leave(path, reason string) {
	w.mu.Lock()
	w.left = append(w.left, Left{path, reason})
	w.mu.Unlock()
}
