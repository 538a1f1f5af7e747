// Package jsonlines reads and rewrites conversations that are kept as a JSON
// object a line: it cuts a stream into lines, rewrites lines by edits in place,
// several at the same time, and finds one directory's paths in them in all the
// forms that JSON gives a path. It knows no agent: which fields a line has, and
// what in it is signed, the adapter says.
package jsonlines

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

const readSize = 1 << 20

// Splitter cuts a byte stream into lines. It holds at most one unfinished line.
type Splitter struct {
	// Line is called with each line and its offset in the stream.
	Line func(b []byte, start int64) error
	// Offset is that of the first byte not yet given out.
	Offset int64
	rest   []byte
}

// Feed gives out each line that p completes, without its line end. The bytes
// are valid during the call only.
func (s *Splitter) Feed(p []byte) error {
	for len(p) > 0 {
		n := bytes.IndexByte(p, '\n')
		if n < 0 {
			s.rest = append(s.rest, p...)
			return nil
		}
		b := p[:n]
		if len(s.rest) > 0 {
			s.rest = append(s.rest, b...)
			b = s.rest
		}
		start := s.Offset
		s.Offset += int64(len(b)) + 1
		err := s.Line(b, start)
		s.rest = s.rest[:0]
		if err != nil {
			return err
		}
		p = p[n+1:]
	}
	return nil
}

// Torn reports whether an unterminated line is left.
func (s *Splitter) Torn() bool { return len(s.rest) > 0 }

// Drain feeds all of r.
func (s *Splitter) Drain(r io.Reader) error {
	buf := make([]byte, readSize)
	for {
		n, err := r.Read(buf)
		if ferr := s.Feed(buf[:n]); ferr != nil {
			return ferr
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read session: %w", err)
		}
	}
}
