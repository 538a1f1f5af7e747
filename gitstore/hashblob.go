package gitstore

import (
	"io"

	"github.com/pjbgf/sha1cd"
)

// HashBlob returns the id that what r gives has as a blob. R must give exactly
// size bytes and then io.EOF, else the error is ErrSizeChanged, or r's own.
// Memory used does not grow with size.
func HashBlob(r io.Reader, size int64) (ID, error) {
	sum := sha1cd.New()
	sum.Write(objectHeader(TypeBlob, size))
	src := &exactReader{r: r, left: size}
	if _, err := io.Copy(sum, src); err != nil {
		return ID{}, err
	}
	return ID(sum.Sum(nil)), nil
}
