//go:build unix

package usergit

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
)

// TestDiscoverUnreadable: a repository that cannot be read for want of a
// descriptor is not taken for none.
func TestDiscoverUnreadable(t *testing.T) {
	r := newRepo(t)
	r.commit("a/b", "x")
	base := filepath.Dir(r.dir)
	linked, bare, plain := filepath.Join(base, "linked"), filepath.Join(base, "bare"), t.TempDir()
	r.git("worktree", "add", "-q", linked)
	r.git("clone", "-q", "--bare", r.dir, bare)
	dirs := []string{r.dir, filepath.Join(r.dir, "a"), linked, bare}
	found := map[string]error{}
	withoutDescriptors(t, func() {
		for _, dir := range append(dirs, plain) {
			r, err := Discover(dir)
			if err == nil {
				err = r.Unread
			}
			found[dir] = err
		}
	})
	for _, dir := range dirs {
		if !errors.Is(found[dir], syscall.EMFILE) {
			t.Errorf("Discover(%s): %v", dir, found[dir])
		}
		if r, err := Discover(dir); err != nil || r.Unread != nil {
			t.Errorf("Discover(%s) with descriptors: %+v, %v", dir, r, err)
		}
	}
	if !errors.Is(found[plain], ErrNoRepository) {
		t.Errorf("where no repository is: %v", found[plain])
	}
}

// withoutDescriptors does what opens no file.
func withoutDescriptors(t *testing.T, do func()) {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	none := limit
	none.Cur = 0
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	defer func() { // also when do panics
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			t.Error(err)
		}
	}()
	do()
}
