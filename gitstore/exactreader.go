package gitstore

import (
	"errors"
	"io"
)

// exactReader gives exactly left bytes and then io.EOF, or sets err.
type exactReader struct {
	r    io.Reader
	left int64
	err  error
}

// Read implements io.Reader.
func (x *exactReader) Read(p []byte) (int, error) {
	if x.err != nil {
		return 0, x.err
	}
	if x.left == 0 {
		if err := atEnd(x.r); err != nil {
			x.err = err
			return 0, err
		}
		return 0, io.EOF
	}
	if int64(len(p)) > x.left {
		p = p[:x.left]
	}
	n, err := x.r.Read(p)
	x.left -= int64(n)
	switch {
	case errors.Is(err, io.EOF) && x.left > 0:
		x.err = ErrSizeChanged
	case err != nil && !errors.Is(err, io.EOF):
		x.err = err
	}
	return n, x.err
}

func readExactly(r io.Reader, data []byte) error {
	_, err := io.ReadFull(r, data)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrSizeChanged
	}
	if err != nil {
		return err
	}
	return atEnd(r)
}

func atEnd(r io.Reader) error {
	var extra [1]byte
	n, err := io.ReadFull(r, extra[:])
	switch {
	case n > 0:
		return ErrSizeChanged
	case errors.Is(err, io.EOF):
		return nil
	}
	return err
}
