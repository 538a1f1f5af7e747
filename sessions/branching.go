package sessions

import "io"

// Addressed is an Adapter whose agent gives each message an id, by which another program
// can name it.
type Addressed interface {
	// CutAfter is Cut of a conversation that ends with a message, of no length if nothing
	// before that could go on. end is where the message ends in r, 0 if there is none of
	// that id.
	CutAfter(r io.Reader, message string) (cut Cut, end int64, err error)
}

// Branching is an Adapter whose agent keeps in the file what its user has taken back,
// and writes nothing of that before the next prompt, which says what it goes on from. Each
// of its lines is a message.
type Branching interface {
	Addressed
	// WentBack reports whether the user had gone back before the prompt that follows a
	// moment, and the id of the line that the prompt goes on from. end is the end of the
	// conversation as it could go on at the moment, beginning anywhere; after is what
	// follows it in the file, of which so many bytes were written at the moment. told is
	// false where end begins too late to tell.
	WentBack(end, after io.Reader, written int64) (line string, back, told bool, err error)
}
