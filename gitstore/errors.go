package gitstore

import (
	"errors"
	"fmt"
)

var (
	// ErrMissing is wrapped by an *ObjectError when no object store holds the
	// object, also after looking again for packs that others wrote (H39).
	ErrMissing error = damage("object is missing")
	// ErrDamaged is wrapped when stored bytes do not decode or do not hash to
	// their id. It never means that something did not exist (H3).
	ErrDamaged error = damage("object is damaged")
	// ErrWrongType is wrapped when an object is of another type than asked for.
	ErrWrongType = errors.New("object has another type")
	// ErrNotSnapshot is wrapped for a commit that is no snapshot, such as a
	// record.
	ErrNotSnapshot = errors.New("the commit is not a snapshot")
	// ErrNotRecord is wrapped for a commit that is no record.
	ErrNotRecord = errors.New("the commit is not a record")
	// ErrNoEntry is returned by Lookup for a path that the tree does not hold.
	ErrNoEntry = errors.New("no such entry in the tree")
	// ErrClosed is returned by methods of a closed Store.
	ErrClosed = errors.New("the shadow repository is closed")
)

// ObjectError says which object could not be had. It wraps ErrMissing,
// ErrDamaged or ErrWrongType, or an error of the system.
type ObjectError struct {
	ID  ID
	Err error
}

func (e *ObjectError) Error() string { return fmt.Sprintf("object %s: %v", e.ID, e.Err) }

// Unwrap gives the cause.
func (e *ObjectError) Unwrap() error { return e.Err }

// AboutObject says which object an error is about; nil stays nil.
func AboutObject(id ID, err error) error {
	if err == nil {
		return nil
	}
	var oe *ObjectError
	if errors.As(err, &oe) && oe.ID == id {
		return err
	}
	return &ObjectError{ID: id, Err: err}
}

// Damaged is an error that wraps ErrDamaged.
func Damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// damage is an error that says that something is lost or broken.
type damage string

func (d damage) Error() string { return string(d) }

// Damaged is true.
func (d damage) Damaged() bool { return true }

// Ignoring gives err, unless it is one that does no harm.
func Ignoring(err, one error) error {
	if errors.Is(err, one) {
		return nil
	}
	return err
}
