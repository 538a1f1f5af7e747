package restore

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// foldingDirectory makes a directory in which names that differ only by case are one, or
// says why it cannot.
func foldingDirectory(t *testing.T, base string) (dir string, err error) {
	t.Helper()
	image, mount := filepath.Join(base, "image"), filepath.Join(base, "disk")
	dir = filepath.Join(mount, "ws")
	for _, args := range [][]string{
		{"truncate", "-s", "16M", image}, {"mkfs.ext4", "-q", "-O", "casefold", "-E", "encoding=utf8", image},
		{"mkdir", mount}, {"mount", "-o", "loop", image, mount}, {"mkdir", dir}, {"chattr", "+F", dir},
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			return "", errors.Join(err, errors.New(string(out)))
		}
		if args[0] == "mount" {
			t.Cleanup(func() { _ = unix.Unmount(mount, unix.MNT_DETACH) })
		}
	}
	return dir, nil
}

// TestCaseFoldingDirectory puts names back that differ only by case.
func TestCaseFoldingDirectory(t *testing.T) {
	base := t.TempDir()
	dir, err := foldingDirectory(t, base)
	if err != nil {
		t.Logf("NO DIRECTORY HERE FOLDS CASE: %v", err)
	}
	hazards.Needs(t, hazards.H15, err == nil, "root, mkfs.ext4 and a kernel that folds case; `TestOnlyTheCase` plays such a disk everywhere")
	l := newLabAt(t, base, dir)
	l.write("naive", "1")
	l.must(os.Rename(l.path("naive"), l.path("NAIVE")))
	l.must(os.WriteFile(l.path("naive"), []byte("1"), 0o644)) // create what the snapshot has,
	l.must(os.Remove(l.path("NAIVE")))                        // delete what it has not
	_, gone := os.Lstat(l.path("naive"))
	hazards.Shown(t, hazards.H15, errors.Is(gone, fs.ErrNotExist), "who creates one spelling and deletes the other, where case is folded, deletes the file")

	l.write("Readme", "1")
	l.write("Src/a", "a")
	to := l.capture()
	l.must(os.Rename(l.path("Readme"), l.path("README")))
	l.must(os.Rename(l.path("Src"), l.path("src")))
	l.write("src/b", "b")
	l.apply(l.plan(l.capture(), to), PrepareOptions{})
	l.want(map[string]string{"Readme": "file 1", "Src": "dir", "Src/a": "file a"})
	hazards.Held(t, hazards.H15, "in a directory that really folds case, spellings are put back by a rename")
}
