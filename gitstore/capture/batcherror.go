package capture

import (
	"errors"
	"io"
	"os"
)

// batchError keeps an error of the batch, whatever it is made of, from being
// taken for one that says something of a file in the workspace.
type batchError struct{ err error }

func (e *batchError) Error() string { return e.err.Error() }

// Unwrap is left out on purpose: EIO of the repository's disk is not EIO of the
// file. The cause is had by Cause.
func (e *batchError) cause() error { return e.err }

func batchFailed(err error) error { return &batchError{err} }

// fileReader reads a large file for the batch. It tells how far it is, ends
// when the capture is called off, and remembers that reading failed, as opposed
// to writing what was read.
type fileReader struct {
	f       *os.File
	reading *reading
	read    int64
}

// fileError is a failed read of the workspace's file.
type fileError struct{ err error }

func (e *fileError) Error() string { return e.err.Error() }
func (e *fileError) Unwrap() error { return e.err }

func (r *fileReader) Read(p []byte) (int, error) {
	if err := r.reading.ctx.Err(); err != nil {
		return 0, &fileError{err}
	}
	n, err := r.f.Read(p)
	r.read += int64(n)
	r.reading.bytes.Add(int64(n))
	r.reading.report()
	if err != nil && n == 0 && err != io.EOF {
		err = &fileError{err}
	}
	return n, err
}

// streamFailed tells the two apart.
func streamFailed(err error) error {
	var file *fileError
	if errors.As(err, &file) {
		return file.err
	}
	return batchFailed(err)
}

// unwrapBatch gives the caller of a capture the batch's error itself.
func unwrapBatch(err error) error {
	var failed *batchError
	if errors.As(err, &failed) {
		return failed.cause()
	}
	return err
}
