package restore

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
)

// Outcome is what became of a plan.
type Outcome struct {
	// Done are the planned paths that are now as planned, sorted.
	Done []string
	// Left are planned paths that were left as they are, sorted: somebody was
	// there first, or the system did not permit the change.
	Left []Left
	// Displaced are files of concurrent writers, sorted by path: they were found
	// where the operation wrote, are not what S holds, and are in quarantine. The
	// caller stores them in the record, under displaced/.
	Displaced []Displaced
	// Notes are attributes that a replaced file had and its successor could not
	// be given.
	Notes []Note
	// Cause is why a recovery went back, if it had meant to go forward.
	Cause error
}

// Left is a planned path that was left as it is.
type Left struct {
	Path   string
	Reason Reason
}

// The reasons for which a path is left in the course of an operation.
const (
	// ReasonDirectory is a directory, or special file, that has taken the place
	// of the file.
	ReasonDirectory Reason = "directory"
	// ReasonMoved is a directory above that is gone or has become something
	// else, such as a symbolic link.
	ReasonMoved Reason = "moved"
)

// Note is one attribute of a file that was not carried over.
type Note struct {
	Path string
	What string
	Err  error
}

// Displaced is a file in quarantine whose bytes are neither S's nor T's.
type Displaced struct {
	// Path is where it was in the workspace. If a whole directory was displaced,
	// it is that of one file in it.
	Path string
	Mode gitstore.Mode
	// Blob is the id that the content had when it was read, zero for a file that
	// did not hold still or may not be read before it is opened here.
	Blob gitstore.ID
	at   spot
}

// Open opens the bytes, and says how many there are. The caller closes it.
func (d *Displaced) Open() (io.ReadCloser, int64, error) {
	root, err := beneath.Open(d.at.root.Path())
	if err != nil {
		return nil, 0, err
	}
	defer root.Close()
	if root.Identity() != d.at.root.Identity() {
		return nil, 0, fmt.Errorf("%s: %w", root.Path(), beneath.ErrMoved)
	}
	if d.Mode == gitstore.ModeSymlink {
		target, err := root.Readlink(d.at.path)
		return io.NopCloser(strings.NewReader(target)), int64(len(target)), err
	}
	file, st, err := root.Open(d.at.path)
	if errors.Is(err, fs.ErrPermission) {
		// In quarantine it can be made readable without anybody's noticing.
		if err = root.Chmod(d.at.path, 0o600); err == nil {
			file, st, err = root.Open(d.at.path)
		}
	}
	if err != nil {
		return nil, 0, err
	}
	return file, st.Size, nil
}

// Location is where the bytes are, for messages.
func (d *Displaced) Location() string { return d.at.root.Path() + "/" + d.at.path }

// Failure is the error of an operation that could not be carried out. Cause is
// why; if Back is nil, everything is as before.
type Failure struct {
	Cause error
	// Back is why not everything could be put back.
	Back error
	// Outcome is what was left or displaced on the way back.
	Outcome *Outcome
}

func (f *Failure) Error() string {
	if f.Back != nil {
		return fmt.Sprintf("%v; and it could not be taken back: %v", f.Cause, f.Back)
	}
	if f.Outcome != nil && len(f.Outcome.Left) > 0 {
		return fmt.Sprintf("%v; everything is as before but for what others have changed meanwhile", f.Cause)
	}
	return fmt.Sprintf("%v; everything is as before", f.Cause)
}

// Unwrap gives both causes.
func (f *Failure) Unwrap() []error {
	if f.Back == nil {
		return []error{f.Cause}
	}
	return []error{f.Cause, f.Back}
}

func (o *Outcome) sort() {
	slices.Sort(o.Done)
	slices.SortFunc(o.Left, func(a, b Left) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(o.Notes, func(a, b Note) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(o.Displaced, func(a, b Displaced) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		return bytes.Compare(a.Blob[:], b.Blob[:])
	})
}
