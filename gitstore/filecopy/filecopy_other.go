//go:build !linux

package filecopy

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
)

func share(_, _ beneath.Opened) error { return errors.ErrUnsupported }

func neverShares(error) bool { return true }

func CanShare(_, _ string) bool { return false }

func copyLarge(from, target beneath.Handle, size int64, buffer []byte) error {
	return copyThrough(from, target, 0, size, buffer)
}

func SetModTime(f beneath.Handle, mtime int64) error {
	times := []unix.Timeval{unix.NsecToTimeval(mtime), unix.NsecToTimeval(mtime)}
	return unix.Futimes(int(f.Fd()), times)
}
