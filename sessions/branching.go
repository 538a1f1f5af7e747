package sessions

import "io"

// Branching is an Adapter whose agent keeps in the file what its user has taken back,
// and writes nothing of that before the next prompt, which says what it goes on from.
type Branching interface {
	// WentBack reports whether the user had gone back before the prompt that follows a
	// moment, and the id of the line that the prompt goes on from. end is the end of the
	// conversation as it could go on at the moment, beginning anywhere; after is what
	// follows it in the file, of which so many bytes were written at the moment. told is
	// false where end begins too late to tell.
	WentBack(end, after io.Reader, written int64) (line string, back, told bool, err error)
	// CutAfter is Cut of a conversation that ends with a line, of no length if nothing
	// before that could go on; false if it has no such line.
	CutAfter(r io.Reader, line string) (Cut, bool, error)
}
