package claude

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

const readSize = 1 << 20

// splitter cuts a byte stream into lines. It holds at most one unfinished line.
type splitter struct {
	rest   []byte
	offset int64 // of the first byte not yet given out
	line   func(b []byte, start int64) error
}

// feed gives out each line that p completes, without its line end. The bytes
// are valid during the call only.
func (s *splitter) feed(p []byte) error {
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
		start := s.offset
		s.offset += int64(len(b)) + 1
		err := s.line(b, start)
		s.rest = s.rest[:0]
		if err != nil {
			return err
		}
		p = p[n+1:]
	}
	return nil
}

// torn reports whether an unterminated line is left.
func (s *splitter) torn() bool { return len(s.rest) > 0 }

// drain feeds all of r.
func (s *splitter) drain(r io.Reader) error {
	buf := make([]byte, readSize)
	for {
		n, err := r.Read(buf)
		if ferr := s.feed(buf[:n]); ferr != nil {
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
