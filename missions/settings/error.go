package settings

import "fmt"

// Error is what is wrong with a configuration, or with what was asked of it,
// and what to type next.
type Error struct {
	Hint     string
	Conflict bool // only a person can change the file, or one has meanwhile
	cause    error
}

func (e *Error) Error() string { return e.cause.Error() }

// Advice is what to type next, and whether only a person can change the file.
func (e *Error) Advice() (hint string, conflict bool) { return e.Hint, e.Conflict }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.cause }

func wrong(hint, format string, args ...any) error {
	return &Error{Hint: hint, cause: fmt.Errorf(format, args...)}
}

func conflict(hint, format string, args ...any) error {
	return &Error{Hint: hint, Conflict: true, cause: fmt.Errorf(format, args...)}
}
