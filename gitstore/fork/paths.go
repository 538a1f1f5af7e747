package fork

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// joinPath is the path on disk of a slash-separated path below dir.
func joinPath(dir, below string) string {
	if below == "" {
		return dir
	}
	return dir + string(filepath.Separator) + filepath.FromSlash(below)
}

// inside tells whether path is dir or below it.
func inside(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

func vanished(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// resolve is path with the links in the part of it that exists resolved.
func resolve(path string) (string, error) {
	rest := ""
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		real, err := filepath.EvalSymlinks(at)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		if !vanished(err) || at == filepath.Dir(at) {
			return "", err
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// missingParents lists the directories above path that do not exist, outermost
// first.
func missingParents(path string) ([]string, error) {
	var missing []string
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		_, err := os.Stat(dir)
		if err == nil {
			return missing, nil
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return nil, err
		}
		missing = append([]string{dir}, missing...)
	}
}
