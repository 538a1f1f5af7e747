package capture

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/documents"
)

// skipError is returned by the visit of a directory that is to be skipped.
type skipError struct{ reason documents.Reason }

func (e *skipError) Error() string { return "skipped: " + string(e.reason) }

// vanished tells whether an error means that something is no longer there, or
// no longer of the kind that was listed (H2).
func vanished(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) ||
		errors.Is(err, beneath.ErrSymlink) || errors.Is(err, beneath.ErrNotRegular)
}

// skipReasonOf tells whether an error says something of one path only, which is
// then left out and listed. Anything else, such as too few descriptors or a
// full disk, must fail the capture: a snapshot without the file would be a lie
// (H1).
func skipReasonOf(err error) (documents.Reason, bool) {
	var skip *skipError
	if errors.As(err, &skip) {
		return skip.reason, true
	}
	for _, errno := range []unix.Errno{
		unix.EACCES, unix.EPERM, unix.EIO, unix.ESTALE, unix.EBUSY, unix.ETXTBSY, unix.EINVAL,
		unix.ENXIO, unix.ENODEV, unix.EOVERFLOW, unix.ENODATA, unix.EILSEQ, unix.ETIMEDOUT,
	} {
		if errors.Is(err, errno) {
			return documents.ReasonUnreadable, true
		}
	}
	return "", false
}
