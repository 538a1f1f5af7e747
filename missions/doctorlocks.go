package missions

import (
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/lock"
)

// locks checks that what stands in the places of lock files is files: anything else
// keeps everybody from what the lock is for, and guards nothing. It is set aside.
func (d *examination) locks() error {
	files, err := filepath.Glob(d.l.home.path("locks", "*"))
	if err != nil {
		return err
	}
	for _, path := range append(files, d.l.home.LockFile()) {
		if setAsideName(path) {
			continue
		}
		if err := lock.Check(path); err != nil {
			d.found(Problem{Invariant: "I6", Message: err.Error()}, func() error { return setAside(path) })
		}
	}
	return nil
}

// setAsideName reports whether a name is one that setAside gives.
func setAsideName(path string) bool { return strings.Contains(filepath.Base(path), asideSuffix) }
