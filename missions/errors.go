package missions

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Kind says what sort of error happened. It is part of the API: scripts read
// it in JSON, and the command line maps it to an exit code.
type Kind string

// The kinds of errors.
const (
	KindFailed      Kind = "failed"      // anything not named below
	KindUsage       Kind = "usage"       // the request makes no sense as written
	KindNotFound    Kind = "not_found"   // no such mission, snapshot or path
	KindAmbiguous   Kind = "ambiguous"   // a name means more than one thing
	KindBusy        Kind = "busy"        // an agent in a turn, already live, another operation
	KindConflict    Kind = "conflict"    // changed meanwhile, or would lose something
	KindDamaged     Kind = "damaged"     // repository or index
	KindNoDaemon    Kind = "no_daemon"   // not reached and not started in time
	KindTimeout     Kind = "timeout"     // waited long enough
	KindInterrupted Kind = "interrupted" // the user stopped it
)

// ExitCode is the process exit code of an error of this kind.
func (k Kind) ExitCode() int {
	switch k {
	case KindUsage:
		return 2
	case KindNotFound, KindAmbiguous:
		return 10
	case KindBusy:
		return 11
	case KindConflict:
		return 12
	case KindDamaged:
		return 13
	case KindNoDaemon:
		return 14
	case KindTimeout:
		return 15
	case KindInterrupted:
		return 130
	default:
		return 1
	}
}

// Error is what the user is told: what happened and why, and what to type
// next. It crosses the socket unchanged.
type Error struct {
	Kind    Kind   `json:"kind"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	// Details carries data of the refusal, such as the plan of a restore that
	// needs a choice.
	Details json.RawMessage `json:"details,omitempty"`
	cause   error
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause, which stays in the process that met it.
func (e *Error) Unwrap() error { return e.cause }

// Errorf makes an Error of the kind. A %w argument becomes its cause.
func Errorf(kind Kind, hint, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: kind, Message: err.Error(), Hint: hint, cause: errors.Unwrap(err)}
}

// advising is an error of a package below that knows what to type next, and whether
// something stands in the way rather than that the words are wrong.
type advising interface {
	error
	Advice() (hint string, conflict bool)
}

// damaging is an error of a package below that may tell of something lost or broken.
type damaging interface {
	error
	Damaged() bool
}

// AsError returns err as an Error. One that is none becomes KindDamaged where the
// store says that something is lost or broken, else KindFailed with no hint: an
// unknown cause gets none.
func AsError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		if e.Message == err.Error() {
			return e
		}
		return &Error{Kind: e.Kind, Message: err.Error(), Hint: e.Hint, Details: e.Details, cause: err}
	}
	if e, ok := errors.AsType[advising](err); ok {
		hint, conflict := e.Advice()
		kind := KindUsage
		if conflict {
			kind = KindConflict
		}
		return &Error{Kind: kind, Message: err.Error(), Hint: hint, cause: err}
	}
	if e, ok := errors.AsType[damaging](err); ok && e.Damaged() {
		return &Error{Kind: KindDamaged, Message: err.Error(), Hint: "umbra doctor", cause: err}
	}
	return &Error{Kind: KindFailed, Message: err.Error(), cause: err}
}
