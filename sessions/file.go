package sessions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// OpenFile opens a regular file of an agent's for reading. It waits for nobody:
// a FIFO, a device, a directory and no file at all are ErrNoSession. Its name may
// have come from a hook's payload.
func OpenFile(path string) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return nil, nil, fmt.Errorf("open session %s: %w", path, ErrNoSession)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("open session: %w", err)
	}
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() {
		return f, info, nil
	}
	f.Close()
	if err == nil {
		return nil, nil, fmt.Errorf("open session %s: it is no regular file: %w", path, ErrNoSession)
	}
	return nil, nil, fmt.Errorf("open session: %w", err)
}
