package fork

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
)

// workers is how many files are written at once. More gain nothing: the cost
// is that of making files, which file systems serialise.
const workers = 2

// copyAttempts is how often a file is read that is being written to.
const copyAttempts = 3

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
func (k *maker) copyItems(ctx context.Context, j job) ([]Left, error) {
	var left []Left
	var mu sync.Mutex
	for _, i := range j.items {
		if i.kind != beneath.Directory {
			continue
		}
		if err := k.directory(j.to, join(j.prefix, i.path)); err != nil {
			return left, err
		}
	}
	const share = 16 // neighbours, so that a directory is filled by one worker
	err := each(ctx, j.items, share, func(i item) error {
		if i.kind == beneath.Directory {
			return nil
		}
		reason, err := k.copyItem(j, i)
		if err == nil && reason == "" && j.look != nil {
			j.look(i)
		}
		k.progressed(i.size)
		if reason != "" {
			mu.Lock()
			left = append(left, Left{i.path, reason})
			mu.Unlock()
		}
		return err
	})
	return left, err
}

// directory makes path, and what is missing above it.
func (k *maker) directory(root *beneath.Root, path string) error {
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
	for n := len(j.items) - 1; n >= 0; n-- {
		i := j.items[n]
		if i.kind != beneath.Directory {
			continue
		}
		path := join(j.prefix, i.path)
		st, err := j.to.Lstat(path)
		if err != nil {
			return err
		}
		if st.Perm() != i.perm {
			if err := j.to.Chmod(path, i.perm); err != nil {
				return err
			}
		}
	}
	return nil
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
func (k *maker) copyItem(j job, i item) (reason string, err error) {
	to := join(j.prefix, i.path)
	if i.kind == beneath.Symlink {
		return k.copyLink(j, i.path, to)
	}
	from, before, err := j.from.Open(i.path)
	if err != nil {
		return unreadable(err), nil
	}
	defer from.Close()
	target, err := k.create(j.to, to)
	if err != nil {
		return "", err
	}
	defer target.Close()
	for range copyAttempts {
		if err := k.content(from, target, before.Size); err != nil {
			if !readFailure(err) {
				return "", fmt.Errorf("copy %s: %w", i.path, err)
			}
			return reasonUnreadable, j.to.Unlink(to)
		}
		after, err := beneath.StatFile(from)
		if err != nil {
			return "", err
		}
		if after.Size == before.Size && after.Mtime == before.Mtime && after.Ctime == before.Ctime {
			return "", attributes(from, target, before)
		}
		before = after
	}
	return reasonChanging, attributes(from, target, before)
}

// create makes a file, with the directories above it that are missing.
func (k *maker) create(root *beneath.Root, path string) (*os.File, error) {
	target, err := root.Create(path, 0o600)
	if errors.Is(err, fs.ErrNotExist) && parentOf(path) != "" {
		if err := root.MkdirAll(parentOf(path), 0o777); err != nil {
			return nil, err
		}
		return root.Create(path, 0o600)
	}
	return target, err
}

func (k *maker) copyLink(j job, path, to string) (string, error) {
	target, err := j.from.Readlink(path)
	if err != nil {
		return unreadable(err), nil
	}
	err = j.to.Symlink(target, to)
	if errors.Is(err, fs.ErrNotExist) && parentOf(to) != "" {
		if err := j.to.MkdirAll(parentOf(to), 0o777); err != nil {
			return "", err
		}
		err = j.to.Symlink(target, to)
	}
	return "", err
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

// content makes target hold what from does: shared where the file system can,
// else copied, holes left out.
func (k *maker) content(from, target *os.File, size int64) error {
	if err := target.Truncate(0); err != nil {
		return err
	}
	if size > 0 && !k.noShare.Load() {
		err := share(from, target)
		if err == nil {
			return nil
		}
		k.noShare.Store(true)
	}
	for _, f := range []*os.File{from, target} {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
	}
	if done, err := copySparse(from, target, size); done || err != nil {
		return err
	}
	_, err := io.Copy(target, from)
	return err
}

// attributes gives a copy what the original has besides content. What cannot
// be carried over, such as an owner, is not worth the fork.
func attributes(from, target *os.File, st beneath.Stat) error {
	_ = beneath.CopyAttributes(from, target, st.Perm())
	return setModTime(target, time.Unix(0, st.Mtime))
}
