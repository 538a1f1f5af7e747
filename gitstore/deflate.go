package gitstore

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zlib"
)

// deflater compresses one object after the other at level 1: captures are bound
// by it, and packs are compressed again when repacked. It is large and is used
// again, and so is the buffer that it compresses into.
type deflater struct {
	z   *zlib.Writer
	out bytes.Buffer
}

// keptDeflated is the size up to which a buffer is kept for the next object.
const keptDeflated = 4 << 20

type deflaterPool struct{ pool sync.Pool }

func (p *deflaterPool) get() (*deflater, error) {
	if d, ok := p.pool.Get().(*deflater); ok {
		return d, nil
	}
	d := &deflater{}
	var err error
	d.z, err = zlib.NewWriterLevel(&d.out, zlib.BestSpeed)
	return d, err
}

func (p *deflaterPool) put(d *deflater) {
	if d.out.Cap() <= keptDeflated {
		p.pool.Put(d)
	}
}

// deflate compresses header and data as one stream, into its buffer.
func (d *deflater) deflate(header, data []byte) error {
	d.out.Reset()
	d.z.Reset(&d.out)
	for _, part := range [][]byte{header, data} {
		if _, err := d.z.Write(part); err != nil {
			return fmt.Errorf("deflate: %w", err)
		}
	}
	if err := d.z.Close(); err != nil {
		return fmt.Errorf("deflate: %w", err)
	}
	return nil
}

// deflate gives header and data as one compressed stream.
func (s *Store) deflate(header, data []byte) ([]byte, error) {
	d, err := s.deflaters.get()
	if err != nil {
		return nil, err
	}
	defer s.deflaters.put(d)
	if err := d.deflate(header, data); err != nil {
		return nil, err
	}
	return bytes.Clone(d.out.Bytes()), nil
}

// deflating calls fn with data as a compressed stream, which is gone afterwards.
func (s *Store) deflating(data []byte, fn func(deflated io.WriterTo) error) error {
	d, err := s.deflaters.get()
	if err != nil {
		return err
	}
	defer s.deflaters.put(d)
	if err := d.deflate(nil, data); err != nil {
		return err
	}
	return fn(&d.out)
}

// deflateFrom compresses what r gives into w.
func (s *Store) deflateFrom(w io.Writer, r io.Reader) error {
	d, err := s.deflaters.get()
	if err != nil {
		return err
	}
	defer s.deflaters.put(d)
	d.z.Reset(w)
	if _, err := io.Copy(d.z, r); err != nil {
		return err
	}
	return d.z.Close()
}
