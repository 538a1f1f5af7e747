package objects

import (
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"
)

// deflater compresses one object after the other at level 1: captures are bound
// by it, and packs are compressed again when repacked. It is large (1.2 MB, all of it
// touched when it is made) and is used again, and so is the buffer that it compresses
// into.
type deflater struct {
	z   *zlib.Writer
	out bytes.Buffer
}

// keptDeflated is the size up to which a buffer is kept for the next object.
const keptDeflated = 4 << 20

// idleDeflaters are those that nobody uses, of all stores: as many are kept as small
// snapshots need at once. A sync.Pool would lose them with every other collection.
var idleDeflaters = make(chan *deflater, 2)

func getDeflater() (*deflater, error) {
	select {
	case d := <-idleDeflaters:
		return d, nil
	default:
	}
	d := &deflater{}
	var err error
	d.z, err = zlib.NewWriterLevel(&d.out, zlib.BestSpeed)
	return d, err
}

func putDeflater(d *deflater) {
	if d.out.Cap() > keptDeflated {
		return
	}
	select {
	case idleDeflaters <- d:
	default:
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

// Deflate gives header and data as one compressed stream.
func Deflate(header, data []byte) ([]byte, error) {
	d, err := getDeflater()
	if err != nil {
		return nil, err
	}
	defer putDeflater(d)
	if err := d.deflate(header, data); err != nil {
		return nil, err
	}
	return bytes.Clone(d.out.Bytes()), nil
}

// Deflating calls fn with data as a compressed stream, which is gone afterwards.
func Deflating(data []byte, fn func(deflated io.WriterTo) error) error {
	d, err := getDeflater()
	if err != nil {
		return err
	}
	defer putDeflater(d)
	if err := d.deflate(nil, data); err != nil {
		return err
	}
	return fn(&d.out)
}

// DeflateFrom compresses what r gives into w.
func DeflateFrom(w io.Writer, r io.Reader) error {
	d, err := getDeflater()
	if err != nil {
		return err
	}
	defer putDeflater(d)
	d.z.Reset(w)
	if _, err := io.Copy(d.z, r); err != nil {
		return err
	}
	return d.z.Close()
}
