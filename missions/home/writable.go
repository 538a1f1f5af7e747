package home

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/userfile"
)

// ErrUnwritable is found in the errors of CheckWritable and ProbeWritable.
var ErrUnwritable = errors.New("nothing can be written in Umbra's home")

// unwritableError is why nothing can be written in a home.
type unwritableError struct {
	dir string
	err error
}

func (u *unwritableError) Error() string {
	return fmt.Sprintf("nothing can be written in Umbra's home %s, so that no snapshots are taken: %s", u.dir, u.err)
}

func (u *unwritableError) brief() string { return u.err.Error() }

func (u *unwritableError) Unwrap() []error { return []error{ErrUnwritable, u.err} }

// CheckWritable is why nothing can be written in the home: its file system can only be
// read, as after an error of the disk, or its mode keeps this user out; nil if it
// can. It costs one call of the system. What is there can be read all the same.
func (h Home) CheckWritable() error {
	switch err := unix.Faccessat(unix.AT_FDCWD, h.Dir, unix.W_OK|unix.X_OK, unix.AT_EACCESS); err {
	case unix.EROFS, unix.EACCES, unix.EPERM:
		return h.newUnwritableError(err)
	}
	return nil // whatever is wrong besides, who opens it will say
}

// ProbeWritable is CheckWritable for who is about to serve the home: it writes a small file,
// and so finds a full disk too.
func (h Home) ProbeWritable() error {
	if err := h.CheckWritable(); err != nil {
		return err
	}
	err := journal.Probe(h.Dir)
	if err == nil {
		return nil
	}
	return h.newUnwritableError(err)
}

func (h Home) newUnwritableError(err error) error {
	var hint string
	switch {
	case errors.Is(err, syscall.EROFS):
		hint = "sudo mount -o remount,rw " + ShellQuote(mountPoint(h.Dir)) + ", once that disk is well; or begin another home with --home DIR or UMBRA_HOME"
	case IsDiskFull(err):
		hint = "free some space on the disk that holds " + h.Dir
	default:
		hint = "chmod u+rwx " + ShellQuote(h.Dir) + ", or begin another home with --home DIR or UMBRA_HOME"
	}
	return missions.Errorf(missions.KindFailed, hint, "%w", &unwritableError{h.Dir, userfile.Reason(err)})
}

// mountPoint is where the file system of dir is mounted, by mountinfo of proc(5); dir
// where the system does not tell.
func mountPoint(dir string) string {
	points, err := beneath.MountPoints()
	if err != nil {
		return dir
	}
	found := ""
	for _, at := range points {
		// The newest of several at one place counts, which comes last.
		if IsWithin(at, filepath.Clean(dir)) && len(at) >= len(found) {
			found = at
		}
	}
	if found == "" {
		return dir
	}
	return found
}
