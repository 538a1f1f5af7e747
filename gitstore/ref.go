package gitstore

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// RefLockedError is returned when a ref's lock file did not go away. It was not
// removed: it belongs to someone else (H25).
type RefLockedError struct {
	Ref  string
	Path string
	// Live is true if a running Umbra process holds the lock. Otherwise it is
	// another program's, such as git's, running or not.
	Live bool
	// Since is when the lock file was made.
	Since time.Time
}

func (e *RefLockedError) Error() string {
	owner := "another program"
	if e.Live {
		owner = "another umbra process"
	}
	return fmt.Sprintf("%s is locked by %s since %s (%s)", e.Ref, owner, e.Since.Format(time.RFC3339), e.Path)
}

var (
	// ErrRefNotFound is wrapped by a *RefError for a ref that does not exist.
	ErrRefNotFound = errors.New("no such ref")
	// ErrRefBroken is wrapped for a ref whose value does not parse.
	ErrRefBroken error = damage("the ref's value does not parse")
)

// RefError says which ref an error is about.
type RefError struct {
	Ref string
	Err error
}

func (e *RefError) Error() string { return fmt.Sprintf("%s: %v", e.Ref, e.Err) }

// Unwrap gives the cause.
func (e *RefError) Unwrap() error { return e.Err }

// Ref is one ref with its value.
type Ref struct {
	Name RefName
	// ID is the commit named, for a symbolic ref that of the ref it leads to.
	ID ID
	// Symbolic is the ref that a symbolic ref leads to, else "".
	Symbolic RefName
}

// RefList is what Refs found. A bad ref never hides the others.
type RefList struct {
	// Refs are the good ones, sorted by name.
	Refs []Ref
	// Bad says what is wrong with the others, among them refs of foreign names
	// (*InvalidRefNameError as the cause).
	Bad []RefError
}

func (l *RefList) IsBad(name string) bool {
	return slices.ContainsFunc(l.Bad, func(e RefError) bool { return e.Ref == name })
}

// Durability says whether a ref update must survive a power cut.
type Durability uint8

const (
	// Durable updates are synced: the file, then its directory (two fsyncs).
	Durable Durability = iota
	// Derived updates are not synced: what they say can be made again from
	// other refs, as the records ref can.
	Derived
)

// RefMovedError is returned by a compare-and-swap that found another value.
type RefMovedError struct {
	Ref RefName
	// Want is what the caller expected, Have what stands there: ids, names of
	// refs for a symbolic one, or "nothing".
	Want, Have string
}

func (e *RefMovedError) Error() string {
	return fmt.Sprintf("%s moved: expected %s, found %s", e.Ref, e.Want, e.Have)
}

// Is makes errors.Is(err, ErrRefMoved) hold.
func (e *RefMovedError) Is(target error) bool { return target == ErrRefMoved }

// ErrRefMoved is what every *RefMovedError is.
var ErrRefMoved = errors.New("the ref moved")

// RefConflictError is returned where a ref cannot exist beside another, since
// one would be the directory of the other.
type RefConflictError struct{ Ref, With string }

func (e *RefConflictError) Error() string {
	return fmt.Sprintf("%s cannot exist together with %s", e.Ref, e.With)
}
