package missions

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/missions/userfile"
)

// ErrUnwritable is found in the errors of ReadOnly and Writable.
var ErrUnwritable = errors.New("nothing can be written in Umbra's home")

// unwritable is why nothing can be written in a home.
type unwritable struct {
	dir string
	err error
}

func (u *unwritable) Error() string {
	return fmt.Sprintf("nothing can be written in Umbra's home %s, so that no snapshots are taken: %s", u.dir, u.err)
}

func (u *unwritable) brief() string { return u.err.Error() }

func (u *unwritable) Unwrap() []error { return []error{ErrUnwritable, u.err} }

// ReadOnly is why nothing can be written in the home: its file system can only be
// read, as after an error of the disk, or its mode keeps this user out; nil if it
// can. It costs one call of the system. What is there can be read all the same.
func (h Home) ReadOnly() error {
	switch err := unix.Faccessat(unix.AT_FDCWD, h.Dir, unix.W_OK|unix.X_OK, unix.AT_EACCESS); err {
	case unix.EROFS, unix.EACCES, unix.EPERM:
		return h.unwritable(err)
	}
	return nil // whatever is wrong besides, who opens it will say
}

// Writable is ReadOnly for who is about to serve the home: it writes a small file,
// and so finds a full disk too.
func (h Home) Writable() error {
	if err := h.ReadOnly(); err != nil {
		return err
	}
	err := journal.Probe(h.Dir)
	if err == nil {
		return nil
	}
	return h.unwritable(err)
}

func (h Home) unwritable(err error) error {
	var hint string
	switch {
	case errors.Is(err, syscall.EROFS):
		hint = "sudo mount -o remount,rw " + shellQuote(mountOf(h.Dir)) + ", once that disk is well; or begin another home with --home DIR or UMBRA_HOME"
	case isDiskFull(err):
		hint = "free some space on the disk that holds " + h.Dir
	default:
		hint = "chmod u+rwx " + shellQuote(h.Dir) + ", or begin another home with --home DIR or UMBRA_HOME"
	}
	return Errorf(KindFailed, hint, "%w", &unwritable{h.Dir, userfile.Reason(err)})
}

// mountOf is where the file system of dir is mounted, by mountinfo of proc(5); dir
// where the system does not tell.
func mountOf(dir string) string {
	list, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return dir
	}
	defer list.Close()
	found := ""
	for lines := bufio.NewScanner(list); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 5 {
			continue
		}
		// The newest of several at one place counts, which comes last.
		if at := unescapeMount(fields[4]); within(at, filepath.Clean(dir)) && len(at) >= len(found) {
			found = at
		}
	}
	if found == "" {
		return dir
	}
	return found
}

// unescapeMount undoes the \ooo by which mountinfo writes blanks.
func unescapeMount(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
