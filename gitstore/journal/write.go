package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/failpoint"
)

// WriteFile puts content at path, durably and wholly or not at all: a temporary
// file beside it is written, synced and renamed, and its directory synced. The
// mode is exact, whatever the umask; missing directories are made 0700. If
// path is a symbolic link, the file it leads to is written and the link stays.
// On an error (syscall.ENOSPC among them) the old content is intact.
func WriteFile(path string, mode fs.FileMode, content []byte) error {
	return writeFile("", path, mode, content, true, os.Rename)
}

// WriteBelow is WriteFile for a path below base, which is not made if it is missing:
// it was moved, or removed, and is not to be there again. "" is no such base.
func WriteBelow(base, path string, mode fs.FileMode, content []byte) error {
	return writeFile(base, path, mode, content, true, os.Rename)
}

// WriteVolatile is WriteBelow without syncing: readers and killed processes
// see the old content or the new, a power cut may lose both.
func WriteVolatile(base, path string, mode fs.FileMode, content []byte) error {
	return writeFile(base, path, mode, content, false, replaceUnsynced)
}

func writeFile(base, path string, mode fs.FileMode, content []byte, durable bool, publish func(from, to string) error) error {
	target, err := followed(path)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	fill := func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	}
	if err := put(base, target, mode, fill, durable, publish); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// PlaceOptions are the ways in which Place can differ.
type PlaceOptions struct {
	// Volatile leaves out the syncing.
	Volatile bool
	// ModTime is the file's time; zero is now.
	ModTime time.Time
}

// Place creates a new file with the content that fill writes, wholly or not at
// all, durably unless told otherwise, with the exact mode and time. A path that exists, as a link too, is fs.ErrExist and is not touched.
// Missing directories are made 0700.
func Place(path string, mode fs.FileMode, fill func(io.Writer) error, options PlaceOptions) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("place %s: %w", path, fs.ErrExist)
	}
	dated := func(from, to string) error {
		if !options.ModTime.IsZero() {
			if err := os.Chtimes(from, time.Time{}, options.ModTime); err != nil {
				return err
			}
		}
		return renameNew(from, to)
	}
	if err := put("", path, mode, fill, !options.Volatile, dated); err != nil {
		return fmt.Errorf("place %s: %w", path, err)
	}
	return nil
}

// MoveDirectory gives a directory that was made under another name its own,
// durably. A directory of that name is an error wrapping fs.ErrExist.
func MoveDirectory(from, to string) error {
	if err := renameNewDirectory(from, to); err != nil {
		return err
	}
	failpoint.Hit("journal.directory.moved")
	return syncDir(filepath.Dir(to))
}

// Remove deletes the file at path durably. That it is gone already is no
// error.
func Remove(path string) error {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func put(base, path string, mode fs.FileMode, fill func(io.Writer) error, durable bool, publish func(from, to string) error) (err error) {
	dir := filepath.Dir(path)
	if err := mkdirs(base, dir, durable); err != nil {
		return err
	}
	temp, err := CreateTemp(dir)
	if err != nil {
		return err
	}
	published := false
	defer func() {
		if !published {
			_ = os.Remove(temp.Name())
		}
		// Held until the rename, so that no sweep takes it for a leftover.
		err = errors.Join(err, unclaim(temp), temp.Close())
	}()
	w := io.Writer(temp)
	if durable {
		w = &flowing{file: temp}
	}
	if err := fill(w); err != nil {
		return err
	}
	if err := temp.Chmod(mode); err != nil {
		return err
	}
	if durable {
		if err := temp.Sync(); err != nil {
			return err
		}
	}
	failpoint.Hit("journal.file.written")
	if err := publish(temp.Name(), path); err != nil {
		return bare(err)
	}
	failpoint.Hit("journal.file.published")
	published = true
	if durable {
		return syncDir(dir)
	}
	return nil
}

// flowing has what is written to a file go out to the disk on the way, so that
// the sync at its end finds little left to wait for.
type flowing struct {
	file          *os.File
	written, sent int64
}

// flowEvery is how much is sent at a time; a smaller file is left to the sync.
const flowEvery = 8 << 20

// Write implements io.Writer.
func (f *flowing) Write(p []byte) (int, error) {
	n, err := f.file.Write(p)
	f.written += int64(n)
	if more := f.written - f.sent; more >= flowEvery {
		beginWriteback(f.file, f.sent, more)
		f.sent = f.written
	}
	return n, err
}

// bare takes the temporary file's name, which means nothing to anyone, out of
// an error.
func bare(err error) error {
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err
	}
	return err
}

// followed is the path that a chain of links leads to; nothing needs to be
// there.
func followed(path string) (string, error) {
	for range 40 {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		if err != nil {
			return "", err
		}
		target, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return "", syscall.ELOOP
}

// mkdirs makes the missing directories of dir, and their names durable; base and what
// is above it must be there, if one is given.
func mkdirs(base, dir string, durable bool) error {
	info, err := os.Stat(dir)
	if err == nil {
		if !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: dir, Err: syscall.ENOTDIR}
		}
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) || base != "" && dir == filepath.Clean(base) {
		return err
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := mkdirs(base, parent, durable); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if durable {
		return syncDir(parent)
	}
	return nil
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	err = dir.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		// Some file systems cannot sync a directory, and need not.
		err = nil
	}
	return errors.Join(err, dir.Close())
}
