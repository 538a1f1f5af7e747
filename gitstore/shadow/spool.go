package shadow

import (
	"bufio"
	"io"
	"os"

	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/flock"
)

// spool keeps a large object, compressed as it is read, until its id is known
// and it goes into the pack as a whole. So several are read at once, what is
// stored already need not be taken out of a pack again, and memory does not
// grow with their size.
type spool struct {
	file *os.File
	out  *bufio.Writer
}

// newSpool makes a spool in a file named tmp_umbra_spool_*, flocked as a pack is
// that is being written.
func (s *Store) newSpool() (*spool, error) {
	f, err := flock.CreateTemp(s.PackDir(), "tmp_umbra_spool_*")
	if err != nil {
		return nil, err
	}
	failpoint.Hit("spool.begun")
	return &spool{file: f, out: bufio.NewWriterSize(f, 64<<10)}, nil
}

// Write implements io.Writer.
func (s *spool) Write(p []byte) (int, error) { return s.out.Write(p) }

// WriteTo implements io.WriterTo: it gives everything that was written.
func (s *spool) WriteTo(w io.Writer) (int64, error) {
	if err := s.out.Flush(); err != nil {
		return 0, err
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	return io.Copy(w, s.file)
}

func (s *spool) discard() { flock.DropTemp(s.file) }
