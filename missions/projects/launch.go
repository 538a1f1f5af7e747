package projects

import (
	"path/filepath"
)

func ResolveLinks(dir string) string {
	if r, err := filepath.EvalSymlinks(dir); err == nil {
		return r
	}
	return dir
}
