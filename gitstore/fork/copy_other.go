//go:build !linux

package fork

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

func share(_, _ *os.File) error { return errors.ErrUnsupported }

func canShare(_, _ string) bool { return false }

func copySparse(_, _ *os.File, _ int64) (bool, error) { return false, nil }

func setModTime(f *os.File, mtime time.Time) error {
	times := []unix.Timeval{unix.NsecToTimeval(mtime.UnixNano()), unix.NsecToTimeval(mtime.UnixNano())}
	return unix.Futimes(int(f.Fd()), times)
}
