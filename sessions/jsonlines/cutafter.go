package jsonlines

import (
	"errors"
	"io"

	"github.com/umbra-vcs/umbra/sessions"
)

// A Part is what a line is to a message that is looked for.
type Part int

// What lines are to a message.
const (
	Beside Part = iota // nothing: it may stand between a message's lines
	Within             // of the message, which may have several lines
	Next               // where the message has begun, it is over before this line
)

// CutAfter has a new Cutter read a conversation up to the end of a message, as
// sessions.Addressed. part says what each line is to the message.
func CutAfter(r io.Reader, c Cutter, part func(b []byte) Part) (cut sessions.Cut, end int64, err error) {
	past := errors.New("past the message")
	split := Splitter{Line: func(b []byte, start int64) error {
		is := part(b)
		if is == Next && end > 0 {
			return past
		}
		if err := c.Line(b, start); err != nil {
			return err
		}
		if is == Within {
			end = start + int64(len(b)) + 1
			cut, _ = c.Cut()
		}
		return nil
	}}
	if err := split.Drain(r); err != nil && !errors.Is(err, past) {
		return sessions.Cut{}, 0, err
	}
	return cut, end, nil
}

// PartOf is what a line with an id, "" for none, is to the message of one line with that id.
func PartOf(message, id string) Part {
	switch id {
	case "":
		return Beside
	case message:
		return Within
	}
	return Next
}
