package gitstore

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zlib"
)

// deflaterPool reuses zlib writers, which are large.
type deflaterPool struct{ pool sync.Pool }

func (p *deflaterPool) get(w io.Writer) (*zlib.Writer, error) {
	if z, ok := p.pool.Get().(*zlib.Writer); ok {
		z.Reset(w)
		return z, nil
	}
	return zlib.NewWriterLevel(w, zlib.BestSpeed)
}

func (p *deflaterPool) put(z *zlib.Writer) { p.pool.Put(z) }

// deflate compresses header and data as one stream, at level 1: captures are
// bound by it, and packs are compressed again when repacked.
func (s *Store) deflate(header, data []byte) ([]byte, error) {
	var out bytes.Buffer
	out.Grow(len(data)/3 + 64)
	z, err := s.deflaters.get(&out)
	if err != nil {
		return nil, err
	}
	defer s.deflaters.put(z)
	for _, part := range [][]byte{header, data} {
		if _, err := z.Write(part); err != nil {
			return nil, fmt.Errorf("deflate: %w", err)
		}
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("deflate: %w", err)
	}
	return out.Bytes(), nil
}
