package usergit

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
)

// Move is what HEAD's log says of its last move.
type Move struct {
	To  ID     // what HEAD named after it
	Why string // in Git's words, such as "commit: subject"; may be anything
}

// mostMove bounds how much of HEAD's log is read, from its end: a line is as long
// as a subject, which may be anything.
const mostMove = 64 << 10

// LastMove reads the end of HEAD's log, which each work tree has of its own. The
// zero Move is a log that says nothing: there need be none. The format is that
// of gitrepository-layout(5), "logs".
func (r *Repository) LastMove() (Move, error) {
	f, info, err := openRegular(filepath.Join(r.GitDir, "logs", "HEAD"))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return Move{}, nil
	}
	if err != nil {
		return Move{}, err
	}
	defer f.Close()
	tail := make([]byte, min(info.Size(), mostMove))
	if n, err := f.ReadAt(tail, info.Size()-int64(len(tail))); err == io.EOF {
		tail = tail[:n] // it was cut meanwhile
	} else if err != nil {
		return Move{}, err
	}
	line := strings.TrimRight(string(tail), "\n")
	line = line[strings.LastIndexByte(line, '\n')+1:]
	head, why, _ := strings.Cut(line, "\t")
	fields := strings.SplitN(head, " ", 3)
	if len(fields) < 3 {
		return Move{}, nil
	}
	to, err := r.parseID(fields[1])
	if err != nil {
		return Move{}, nil // the rest of a line that is longer than what was read
	}
	return Move{To: to, Why: why}, nil
}
