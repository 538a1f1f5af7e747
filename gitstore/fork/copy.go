package fork

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"syscall"

	"github.com/umbra-vcs/umbra/gitstore/attributes"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/filecopy"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// workers is how many files are written at once. More gain nothing: the cost
// is that of making files, which file systems serialise.
const workers = 2

// copyAttempts is how often a file is read that is being written to.
const copyAttempts = 3

// A copier copies files and says how far it is. Any goroutine may use it. The zero value is
// ready, and tells nobody how far it is.
type copier struct {
	files filecopy.Copier

	report func(Progress) // nil: nobody asks
	mu     sync.Mutex
	done   Progress
}

// job is a copy of items from one root to another.
type job struct {
	from, to *beneath.Root
	prefix   string // below to
	items    []item
	// look, if set, is called for each file copied, from several goroutines.
	look func(i item)
}

// copyItems makes directories and copies files and links. It returns what could
// not be read; what could not be written is an error. The directories' modes
// come later, so that a read-only one can be filled.
func (c *copier) copyItems(ctx context.Context, j job) ([]Left, error) {
	var left []Left
	var mu sync.Mutex
	for _, i := range j.items {
		if i.kind != beneath.Directory {
			continue
		}
		if err := makeDirectory(j.to, treepath.Join(j.prefix, i.path)); err != nil {
			return left, err
		}
	}
	err := each(ctx, byDirectory(j.items), 1, func(group span) error {
		p, err := j.enter(treepath.Parent(j.items[group.from].path))
		if err != nil {
			return err
		}
		defer p.close()
		so := progressing{c: c}
		defer so.tell()
		for _, i := range j.items[group.from:group.to] {
			if err := ctx.Err(); err != nil {
				return err
			}
			if i.kind == beneath.Directory {
				continue
			}
			reason, err := c.copyItem(p, i)
			switch {
			case err != nil:
				return fmt.Errorf("copy %s: %w", i.path, err)
			case reason != "":
				mu.Lock()
				left = append(left, Left{i.path, reason})
				mu.Unlock()
			case j.look != nil:
				j.look(i)
			}
			so.add(i.size)
		}
		return nil
	})
	return left, err
}

// place is a directory that files are written to, and where they are read
// from; live is nil if there is no such directory.
type place struct{ target, live *beneath.Dir }

func (p *place) close() {
	p.target.Close()
	if p.live != nil {
		p.live.Close()
	}
}

// enter opens a directory of a job, and makes it if it is missing: one that no
// snapshot holds may hold a file that comes along.
func (j job) enter(dir string) (*place, error) {
	target, err := j.to.OpenDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err := j.to.MkdirAll(dir, 0o777); err != nil {
			return nil, err
		}
		target, err = j.to.OpenDir(dir)
	}
	if err != nil {
		return nil, err
	}
	p := &place{target: target}
	if j.from != nil {
		if p.live, err = j.from.OpenDir(dir); err != nil {
			p.live = nil
		}
	}
	return p, nil
}

// makeDirectory makes path, and what is missing above it.
func makeDirectory(root *beneath.Root, path string) error {
	err := root.Mkdir(path, 0o777)
	if errors.Is(err, fs.ErrExist) {
		st, err := root.Lstat(path)
		if err == nil && st.Kind() != beneath.Directory {
			err = &fs.PathError{Op: "mkdir", Path: path, Err: fs.ErrExist}
		}
		return err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return root.MkdirAll(path, 0o777)
	}
	return err
}

// finishDirectories gives the directories of a job the modes they had.
func finishDirectories(j job) error {
	inherits, err := hasDefaultACL(j.to)
	if err != nil {
		return err
	}
	for n := len(j.items) - 1; n >= 0; n-- {
		i := j.items[n]
		if i.kind != beneath.Directory {
			continue
		}
		path := treepath.Join(j.prefix, i.path)
		st, err := j.to.Lstat(path)
		if err != nil {
			return err
		}
		given, err := j.giveACL(i, path, inherits)
		if err != nil {
			return err
		}
		if !given && st.Perm() != i.perm {
			if err := j.to.Chmod(path, i.perm); err != nil {
				return err
			}
		}
	}
	return nil
}

// together runs tasks at once and waits for all of them. The error is that of
// the first to fail, which ends the context of the others.
func together(ctx context.Context, tasks ...func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wait sync.WaitGroup
	for _, task := range tasks {
		wait.Go(func() {
			if err := task(ctx); err != nil {
				cancel(err)
			}
		})
	}
	wait.Wait()
	return context.Cause(ctx)
}

// each calls fn for every element, from several goroutines that take share
// neighbours at a time, and ends at the first error or when ctx does.
func each[T any](ctx context.Context, list []T, share int, fn func(T) error) error {
	var wait sync.WaitGroup
	var mu sync.Mutex
	var first error
	next := 0
	take := func() []T {
		mu.Lock()
		defer mu.Unlock()
		if first == nil {
			first = ctx.Err()
		}
		if first != nil {
			return nil
		}
		part := list[next:min(next+share, len(list))]
		next += len(part)
		return part
	}
	for range workers {
		wait.Go(func() {
			for part := take(); len(part) > 0; part = take() {
				for _, element := range part {
					if err := fn(element); err != nil {
						mu.Lock()
						if first == nil {
							first = err
						}
						mu.Unlock()
						return
					}
				}
			}
		})
	}
	wait.Wait()
	return first
}

// copyItem copies one file or link. A reason is given for what could not be
// read, with nothing or the last thing read in its place.
func (c *copier) copyItem(p *place, i item) (reason string, err error) {
	if p.live == nil {
		return reasonVanished, nil
	}
	name := treepath.Base(i.path)
	if i.kind == beneath.Symlink {
		target, err := p.live.Readlink(name)
		if err != nil {
			return unreadable(err), nil
		}
		return "", p.target.Symlink(target, name)
	}
	return c.copyFile(p, name, name)
}

// copyFile copies a file to a name in the target.
func (c *copier) copyFile(p *place, source, name string) (reason string, err error) {
	from, before, err := p.live.OpenHandle(source)
	if err != nil {
		return unreadable(err), nil
	}
	defer from.Close()
	target, err := p.target.CreateHandle(name, before.Perm()&0o777|0o200)
	if err != nil {
		return "", err
	}
	defer target.Close()
	for n := range copyAttempts {
		if n > 0 {
			if err := target.Truncate(0); err != nil {
				return "", err
			}
		}
		if err := c.files.Copy(from, target, before.Size); err != nil {
			if readFailure(err) {
				return reasonUnreadable, p.target.Unlink(name)
			}
			return "", err
		}
		after, err := from.Stat()
		if err != nil {
			return "", err
		}
		if unchanged(&before, &after) {
			return "", dress(from, target, &before)
		}
		before = after
	}
	return reasonChanging, dress(from, target, &before)
}

// unchanged tells whether a file was not written to between two looks at it.
func unchanged(a, b *beneath.Stat) bool {
	return a.Size == b.Size && a.Mtime == b.Mtime && a.Ctime == b.Ctime
}

func unreadable(err error) string {
	if vanished(err) {
		return reasonVanished
	}
	return reasonUnreadable
}

// readFailure tells the errors of reading one file from those of a target that
// is full or broken, after which there is no fork.
func readFailure(err error) bool {
	return errors.Is(err, syscall.EIO) || errors.Is(err, syscall.ESTALE) || errors.Is(err, syscall.EISDIR)
}

// dress gives a copy what the original has besides content. What cannot
// be carried over, such as an owner, is not worth the fork.
func dress(from, target beneath.Handle, st *beneath.Stat) error {
	_ = attributes.All(from, *st).Give(target)
	return filecopy.SetModTime(target, st.Mtime)
}

// progressing is what one worker has written since it last told of it: a call
// for each small file would cost as much as some of them.
type progressing struct {
	c     *copier
	files int
	bytes int64
}

// tellAfter is how many bytes are written between two calls of Target.Progress.
const tellAfter = 4 << 20

func (p *progressing) add(bytes int64) {
	p.files++
	if p.bytes += bytes; p.bytes >= tellAfter {
		p.tell()
	}
}

func (p *progressing) tell() {
	if p.c.report == nil || p.files == 0 {
		return
	}
	p.c.mu.Lock()
	p.c.done.Files += p.files
	p.c.done.Bytes += p.bytes
	now := p.c.done
	p.c.mu.Unlock()
	p.files, p.bytes = 0, 0
	p.c.report(now)
}
