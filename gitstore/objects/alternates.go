package objects

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// maxAlternates is more than such a file has.
const maxAlternates = 1 << 20

// maxAlternateDepth is Git's own limit on chains of alternates.
const maxAlternateDepth = 5

// Alternates returns dir and the object directories it borrows from, each once.
// One that is gone is left out, as Git does.
func Alternates(dir string) ([]string, error) {
	seen := map[string]bool{}
	var out []string
	var visit func(dir string, depth int) error
	visit = func(dir string, depth int) error {
		dir = filepath.Clean(dir)
		if seen[dir] || depth > maxAlternateDepth {
			return nil
		}
		seen[dir] = true
		out = append(out, dir)
		list, err := usergit.ReadFile(filepath.Join(dir, "info", "alternates"), maxAlternates)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		for line := range strings.SplitSeq(string(list), "\n") {
			if next := alternateDir(dir, line); next != "" {
				if err := visit(next, depth+1); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return out, visit(dir, 0)
}

// alternateDir resolves one line of info/alternates; "" if it names no
// directory. Quoted lines (C style) are unquoted only as far as Go's syntax
// agrees with Git's, which holds for what git itself writes.
func alternateDir(dir, line string) string {
	if line == "" || line[0] == '#' {
		return ""
	}
	if line[0] == '"' {
		if unquoted, ok := gitstore.UnquoteC(line); ok {
			line = unquoted
		}
	}
	if !filepath.IsAbs(line) {
		line = filepath.Join(dir, line)
	}
	if fi, err := os.Stat(line); err != nil || !fi.IsDir() {
		return ""
	}
	return line
}
