package attributes

import (
	"bytes"
	"io"
	"os"
)

const (
	// Block is the least run of zeros that becomes a hole in a file that had holes: the
	// block of most file systems.
	Block = 4 << 10
	// LongRun is a run of zeros that becomes a hole in a file of which nothing else is
	// known: longer than what programs and images have between their parts.
	LongRun = 64 << 10
)

var zeros [LongRun]byte

// Sparse writes a new file, and leaves holes where a whole part of it, from one multiple of
// the run to the next, is nothing but zeros. Close gives the file its size; the file itself
// stays open.
type Sparse struct {
	file *os.File
	run  int64
	at   int64
	held int64 // zeros of the part that is being written, which are not written yet
}

var _ io.WriteCloser = (*Sparse)(nil)

// IsZeros reports nothing but zeros, of up to LongRun bytes.
func IsZeros(part []byte) bool { return bytes.Equal(part, zeros[:len(part)]) }

// NewSparse writes to a file that is empty. A run is Block or LongRun.
func NewSparse(file *os.File, run int64) *Sparse { return &Sparse{file: file, run: run} }

// Write implements io.Writer.
func (s *Sparse) Write(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		n := min(int(s.run-s.at%s.run), len(p)-done)
		piece := p[done : done+n]
		begun := s.at % s.run
		switch zero := IsZeros(piece); {
		case zero && s.held == begun:
			s.held = (begun + int64(n)) % s.run // of a whole part: a hole
		default:
			if err := s.writeHeld(); err != nil {
				return done, err
			}
			if _, err := s.file.WriteAt(piece, s.at); err != nil {
				return done, err
			}
		}
		s.at += int64(n)
		done += n
	}
	return done, nil
}

// writeHeld writes the zeros with which a part begins that holds something else too.
func (s *Sparse) writeHeld() error {
	n := s.held
	s.held = 0
	if n == 0 {
		return nil
	}
	_, err := s.file.WriteAt(zeros[:n], s.at-n)
	return err
}

// Close implements io.Closer.
func (s *Sparse) Close() error {
	if err := s.writeHeld(); err != nil {
		return err
	}
	return s.file.Truncate(s.at)
}
