package gitstore

import (
	"io"
)

// HashBlob returns the id that what r gives has as a blob. R must give exactly
// size bytes and then io.EOF, else the error is ErrSizeChanged, or r's own.
// Memory used does not grow with size.
func HashBlob(r io.Reader, size int64) (ID, error) {
	sum := NewHasher(TypeBlob, size)
	// A buffer of the usual size for each of many small files would be garbage
	// many times as large as they are.
	buffer := make([]byte, min(max(size, 1), 32<<10))
	if _, err := io.CopyBuffer(sum, &ExactReader{R: r, Left: size}, buffer); err != nil {
		return ID{}, err
	}
	return ID(sum.Sum(nil)), nil
}
