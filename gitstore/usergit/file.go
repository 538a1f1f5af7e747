package usergit

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// maxFile is more than any file of a repository that is read as a whole has:
// packed-refs of a million refs are 70 MB.
const maxFile = 256 << 20

// ReadFile reads a regular file that anybody may have written, of a repository
// or a workspace. It never waits and never fills the memory: a FIFO, a device, or
// more than limit bytes are a *DamagedError. Symbolic links are followed, as Git
// does.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, info, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > limit {
		return nil, &DamagedError{Path: path, Why: fmt.Sprintf("it is longer than %d bytes", limit)}
	}
	data := make([]byte, 0, info.Size()+1) // one more, to see the end at once
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case err == io.EOF:
			return data, nil
		case err != nil:
			return nil, err
		case int64(len(data)) > limit:
			return nil, &DamagedError{Path: path, Why: fmt.Sprintf("it grows beyond %d bytes", limit)}
		case len(data) == cap(data):
			data = append(data, 0)[:len(data)]
		}
	}
}

// openRegular opens a file without waiting for anybody to write to it.
func openRegular(path string) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		err = &fs.PathError{Op: "read", Path: path, Err: syscall.EISDIR}
	case !info.Mode().IsRegular():
		err = &DamagedError{Path: path, Why: "not a regular file"}
	default:
		return f, info, nil
	}
	f.Close()
	return nil, nil, err
}
