package fork

import (
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// share makes target a copy of from that shares its blocks (reflink).
func share(from, target *os.File) error {
	return unix.IoctlFileClone(int(target.Fd()), int(from.Fd()))
}

// canShare tells whether a file made in dir could share the blocks of the file
// at path. It leaves nothing behind.
func canShare(path, dir string) bool {
	from, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer from.Close()
	target, err := os.OpenFile(filepath.Clean(dir), os.O_RDWR|unix.O_TMPFILE, 0o600)
	if err != nil {
		return false
	}
	defer target.Close()
	return share(from, target) == nil
}

// copySparse copies a file that has holes. It reports false if it has none, or
// if its file system does not tell.
func copySparse(from, target *os.File, size int64) (bool, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(from.Fd()), &st); err != nil || st.Blocks*512 >= size {
		return false, nil
	}
	if err := target.Truncate(size); err != nil {
		return false, err
	}
	for at := int64(0); at < size; {
		data, err := unix.Seek(int(from.Fd()), at, unix.SEEK_DATA)
		if err == unix.ENXIO {
			break
		}
		if err != nil {
			return false, rewind(from, target)
		}
		hole, err := unix.Seek(int(from.Fd()), data, unix.SEEK_HOLE)
		if err != nil {
			return false, rewind(from, target)
		}
		if _, err := target.Seek(data, io.SeekStart); err != nil {
			return false, err
		}
		if _, err := from.Seek(data, io.SeekStart); err != nil {
			return false, err
		}
		if _, err := io.CopyN(target, from, hole-data); err != nil && err != io.EOF {
			return false, err
		}
		at = hole
	}
	return true, nil
}

func setModTime(f *os.File, mtime time.Time) error {
	spec, err := unix.TimeToTimespec(mtime)
	if err != nil {
		return err
	}
	return unix.UtimesNanoAt(int(f.Fd()), "", []unix.Timespec{spec, spec}, unix.AT_EMPTY_PATH)
}
