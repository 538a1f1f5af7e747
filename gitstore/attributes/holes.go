package attributes

import (
	"bytes"
	"io"
	"os"
)

// hole is the least run of zeros that becomes one: the block of most file systems.
const hole = 4 << 10

var zeros [hole]byte

// Sparse writes a new file, and leaves holes where there is nothing but zeros. Close
// gives the file its size; the file itself stays open.
type Sparse struct {
	file *os.File
	at   int64
}

var _ io.WriteCloser = (*Sparse)(nil)

// NewSparse writes to a file that is empty.
func NewSparse(file *os.File) *Sparse { return &Sparse{file: file} }

// Write implements io.Writer.
func (s *Sparse) Write(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		n := min(int(hole-s.at%hole), len(p)-done)
		if piece := p[done : done+n]; !bytes.Equal(piece, zeros[:n]) {
			if _, err := s.file.WriteAt(piece, s.at); err != nil {
				return done, err
			}
		}
		s.at += int64(n)
		done += n
	}
	return done, nil
}

// Close implements io.Closer.
func (s *Sparse) Close() error { return s.file.Truncate(s.at) }
