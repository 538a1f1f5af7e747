// Package filecopy copies the content of files. The copy shares the blocks of the original
// where the file systems can, and keeps its holes. It must not know names or directories:
// both files are open.
package filecopy

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
)

// Whole is up to which size, in bytes, a file fits into a buffer with a byte to spare.
const Whole = 1 << 20

// A Copier copies between two file systems. Any goroutine may use it. The zero value is
// ready.
type Copier struct {
	buffers sync.Pool
	noShare atomic.Bool
}

// Copy makes an empty target hold the first size bytes of from, or more: shared where the
// file systems can, else copied, holes left out.
func (c *Copier) Copy(from, target beneath.Handle, size int64) error {
	if size > 0 && !c.noShare.Load() {
		err := share(from, target)
		switch {
		case err == nil:
			return nil
		case OutOfSpace(err):
			return err
		case neverShares(err):
			c.noShare.Store(true)
		}
	}
	buffer := c.Buffer()
	defer c.Release(buffer)
	if size > int64(len(*buffer)) {
		return copyLarge(from, target, size, *buffer)
	}
	n, err := from.ReadAt((*buffer)[:size], 0)
	if err != nil && err != io.EOF {
		return err
	}
	_, err = target.WriteAt((*buffer)[:n], 0)
	return err
}

// copyThrough copies bytes from one offset to another through a buffer.
func copyThrough(from, target beneath.Handle, at, end int64, buffer []byte) error {
	for at < end {
		n, err := from.ReadAt(buffer[:min(end-at, int64(len(buffer)))], at)
		if err != nil && err != io.EOF {
			return err
		}
		if n == 0 {
			return nil
		}
		if _, err := target.WriteAt(buffer[:n], at); err != nil {
			return err
		}
		at += int64(n)
	}
	return nil
}

// OutOfSpace reports whether a write failed for want of room.
func OutOfSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// Buffer is one of Whole bytes and one more, for Release to be used again.
func (c *Copier) Buffer() *[]byte {
	if buffer, ok := c.buffers.Get().(*[]byte); ok {
		return buffer
	}
	buffer := make([]byte, Whole+1)
	return &buffer
}

// Release gives a buffer back.
func (c *Copier) Release(buffer *[]byte) { c.buffers.Put(buffer) }
