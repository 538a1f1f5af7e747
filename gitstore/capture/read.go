package capture

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

const (
	// wholeSize is up to which size a file is read into memory before it is
	// handed on; a larger one is streamed into the batch.
	wholeSize = 4 << 20
	// readAttempts is how often a file is read that changes while it is read.
	readAttempts = 3
	// lookAttempts is how often a name is looked at anew that is another kind
	// of thing each time.
	lookAttempts = 8
)

// Batch takes the objects of a capture. Its methods are called from several
// goroutines. A *shadow.Batch is one.
type Batch interface {
	Blob(data []byte) (gitstore.ID, error)
	// BlobFrom stores nothing and returns gitstore.ErrSizeChanged if r does not
	// give exactly size bytes.
	BlobFrom(r io.Reader, size int64) (gitstore.ID, error)
	Tree(entries []gitstore.TreeEntry) (gitstore.ID, error)
}

// unit is some entries of one directory to be read.
type unit struct {
	scene *scene
	node  *node
	reads []int
}

// reading is the phase of a capture that reads contents.
type reading struct {
	*walker
	batch Batch

	total     Progress
	files     atomic.Int64
	bytes     atomic.Int64
	corrected atomic.Int64

	done  []*unit
	moved bool // something was written to after the walk began
}

// all reads what the walk has found, and what that turns up in turn.
func (r *reading) all(workers int) error {
	for {
		r.mu.Lock()
		units := r.units
		r.units = nil
		r.mu.Unlock()
		if len(units) == 0 {
			return nil
		}
		r.done = append(r.done, units...)
		if err := r.round(units, workers); err != nil {
			return err
		}
	}
}

func (r *reading) round(units []*unit, workers int) error {
	var next atomic.Int64
	var failed atomic.Bool
	var wait sync.WaitGroup
	errs := make([]error, workers)
	for n := range min(workers, len(units)) {
		wait.Go(func() {
			worker := &reader{reading: r}
			for !failed.Load() {
				i := int(next.Add(1)) - 1
				if i >= len(units) {
					return
				}
				if errs[n] = worker.unit(units[i]); errs[n] != nil {
					failed.Store(true)
					return
				}
				units[i] = nil
			}
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

// reader is one goroutine's reading, with its buffer.
type reader struct {
	*reading
	buffer []byte
}

func (r *reader) unit(u *unit) error {
	dir, err := r.root.OpenDir(u.scene.at.path)
	if err != nil {
		// The directory went away as a whole, or may not be opened any more.
		reason, skip := skipReasonOf(err)
		if !skip && !vanished(err) {
			return err
		}
		for _, i := range u.reads {
			e := &u.node.entries[i]
			if skip {
				*e = skippedEntryOf(e.name, reason, nil)
			} else {
				e.flags |= flagGone
			}
		}
		return nil
	}
	defer dir.Close()
	scene := *u.scene
	scene.dir = dir
	for _, i := range u.reads {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if err := r.entry(&scene, &u.node.entries[i]); err != nil {
			return err
		}
	}
	return nil
}

// entry reads one entry, whatever it turns out to be by now.
func (r *reader) entry(s *scene, e *entry) error {
	for range lookAttempts {
		var done bool
		var err error
		if e.kind == kindSymlink {
			done, err = r.link(s, e)
		} else {
			done, err = r.file(s, e)
		}
		if err == nil && done {
			return nil
		}
		if reason, skip := skipReasonOf(err); skip {
			*e = skippedEntryOf(e.name, reason, nil)
			return nil
		}
		if err != nil && !vanished(err) {
			return err
		}
		again, err := r.again(s, e)
		if err != nil || !again {
			return err
		}
	}
	*e = skippedEntryOf(e.name, documents.ReasonUnreadable, nil)
	return nil
}

// again looks anew at an entry that is not what it was when it was listed. It
// reports whether the entry is to be read.
func (r *reader) again(s *scene, e *entry) (bool, error) {
	fresh, v, err := r.evaluate(s, e.name, beneath.Unknown, nil, nil)
	if err != nil {
		return false, err
	}
	if v == verdictNone {
		e.flags |= flagGone
		return false, nil
	}
	*e = fresh
	if e.kind == kindDirectory {
		return false, r.subdirectory(s, e, nil, nil)
	}
	return v == verdictRead, nil
}

// link reads a symbolic link. A link is never changed, only replaced.
func (r *reader) link(s *scene, e *entry) (bool, error) {
	at := stamp{now: disk.Now(), coarse: s.system.coarse}
	before, err := s.dir.Lstat(e.name)
	if err != nil || before.Kind() != beneath.Symlink {
		return false, err
	}
	target, err := s.dir.Readlink(e.name)
	if err != nil {
		return false, err
	}
	after, err := s.dir.Lstat(e.name)
	if err != nil || fingerprintOf(&after) != fingerprintOf(&before) {
		return false, err
	}
	id, err := r.batch.Blob([]byte(target))
	if err != nil {
		return false, batchFailed(err)
	}
	r.store(s, e, &after, id, at)
	return true, nil
}

// file reads a regular file: one read with equal stat data before and after,
// else again, else as the last read gave it, with the flag changing. It reports
// false if the name is no longer a file to be captured.
func (r *reader) file(s *scene, e *entry) (bool, error) {
	for attempt := 1; ; attempt++ {
		r.hooks.call(r.hooks.beforeOpen, treepath.Join(s.at.path, e.name))
		at := stamp{now: disk.Now(), coarse: s.system.coarse}
		f, st, err := s.dir.Open(e.name)
		if err != nil {
			return false, err
		}
		done, err := r.opened(s, e, f, st, at, attempt == readAttempts)
		_ = f.Close()
		if done || err != nil || attempt == readAttempts {
			return done, err
		}
	}
}

func (r *reader) opened(s *scene, e *entry, f *os.File, before beneath.Stat, at stamp, last bool) (bool, error) {
	path := treepath.Join(s.at.path, e.name)
	limit := r.rules.settings.SizeCap
	if before.Size > limit {
		return false, beneath.ErrNotRegular // looked at anew, it is over the cap
	}
	r.hooks.call(r.hooks.beforeRead, path)
	if before.Size > wholeSize && !last {
		return r.streamed(s, e, f, before, at)
	}
	data, err := r.whole(f, before.Size, limit)
	if err != nil {
		return false, err
	}
	if int64(len(data)) > limit {
		return false, beneath.ErrNotRegular
	}
	r.hooks.call(r.hooks.afterRead, path)
	if r.rules.secrets.IsLogin(s.at.path, e.name, data) && !s.repo.has(path) && !r.holds(path) {
		*e = skippedEntryOf(e.name, documents.ReasonSecret, &before)
		return true, nil
	}
	return r.finish(s, e, f, before, at, int64(len(data)), func() (gitstore.ID, error) { return r.batch.Blob(data) }, last)
}

// streamed hands a large file on as it is read. What an attempt in vain has
// read does not count.
func (r *reader) streamed(s *scene, e *entry, f *os.File, before beneath.Stat, at stamp) (bool, error) {
	src := &fileReader{f: f, reading: r.reading}
	id, err := r.batch.BlobFrom(src, before.Size)
	r.bytes.Add(-src.read)
	if errors.Is(err, gitstore.ErrSizeChanged) {
		return false, nil
	}
	if err != nil {
		return false, streamFailed(err)
	}
	r.hooks.call(r.hooks.afterRead, treepath.Join(s.at.path, e.name))
	return r.finish(s, e, f, before, at, before.Size, func() (gitstore.ID, error) { return id, nil }, false)
}

// finish stores what was read if the file is as it was before the read, or if
// this was the last attempt.
func (r *reader) finish(s *scene, e *entry, f *os.File, before beneath.Stat, at stamp, n int64, write func() (gitstore.ID, error), last bool) (bool, error) {
	after, err := beneath.StatFile(f)
	if err != nil {
		return false, err
	}
	same := fingerprintOf(&before) == fingerprintOf(&after) && n == after.Size
	if !same && !last {
		return false, nil
	}
	id, err := write()
	if err != nil {
		return false, batchFailed(err)
	}
	r.bytes.Add(n)
	r.store(s, e, &after, id, at)
	if !same {
		e.flags |= flagChanging
		e.flags &^= flagTrusted
		e.stat.size = n
	}
	return true, nil
}

// store notes an entry's content and what the file was when it was read.
func (r *reader) store(s *scene, e *entry, st *beneath.Stat, id gitstore.ID, at stamp) {
	stat := fingerprintOf(st)
	if e.flags&flagRecheck != 0 && stat == e.stat && id != e.id {
		r.corrected.Add(1)
	}
	linked := e.flags&flagLinked != 0
	e.flags &^= flagRecheck | flagLinked | flagTrusted | flagChanging | flagSeeded
	e.id, e.stat = id, stat
	if e.kind != kindSymlink {
		e.kind = kindFile
		if st.Executable() {
			e.kind = kindExecutable
		}
		if st.Links > 1 {
			e.flags |= flagLinked
			if !linked {
				r.links.note(stat.inode)
			}
		}
	}
	if at.trusts(&stat) && st.Device == s.device {
		e.flags |= flagTrusted
	}
	r.files.Add(1)
	r.report()
}

func (r *reading) report() {
	if r.progress != nil {
		r.progress(Progress{
			Files: int(r.files.Load()), Bytes: r.bytes.Load(), TotalFiles: r.total.TotalFiles, TotalBytes: r.total.TotalBytes,
		})
	}
}

// whole reads a file to its end, or to just over limit, into the reader's
// buffer.
func (r *reader) whole(f *os.File, size, limit int64) ([]byte, error) {
	if need := size + 512; int64(cap(r.buffer)) < need {
		r.buffer = make([]byte, need)
	}
	data := r.buffer[:0]
	for {
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
			r.buffer = data[:0]
		}
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err == io.EOF || int64(len(data)) > limit {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
