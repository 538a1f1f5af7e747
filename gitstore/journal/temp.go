package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/disk"
)

const tempPrefix = ".umbra-tmp-"

// IsTemp reports whether name is one of this package's temporary files or
// directories.
func IsTemp(name string) bool { return strings.HasPrefix(name, tempPrefix) }

// CreateTemp makes a temporary file that is claimed, by a kernel lock on the
// file itself, for as long as the process lives and keeps it open: no pid has
// to be believed to know a leftover (H25). Sweep removes one that was left in dir.
func CreateTemp(dir string) (*os.File, error) {
	for {
		name := filepath.Join(dir, fmt.Sprintf("%s%016x", tempPrefix, rand.Uint64()))
		file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		is, err := claimed(file, name)
		if is {
			return file, nil
		}
		file.Close()
		if err != nil {
			return nil, errors.Join(err, os.Remove(name))
		}
	}
}

// DropTemp removes a file of CreateTemp.
func DropTemp(f *os.File) error { return errors.Join(os.Remove(f.Name()), unclaim(f), f.Close()) }

// claimed claims what was just made at path, and reports false if a sweep came
// first. A file system without locks cannot claim, and is not swept either.
func claimed(file *os.File, path string) (bool, error) {
	if err := claim(file); err != nil {
		return !isClaimed(err), nil
	}
	return disk.IsAt(path, file)
}

// Sweep removes the temporary files and directories directly in dir whose
// owner is gone, and returns their names. Those in use, and everything else,
// are left. A directory that does not exist has none.
func Sweep(dir string) ([]string, error) { return eachLeftover(dir, os.RemoveAll) }

// Leftovers is what Sweep would remove.
func Leftovers(dir string) ([]string, error) {
	return eachLeftover(dir, func(string) error { return nil })
}

// eachLeftover calls fn for each of those, claimed meanwhile.
func eachLeftover(dir string, fn func(path string) error) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	var errs []error
	for _, entry := range entries {
		if !IsTemp(entry.Name()) || !entry.Type().IsRegular() && !entry.IsDir() {
			continue
		}
		left, err := claimLeftover(filepath.Join(dir, entry.Name()), fn)
		if left {
			names = append(names, entry.Name())
		}
		errs = append(errs, err)
	}
	return names, errors.Join(errs...)
}

func claimLeftover(path string, fn func(path string) error) (left bool, err error) {
	file, err := openClaimable(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	if claim(file) != nil {
		return false, nil
	}
	defer unclaim(file)
	if is, err := disk.IsAt(path, file); err != nil || !is {
		return false, err
	}
	err = fn(path)
	return err == nil, err
}

// Probe writes a small temporary file in dir and removes it: the error is why nothing
// can be written there.
func Probe(dir string) error {
	f, err := CreateTemp(dir)
	if err != nil {
		return err
	}
	_, err = f.WriteString("probe\n")
	return errors.Join(err, DropTemp(f))
}
