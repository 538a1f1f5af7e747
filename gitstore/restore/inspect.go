package restore

import (
	"errors"
	"io/fs"
	"os"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/documents"
)

// finding is what kind of thing is at a path.
type finding uint8

const (
	nothing finding = iota
	content         // a regular file or a symbolic link
	folder
	special
)

// found is what is at a path now, with the hash of its content.
type found struct {
	kind  finding
	state State
	stat  beneath.Stat
}

// inspect reads what is at a path. A file that never holds still, or may not be
// read, has the zero Blob, which nothing is equal to.
func inspect(disk Disk, path string) (found, error) {
	for attempt := 0; ; attempt++ {
		l, err := lookAt(disk, path)
		if l.why == ReasonUnreadable {
			return found{kind: content, state: State{Mode: gitstore.ModeFile}}, nil
		}
		if err != nil || !l.there {
			return found{}, err
		}
		f := found{stat: l.stat}
		switch l.stat.Kind() {
		case beneath.Directory:
			f.kind = folder
			return f, nil
		case beneath.Special:
			f.kind = special
			return f, nil
		case beneath.Symlink:
			var target string
			if target, err = disk.Readlink(path); err == nil {
				f.kind = content
				f.state = State{Mode: gitstore.ModeSymlink, Blob: gitstore.HashObject(gitstore.TypeBlob, []byte(target))}
				return f, nil
			}
		default:
			f.kind = content
			if f.state, f.stat, err = inspectFile(disk, path); err == nil {
				return f, nil
			}
			if errors.Is(err, fs.ErrPermission) {
				return found{kind: content, state: State{Mode: fileMode(l.stat)}, stat: l.stat}, nil
			}
		}
		if attempt >= 3 {
			return found{}, err
		}
	}
}

func inspectFile(disk Disk, path string) (State, beneath.Stat, error) {
	file, st, err := disk.Open(path)
	if err != nil {
		return State{}, st, err
	}
	defer file.Close()
	id, err := hashFile(file)
	return State{Mode: fileMode(st), Blob: id, Perm: documents.KnownPerm(st.Perm() & 0o777)}, st, err
}

func fileMode(st beneath.Stat) gitstore.Mode {
	if st.Executable() {
		return gitstore.ModeExec
	}
	return gitstore.ModeFile
}

// hashFile gives the zero ID for a file that grows or shrinks whenever it is
// read.
func hashFile(file *os.File) (gitstore.ID, error) {
	for range 3 {
		st, err := beneath.StatFile(file)
		if err != nil {
			return gitstore.ID{}, err
		}
		if _, err := file.Seek(0, 0); err != nil {
			return gitstore.ID{}, err
		}
		id, err := gitstore.HashBlob(file, st.Size)
		if !errors.Is(err, gitstore.ErrSizeChanged) {
			return id, err
		}
	}
	return gitstore.ID{}, nil
}
