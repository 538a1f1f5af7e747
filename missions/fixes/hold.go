package fixes

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/flock"
	"github.com/umbra-vcs/umbra/missions"
)

// Hold keeps other processes from the loop that is kept in a file, until release is called or
// this process ends.
func Hold(file, name string) (release func(), err error) {
	path := file + ".lock"
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	made, err := os.OpenFile(path, os.O_CREATE|os.O_RDONLY, 0o600)
	if err == nil {
		err = made.Close()
	}
	if err != nil {
		return nil, err
	}
	held, err := flock.Hold(path, os.O_RDONLY, unix.LOCK_EX)
	if errors.Is(err, os.ErrNotExist) || flock.IsHeld(err) {
		return nil, missions.Errorf(missions.KindBusy, "wait for it, or end it: what it has begun stays", "another umbra fix of %s runs", name)
	}
	if err != nil {
		return nil, err
	}
	return func() {
		_ = errors.Join(os.Remove(path), flock.Release(held)) // what is left of it holds nobody up
	}, nil
}
