package usergit

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// What is read as a whole of a repository is not longer than this.
const (
	maxFile    = 256 << 20 // an index of three million files
	MaxConfig  = 16 << 20  // the configuration of a hundred thousand branches
	maxPointer = 4 << 20   // HEAD and its like, most of which have a line
)

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
		return nil, tooLong(path, limit)
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

func tooLong(path string, limit int64) error {
	return &DamagedError{Path: path, Why: fmt.Sprintf("it is longer than %d bytes", limit)}
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
