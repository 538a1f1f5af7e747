package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// A room is how much is left of the small disk that a part of a world is on: so
// many bytes, so many inodes, or a disk that can only be read. The zero value is
// plenty.
type room struct {
	place string // of disks
	kind  string // of roomKinds
	left  int
}

// disks are the places that a small disk can be at: the mount points in a world.
var disks = map[string]string{"all": ".", "home": "homes", "workspace": "work"}

// roomKinds are what a disk can be short of, and how much is left of it.
var roomKinds = map[string][]int{
	"bytes":     {0, 1 << 12, 5 << 12, 20 << 12, 60 << 12, 17 << 20},
	"inodes":    {0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89},
	"read-only": {0},
}

func (r room) String() string {
	return fmt.Sprintf("%d %s left of the disk of %s", r.left, r.kind, r.place)
}

// reasons are what a command may say for which there was no room: the kernel's
// words, or that there is less than Umbra leaves free.
var reasons = []string{"no space left on device", "read-only file system", "umbra writes nothing"}

// plain checks what a command says that had no room.
func (r room) plain(of fate) error {
	if err := crashed(of); err != nil || of.code == 0 || of.code == partlyCode {
		return err
	}
	said := strings.ToLower(of.said)
	for _, reason := range reasons {
		if strings.Contains(said, reason) || gits(said) {
			return nil
		}
	}
	return fmt.Errorf("its error does not say that there was no room: %s", of)
}

// ballast is what takes the room, where no snapshot, mission or doctor looks.
func (w *world) ballast(r room) string {
	if r.place == "workspace" {
		return filepath.Join(w.work, ".git", "ballast")
	}
	return filepath.Join(w.dir, disks[r.place], "ballast")
}

// take leaves no more room than is said, until it is given back.
func (w *world) take(r room) (give func() error, err error) {
	disk := filepath.Join(w.dir, disks[r.place])
	if r.kind == "read-only" {
		return func() error { return readOnlyDisk(disk, false) }, readOnlyDisk(disk, true)
	}
	at := w.ballast(r)
	if err := os.Mkdir(at, 0o700); err != nil {
		return nil, err
	}
	give = func() error { return os.RemoveAll(at) }
	if r.kind == "inodes" {
		err = takeInodes(at, r.left)
	} else {
		err = takeBytes(at, r.left)
	}
	if err != nil {
		return nil, errors.Join(err, give())
	}
	return give, nil
}

// takeInodes makes empty files until there is room for no more, but for some.
func takeInodes(dir string, left int) error {
	n := 0
	for ; ; n++ {
		f, err := os.Create(filepath.Join(dir, fmt.Sprint(n)))
		if errors.Is(err, syscall.ENOSPC) {
			break
		}
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	for range min(left, n) {
		n--
		if err := os.Remove(filepath.Join(dir, fmt.Sprint(n))); err != nil {
			return err
		}
	}
	return nil
}

// takeBytes writes until nothing more goes, but for some bytes.
func takeBytes(dir string, left int) (err error) {
	f, err := os.Create(filepath.Join(dir, "full"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	size := 0
	for chunk := make([]byte, 1<<20); len(chunk) > 0; {
		n, err := f.Write(chunk)
		if size += n; errors.Is(err, syscall.ENOSPC) {
			chunk = chunk[:len(chunk)/2]
		} else if err != nil {
			return err
		}
	}
	return f.Truncate(int64(max(0, size-left)))
}
