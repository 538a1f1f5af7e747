package gitstore

import (
	"errors"
	"io"
)

// ExactReader gives exactly left bytes and then io.EOF, or sets err.
type ExactReader struct {
	R    io.Reader
	Left int64
	Err  error
}

// Read implements io.Reader.
func (x *ExactReader) Read(p []byte) (int, error) {
	if x.Err != nil {
		return 0, x.Err
	}
	if x.Left == 0 {
		if err := atEnd(x.R); err != nil {
			x.Err = err
			return 0, err
		}
		return 0, io.EOF
	}
	if int64(len(p)) > x.Left {
		p = p[:x.Left]
	}
	n, err := x.R.Read(p)
	x.Left -= int64(n)
	switch {
	case errors.Is(err, io.EOF) && x.Left > 0:
		x.Err = ErrSizeChanged
	case err != nil && !errors.Is(err, io.EOF):
		x.Err = err
	}
	return n, x.Err
}

// ReadExactly fills data from r, which must end there, else it is ErrSizeChanged.
func ReadExactly(r io.Reader, data []byte) error {
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

// ErrSizeChanged is returned by BlobFrom when the reader gave more or fewer
// bytes than announced; nothing was stored.
var ErrSizeChanged = errors.New("the content has another size than announced")
