package missions

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// LookPath finds a program as a shell in dir would, on the PATH given: that of
// the agent's environment, which need not be this process's.
func LookPath(program, dir, path string) (string, error) {
	if strings.Contains(program, string(filepath.Separator)) {
		full := program
		if !filepath.IsAbs(full) {
			full = filepath.Join(dir, program)
		}
		if !isRunnable(full) {
			return "", Errorf(KindFailed, "", "%s can't be run: there is no such program", program)
		}
		return full, nil
	}
	for _, at := range filepath.SplitList(path) {
		if !filepath.IsAbs(at) {
			at = filepath.Join(dir, at)
		}
		if full := filepath.Join(at, program); isRunnable(full) {
			return full, nil
		}
	}
	return "", Errorf(KindFailed, "install it, or give its path", "%s is not on PATH", program)
}

// AbsolutePathList is a PATH without what would be looked for in the directory that
// one is in: relative and empty entries.
func AbsolutePathList(path string) string {
	list := slices.DeleteFunc(filepath.SplitList(path), func(at string) bool { return !filepath.IsAbs(at) })
	return strings.Join(list, string(filepath.ListSeparator))
}

func isRunnable(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}
