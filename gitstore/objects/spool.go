package objects

import (
	"bufio"
	"io"
	"os"

	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/flock"
)

// Spool keeps a large object, compressed as it is read, until its id is known
// and it goes into the pack as a whole. So several are read at once, what is
// stored already need not be taken out of a pack again, and memory does not
// grow with their size.
type Spool struct {
	file *os.File
	out  *bufio.Writer
}

// NewSpool makes a Spool in a file of dir named tmp_umbra_spool_*, flocked as a pack is
// that is being written.
func NewSpool(dir string) (*Spool, error) {
	f, err := flock.CreateTemp(dir, "tmp_umbra_spool_*")
	if err != nil {
		return nil, err
	}
	failpoint.Hit("spool.begun")
	return &Spool{file: f, out: bufio.NewWriterSize(f, 64<<10)}, nil
}

// Write implements io.Writer.
func (s *Spool) Write(p []byte) (int, error) { return s.out.Write(p) }

// WriteTo implements io.WriterTo: it gives everything that was written.
func (s *Spool) WriteTo(w io.Writer) (int64, error) {
	if err := s.out.Flush(); err != nil {
		return 0, err
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	return io.Copy(w, s.file)
}

// Discard removes the file.
func (s *Spool) Discard() { flock.DropTemp(s.file) }
