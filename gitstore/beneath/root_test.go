//go:build unix

package beneath

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/scripts/hazards"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// bothWays runs a test with the kernel's confinement and step by step.
func bothWays(t *testing.T, test func(t *testing.T, r *Root)) {
	for name, options := range map[string]Options{"resolved": {}, "stepwise": {StepByStep: true}} {
		t.Run(name, func(t *testing.T) {
			r, err := OpenWith(t.TempDir(), options)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { r.Close() })
			test(t, r)
		})
	}
}

func put(t *testing.T, r *Root, path, content string) {
	t.Helper()
	f, err := r.Create(path, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, content); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, r *Root, path string) string {
	t.Helper()
	f, st, err := r.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	content, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(content)) != st.Size || st.Kind() != File {
		t.Errorf("%s: %d bytes, stat says %d, %s", path, len(content), st.Size, st.Kind())
	}
	return string(content)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("error is %v, want %v", err, target)
	}
}

func TestFilesAndDirectories(t *testing.T) {
	bothWays(t, func(t *testing.T, r *Root) {
		must(t, r.Mkdir("a", 0o755))
		want(t, r.Mkdir("a", 0o755), fs.ErrExist)
		must(t, r.MkdirAll("a/b/c", 0o755))
		must(t, r.MkdirAll("a/b/c", 0o755))
		put(t, r, "a/b/f", "one")
		_, err := r.Create("a/b/f", 0o644)
		want(t, err, fs.ErrExist)
		if got := get(t, r, "a/b/f"); got != "one" {
			t.Errorf("content %q", got)
		}
		want(t, r.MkdirAll("a/b/f/g", 0o755), unix.ENOTDIR)
		want(t, r.Rmdir("a/b"), unix.ENOTEMPTY)
		must(t, r.Rmdir("a/b/c"))
		must(t, r.Symlink("../../target", "a/b/l"))
		if target, err := r.Readlink("a/b/l"); err != nil || target != "../../target" {
			t.Errorf("Readlink: %q, %v", target, err)
		}
		st, err := r.Lstat("a/b/l")
		must(t, err)
		if st.Kind() != Symlink {
			t.Errorf("kind %s", st.Kind())
		}
		_, err = r.Lstat("a/none/x")
		want(t, err, fs.ErrNotExist)
		must(t, r.Sync("a/b/f"))
		must(t, r.SyncDir("a/b"))
		must(t, r.SyncDir(""))
		entries, err := r.ReadDir("a/b")
		must(t, err)
		names := map[string]Kind{}
		for _, e := range entries {
			names[e.Name] = e.Kind
		}
		if len(names) != 2 || names["f"] != File || names["l"] != Symlink {
			t.Errorf("entries %v", names)
		}
		must(t, r.Unlink("a/b/l"))
		if there, err := r.Exists("a/b/l"); there || err != nil {
			t.Errorf("Exists after Unlink: %v, %v", there, err)
		}
		if there, err := r.Exists("a/b/f/below"); there || err != nil {
			t.Errorf("Exists below a file: %v, %v", there, err)
		}
	})
}

func TestHostilePathsAreRefused(t *testing.T) {
	bothWays(t, func(t *testing.T, r *Root) {
		outside := filepath.Join(filepath.Dir(r.Path()), "outside")
		for _, path := range []string{"../outside", "/" + outside, "", "a/../../outside", "a\x00"} {
			want(t, r.Mkdir(path, 0o755), ErrHostilePath)
			want(t, r.MkdirAll(path, 0o755), ErrHostilePath)
			_, err := r.Lstat(path)
			want(t, err, ErrHostilePath)
		}
		must(t, os.Mkdir(filepath.Join(r.Path(), ".git"), 0o755))
		for _, path := range []string{".git/x", ".GIT", "git~1", ".git"} {
			want(t, r.Symlink("x", path), ErrReserved)
			want(t, r.Rmdir(path), ErrReserved)
			want(t, Rename(r, path, r, "y"), ErrReserved)
			want(t, r.MkdirAll(path, 0o755), ErrReserved)
		}
		st, err := r.Lstat(".git")
		must(t, err)
		if st.Kind() != Directory {
			t.Errorf("a .git may be looked at: %s", st.Kind())
		}
	})
}

func TestNothingGoesThroughSymlinks(t *testing.T) {
	bothWays(t, func(t *testing.T, r *Root) {
		outside := t.TempDir()
		must(t, os.WriteFile(filepath.Join(outside, "f"), []byte("theirs"), 0o644))
		must(t, r.Symlink(outside, "out"))
		must(t, r.Mkdir("in", 0o755))
		must(t, r.Symlink("in", "alias"))
		put(t, r, "mine", "mine")
		must(t, os.WriteFile(filepath.Join(r.Path(), "out", "f"), []byte("ours"), 0o644))
		through, err := os.ReadFile(filepath.Join(outside, "f"))
		must(t, err)
		hazards.Shown(t, hazards.H11, string(through) == "ours", "a plain write goes through a symlink, out of the workspace")
		hazards.Held(t, hazards.H11, "no operation goes through a link, at any part of a path")
		must(t, os.WriteFile(filepath.Join(outside, "f"), []byte("theirs"), 0o644))
		for _, dir := range []string{"out", "alias"} {
			_, err := r.Lstat(dir + "/f")
			want(t, err, ErrSymlink)
			_, _, err = r.Open(dir + "/f")
			want(t, err, ErrSymlink)
			_, err = r.ReadDir(dir)
			want(t, err, ErrSymlink)
			_, err = r.Create(dir+"/new", 0o644)
			want(t, err, ErrSymlink)
			want(t, r.Mkdir(dir+"/new", 0o755), ErrSymlink)
			want(t, r.MkdirAll(dir+"/new/new", 0o755), ErrSymlink)
			want(t, r.Unlink(dir+"/f"), ErrSymlink)
			want(t, r.Chmod(dir+"/f", 0o600), ErrSymlink)
			want(t, r.Chmod(dir, 0o600), ErrSymlink)
			want(t, Rename(r, "mine", r, dir+"/f"), ErrSymlink)
			want(t, Exchange(r, "mine", r, dir+"/f"), ErrSymlink)
			want(t, Link(r, "mine", r, dir+"/g"), ErrSymlink)
		}
		must(t, os.Symlink("f", filepath.Join(outside, "l")))
		must(t, r.Symlink(filepath.Join(outside, "f"), "file"))
		_, _, err = r.Open("file")
		want(t, err, ErrSymlink)
		must(t, r.Chown("file", os.Getuid(), os.Getgid()))
		must(t, r.Chtimes("file", time.Unix(5, 0), time.Unix(6, 7)))
		st, err := r.Lstat("file")
		must(t, err)
		if st.Mtime != 6*1e9+7 {
			t.Errorf("link's mtime %d", st.Mtime)
		}
		info, err := os.Stat(filepath.Join(outside, "f"))
		must(t, err)
		if info.Mode().Perm() != 0o644 || info.ModTime().Unix() == 6 {
			t.Errorf("the file outside was touched: %v %v", info.Mode(), info.ModTime())
		}
	})
}

// H11: a directory is swapped with a link to outside while files are created.
func TestParentReplacedBySymlinkMeanwhile(t *testing.T) {
	bothWays(t, func(t *testing.T, r *Root) {
		outside := t.TempDir()
		must(t, r.Mkdir("d", 0o755))
		must(t, r.Symlink(outside, "l"))
		stop := make(chan struct{})
		var swapper sync.WaitGroup
		swapper.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				_ = exchangeAt(r.fd, "d", r.fd, "l")
			}
		})
		made, refused := 0, 0
		for deadline := time.Now().Add(patience.Of(time.Minute)); (made < 500 || refused < 500) && time.Now().Before(deadline); {
			f, err := r.Create("d/x", 0o644)
			switch {
			case err == nil:
				made++
				f.Close()
				_ = r.Unlink("d/x")
				_ = r.Unlink("l/x")
			case errors.Is(err, fs.ErrExist):
				_ = r.Unlink("d/x")
				_ = r.Unlink("l/x")
			case errors.Is(err, ErrSymlink) || errors.Is(err, unix.ENOTDIR):
				refused++
			default:
				t.Fatal(err)
			}
		}
		close(stop)
		swapper.Wait()
		if made == 0 || refused == 0 {
			t.Fatalf("the race did not happen: %d made, %d refused", made, refused)
		}
		names, err := os.ReadDir(outside)
		must(t, err)
		if len(names) != 0 {
			t.Errorf("written outside: %v", names)
		}
	})
}

func TestLongPathsAndOddNames(t *testing.T) {
	bothWays(t, func(t *testing.T, r *Root) {
		name := strings.Repeat("n", 255)
		deep := strings.Repeat(name+"/", 40) + name // 10,495 bytes
		must(t, r.MkdirAll(deep[:len(deep)-256], 0o755))
		put(t, r, deep, "deep")
		if got := get(t, r, deep); got != "deep" {
			t.Errorf("content %q", got)
		}
		must(t, r.Mkdir("top", 0o755))
		must(t, RenameNoReplace(r, deep, r, "top/f"))
		must(t, Link(r, "top/f", r, deep))
		must(t, r.Chmod(deep, 0o400))
		must(t, r.SyncDir(deep[:len(deep)-256]))
		want(t, r.Mkdir(strings.Repeat("x", 256), 0o755), unix.ENAMETOOLONG)
		odd := []string{"a b", "new\nline", "tab\t", "-rf", ":(glob)", "caf\u00e9", "cafe\u0301", "\xff\xfe", "nul", "dot."}
		for _, name := range odd {
			put(t, r, "top/"+name, name)
		}
		for _, name := range odd {
			if got := get(t, r, "top/"+name); got != name {
				t.Errorf("%q holds %q", name, got)
			}
		}
		dir, err := r.OpenDir("top")
		must(t, err)
		defer dir.Close()
		for range 2 {
			entries, err := dir.ReadDir(make([]byte, 4096))
			must(t, err)
			if len(entries) != len(odd)+1 {
				t.Errorf("%d entries, want %d", len(entries), len(odd)+1)
			}
		}
	})
}

func TestManyEntries(t *testing.T) {
	bothWays(t, func(t *testing.T, r *Root) {
		var made []string
		for i := range 1500 {
			name := ScratchName("0b2a4c5e-1111-4222-8333-444455556666", i)
			put(t, r, name, "")
			made = append(made, name)
		}
		entries, err := r.ReadDir("")
		must(t, err)
		var listed []string
		for _, e := range entries {
			listed = append(listed, e.Name)
		}
		slices.Sort(made)
		slices.Sort(listed)
		if !slices.Equal(made, listed) {
			t.Errorf("%d listed, %d made", len(listed), len(made))
		}
	})
}

func TestOpenDoesNotHangOnSpecialFiles(t *testing.T) {
	bothWays(t, func(t *testing.T, r *Root) {
		must(t, unix.Mkfifo(filepath.Join(r.Path(), "fifo"), 0o644))
		listener, err := net.Listen("unix", filepath.Join(r.Path(), "s"))
		must(t, err)
		defer listener.Close()
		must(t, r.Mkdir("d", 0o755))
		for _, name := range []string{"fifo", "s", "d"} {
			_, _, err := r.Open(name)
			want(t, err, ErrNotRegular)
		}
		st, err := r.Lstat("fifo")
		must(t, err)
		if st.Kind() != Special {
			t.Errorf("kind %s", st.Kind())
		}
		must(t, r.Chmod("fifo", 0o600))
	})
}

func TestWalkByDir(t *testing.T) {
	bothWays(t, func(t *testing.T, r *Root) {
		must(t, r.MkdirAll("a/b", 0o755))
		put(t, r, "a/b/f", "x")
		must(t, r.Symlink("b", "a/l"))
		a, err := r.OpenDir("a")
		must(t, err)
		defer a.Close()
		_, err = a.OpenDir("l")
		want(t, err, ErrSymlink)
		_, err = a.OpenDir("..")
		want(t, err, ErrHostilePath)
		_, err = a.Lstat("b/f")
		want(t, err, ErrHostilePath)
		b, err := a.OpenDir("b")
		must(t, err)
		defer b.Close()
		if b.Path() != "a/b" {
			t.Errorf("path %q", b.Path())
		}
		f, st, err := b.Open("f")
		must(t, err)
		f.Close()
		same, err := b.Lstat("f")
		must(t, err)
		if same.Identity() != st.Identity() || st.Size != 1 || st.Links != 1 {
			t.Errorf("stat %+v, lstat %+v", st, same)
		}
		if target, err := a.Readlink("l"); err != nil || target != "b" {
			t.Errorf("Readlink: %q, %v", target, err)
		}
	})
}

func TestVerifyNoticesAnotherDirectory(t *testing.T) {
	parent := t.TempDir()
	path := filepath.Join(parent, "w")
	must(t, os.Mkdir(path, 0o755))
	r, err := Open(path)
	must(t, err)
	defer r.Close()
	must(t, r.Verify())
	must(t, os.Rename(path, path+"2"))
	want(t, r.Verify(), ErrMoved)
	must(t, os.Mkdir(path, 0o755))
	want(t, r.Verify(), ErrMoved)
	if _, err := Open(filepath.Join(parent, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open of nothing: %v", err)
	}
}

func TestChangeInDir(t *testing.T) {
	bothWays(t, func(t *testing.T, r *Root) {
		must(t, r.Mkdir("d", 0o755))
		d, err := r.OpenDir("d")
		must(t, err)
		defer d.Close()
		f, err := d.Create("f", 0o640)
		must(t, err)
		must(t, f.Close())
		if st, err := r.Lstat("d/f"); err != nil || st.Kind() != File || st.Perm()&^0o640 != 0 {
			t.Errorf("made %+v, %v", st, err)
		}
		must(t, r.Symlink("elsewhere", "d/l"))
		for name, wanted := range map[string]error{
			"f": fs.ErrExist, "l": fs.ErrExist, "a/b": ErrHostilePath, "..": ErrHostilePath, "": ErrHostilePath, ".GIT": ErrReserved,
		} {
			_, err := d.Create(name, 0o600)
			want(t, err, wanted)
			want(t, d.Symlink("x", name), wanted)
		}
		must(t, d.Symlink("f", "m"))
		must(t, d.Unlink("m"))
		want(t, d.Unlink(".git"), ErrReserved)
		if target, err := r.Readlink("d/l"); err != nil || target != "elsewhere" {
			t.Errorf("link %q, %v", target, err)
		}
	})
}
