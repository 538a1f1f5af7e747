package daemon

import (
	"errors"
	"log/slog"
	"os"
	"sync"

	"github.com/umbra-vcs/umbra/missions/home"
)

// homeLog is the log in a home.
type homeLog struct {
	*slog.Logger
	file *rotatingFile
}

// openLog makes no file yet: the first line does.
func openLog(h home.Home) homeLog {
	file := &rotatingFile{name: h.LogFile(), limit: logLimit}
	return homeLog{slog.New(slog.NewTextHandler(file, nil)), file}
}

func (l homeLog) close() error { return l.file.Close() }

// logLimit is how long a log may grow, in bytes, before a new one is begun.
// One old log is kept.
const logLimit = 4 << 20

// rotatingFile appends to a file and, when that is too long, moves it aside.
// It is safe for concurrent use.
type rotatingFile struct {
	name  string
	limit int64

	mu   sync.Mutex
	file *os.File
	size int64
}

func (f *rotatingFile) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file != nil && f.size+int64(len(p)) > f.limit {
		// A line is lost rather than the log if the disk refuses.
		_ = errors.Join(f.file.Close(), os.Rename(f.name, f.name+".1"))
		f.file = nil
	}
	if f.file == nil {
		file, err := os.OpenFile(f.name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return 0, err
		}
		f.file, f.size = file, 0
		if info, err := file.Stat(); err == nil {
			f.size = info.Size()
		}
	}
	n, err := f.file.Write(p)
	f.size += int64(n)
	return n, err
}

// Close closes the file; a later Write opens it again.
func (f *rotatingFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return nil
	}
	file := f.file
	f.file = nil
	return file.Close()
}
