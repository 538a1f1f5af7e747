package jsonlines

import (
	"io"

	"github.com/umbra-vcs/umbra/sessions"
)

// A Cutter finds where a conversation can be cut.
type Cutter interface {
	// Line takes the next line, and its offset in the file.
	Line(b []byte, start int64) error
	// Cut is the cut after the lines so far. certain is where a prompt ends after
	// which nothing before it matters, 0 if there was none.
	Cut() (cut sessions.Cut, certain int64)
}

// Cut has a new Cutter read a whole conversation, as sessions.Adapter's Cut.
func Cut(r io.Reader, c Cutter) (sessions.Cut, error) {
	split := Splitter{Line: c.Line}
	if err := split.Drain(r); err != nil {
		return sessions.Cut{}, err
	}
	cut, _ := c.Cut()
	if cut.Length == 0 {
		return cut, sessions.ErrEmptyCut
	}
	return cut, nil
}

// CutEnd has a new Cutter read a conversation from an offset on, as
// sessions.Adapter's CutEnd.
func CutEnd(r io.Reader, from int64, c Cutter) (sessions.Cut, bool, error) {
	split := Splitter{Line: c.Line, Offset: from}
	err := split.Drain(r)
	cut, certain := c.Cut()
	if err != nil || certain == 0 || cut.Length <= certain {
		return sessions.Cut{}, false, err
	}
	return cut, true, nil
}
