package flock

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/disk"
)

// CreateTemp makes a temporary file with its owner's flock on it. A sweep that
// came between is met by making another.
func CreateTemp(dir, pattern string) (*os.File, error) {
	for {
		f, err := disk.OpenFile(TempName(dir, pattern), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		err = Take(f, unix.LOCK_EX|unix.LOCK_NB)
		is := false
		if err == nil {
			is, err = disk.IsAt(f.Name(), f)
		}
		if is {
			return f, nil
		}
		f.Close()
		os.Remove(f.Name())
		if err != nil && err != unix.EWOULDBLOCK {
			return nil, err
		}
	}
}

// TempName is a name in dir that no other has: the pattern with something of its
// own for the star.
func TempName(dir, pattern string) string {
	before, after, _ := strings.Cut(pattern, "*")
	return filepath.Join(dir, before+strconv.FormatUint(rand.Uint64(), 36)+after)
}

// DropTemp removes a temporary file unless it was renamed away.
func DropTemp(f *os.File) {
	if is, _ := disk.IsAt(f.Name(), f); is {
		os.Remove(f.Name())
	}
	_ = Release(f)
}
