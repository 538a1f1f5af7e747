//go:build linux

package watcher

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/umbra-vcs/umbra/scripts/hazards"
)

func TestDirtyIsExact(t *testing.T) {
	long := strings.Repeat("n", 255)
	cases := map[string]struct {
		do          func(t *testing.T, root string)
		paths, dirs []string
	}{
		"nothing": {func(t *testing.T, root string) {}, nil, nil},
		"create":  {func(t *testing.T, root string) { write(t, root+"/new", "1") }, []string{"new"}, nil},
		"write":   {func(t *testing.T, root string) { write(t, root+"/dir/file", "2") }, []string{"dir/file"}, nil},
		"chmod":   {func(t *testing.T, root string) { must(t, os.Chmod(root+"/dir/file", 0o755)) }, []string{"dir/file"}, nil},
		"times": {func(t *testing.T, root string) {
			must(t, os.Chtimes(root+"/dir/file", time.Unix(0, 0), time.Unix(0, 0)))
		}, []string{"dir/file"}, nil},
		"chmod of a directory": {func(t *testing.T, root string) { must(t, os.Chmod(root+"/dir/sub", 0o700)) }, nil, []string{"dir/sub"}},
		"remove":               {func(t *testing.T, root string) { must(t, os.Remove(root+"/dir/file")) }, []string{"dir/file"}, nil},
		"rename":               {func(t *testing.T, root string) { must(t, os.Rename(root+"/dir/file", root+"/moved")) }, []string{"dir/file", "moved"}, nil},
		"replace by rename": {func(t *testing.T, root string) {
			write(t, root+"/dir/.tmp", "2")
			must(t, os.Rename(root+"/dir/.tmp", root+"/dir/file"))
		}, []string{"dir/.tmp", "dir/file"}, nil},
		"mkdir -p": {func(t *testing.T, root string) { mkdir(t, root+"/x/y/z") }, nil, []string{"x"}},
		"remove a directory": {func(t *testing.T, root string) { must(t, os.RemoveAll(root+"/dir")) },
			nil, []string{"dir"}},
		"rename a directory": {func(t *testing.T, root string) { must(t, os.Rename(root+"/dir", root+"/rid")) },
			nil, []string{"dir", "rid"}},
		"a file for a directory": {func(t *testing.T, root string) {
			must(t, os.RemoveAll(root+"/dir/sub"))
			write(t, root+"/dir/sub", "file")
		}, nil, []string{"dir/sub"}},
		"a directory for a file": {func(t *testing.T, root string) {
			must(t, os.Remove(root+"/dir/file"))
			mkdir(t, root+"/dir/file/below")
		}, nil, []string{"dir/file"}},
		"a symlink is not followed": {func(t *testing.T, root string) {
			must(t, os.Symlink(filepath.Join(root, "..", "outside"), root+"/link"))
			write(t, root+"/../outside/file", "2")
			write(t, root+"/link/file", "3")
		}, []string{"link"}, nil},
		"below an ignored directory": {func(t *testing.T, root string) {
			write(t, root+"/ignored/file", "2")
			mkdir(t, root+"/ignored/more")
			write(t, root+"/.git/HEAD", "2")
		}, nil, nil},
		"a new ignored directory": {func(t *testing.T, root string) { mkdir(t, root+"/dir/ign/x") }, []string{"dir/ign"}, nil},
		"out of an ignored directory": {func(t *testing.T, root string) {
			must(t, os.Rename(root+"/ignored", root+"/wanted"))
		}, []string{"ignored"}, []string{"wanted"}},
		"into an ignored directory": {func(t *testing.T, root string) {
			must(t, os.Rename(root+"/dir", root+"/ignored/dir"))
		}, nil, []string{"dir"}},
		"names are bytes": {func(t *testing.T, root string) {
			for _, name := range []string{"\xff\xfe", "new\nline", "e\u0301", "\u00e9", "...", " ", long} {
				mkdir(t, root+"/"+name)
				write(t, root+"/"+name+"/\x80", "1")
			}
		}, nil, []string{" ", "...", "e\u0301", "new\nline", long, "\u00e9", "\xff\xfe"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWatcher(t, Options{})
			root := t.TempDir() + "/root"
			for _, dir := range []string{root + "/dir/sub", root + "/ignored/deep", root + "/.git", root + "/../outside"} {
				mkdir(t, dir)
			}
			write(t, root+"/dir/file", "1")
			tree := watchTree(t, w, root)
			c.do(t, root)
			slices.Sort(c.dirs)
			mustBe(t, barrierTake(t, tree), c.paths, c.dirs)
			mustBe(t, barrierTake(t, tree), nil, nil)
		})
	}
}

func TestIgnoredIsNeverWatched(t *testing.T) {
	w, p := newPicky(t, Options{})
	root := t.TempDir()
	for i := range 50 {
		mkdir(t, fmt.Sprintf("%s/ignored/%d/deep", root, i))
	}
	mkdir(t, root+"/src/.git/objects")
	plain, err := fsnotify.NewWatcher()
	must(t, err)
	defer plain.Close()
	must(t, filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			err = plain.Add(path)
		}
		return err
	}))
	hazards.Shown(t, hazards.H27, len(plain.WatchList()) > 100, "a watch of each directory, ignored or not, takes a hundred where three are needed")
	hazards.Held(t, hazards.H27, "ignore rules apply before a watch is added")
	tree := watchTree(t, w, root)
	if n := w.Stats().Watches; n != 3 {
		t.Errorf("%d watches, want those of cookies, root and src", n)
	}
	must(t, os.Rename(root+"/ignored", root+"/ign2"))
	mkdir(t, root+"/src/ign3/deep")
	barrier(t, tree)
	for _, path := range p.added {
		if strings.Contains(path, "/ign") || strings.Contains(path, ".git") {
			t.Errorf("watched %s", path)
		}
	}
	if n := w.Stats().Watches; n != 3 {
		t.Errorf("%d watches afterwards, want 3", n)
	}
}

func TestSetIgnored(t *testing.T) {
	w := newWatcher(t, Options{})
	root := t.TempDir()
	mkdir(t, root+"/ignored/deep")
	mkdir(t, root+"/src/deep")
	tree := watchTree(t, w, root)
	must(t, tree.SetIgnored(func(rel string) bool { return rel == "src" }))
	mustFull(t, barrierTake(t, tree), WhyRules)
	if n := w.Stats().Watches; n != 4 {
		t.Errorf("%d watches, want cookies, root, ignored, ignored/deep", n)
	}
	write(t, root+"/ignored/deep/file", "1")
	write(t, root+"/src/deep/file", "1")
	mustBe(t, barrierTake(t, tree), []string{"ignored/deep/file"}, nil)
}

// TestFreshDirectories: H37, 2,118 of 3,000 files gave no event.
func TestFreshDirectories(t *testing.T) {
	w := newWatcher(t, Options{})
	root := t.TempDir()
	tree := watchTree(t, w, root)
	var rels []string
	for i := range 2000 {
		dir := fmt.Sprintf("d%d/e%d/f%d", i%10, i%100, i)
		mkdir(t, root+"/"+dir)
		rels = append(rels, dir+"/file")
		write(t, root+"/"+dir+"/file", "1")
	}
	d := barrierTake(t, tree)
	if d.Full {
		t.Fatalf("Full: %s", d.Why)
	}
	mustCover(t, d, rels...)
	for _, rel := range rels {
		write(t, root+"/"+rel, "2")
	}
	mustBe(t, barrierTake(t, tree), slices.Sorted(slices.Values(rels)), nil)
}

// TestMovedUnseen: directories that moved, once or there and back, while
// nobody looked are still watched at the end.
func TestMovedUnseen(t *testing.T) {
	moves := map[string]func(t *testing.T, root string) (now string){
		"there and back": func(t *testing.T, root string) string {
			must(t, os.Rename(root+"/p/a", root+"/x"))
			must(t, os.Rename(root+"/x", root+"/p/a"))
			return "p/a"
		},
		"into a new directory": func(t *testing.T, root string) string {
			mkdir(t, root+"/q")
			must(t, os.Rename(root+"/p/a", root+"/q/b"))
			return "q/b"
		},
		"out, and in again elsewhere": func(t *testing.T, root string) string {
			must(t, os.Rename(root+"/p", root+"/../outside"))
			mkdir(t, root+"/q")
			must(t, os.Rename(root+"/../outside", root+"/q/p"))
			return "q/p/a"
		},
		"another took its place": func(t *testing.T, root string) string {
			must(t, os.Rename(root+"/p", root+"/old"))
			mkdir(t, root+"/p/a/sub")
			return "p/a"
		},
		"its successor too": func(t *testing.T, root string) string {
			must(t, os.Rename(root+"/p", root+"/old"))
			mkdir(t, root+"/p/a/sub")
			return "old/a"
		},
		"three times": func(t *testing.T, root string) string {
			must(t, os.Rename(root+"/p", root+"/q"))
			must(t, os.Rename(root+"/q/a", root+"/r"))
			must(t, os.Rename(root+"/r", root+"/q/s"))
			return "q/s"
		},
	}
	for name, move := range moves {
		for how := range 3 {
			t.Run(fmt.Sprint(name, how), func(t *testing.T) {
				w := newWatcher(t, Options{})
				root := t.TempDir() + "/root"
				mkdir(t, root+"/p/a/sub")
				tree := watchTree(t, w, root)
				release := lag(t, w, how)
				now := move(t, root)
				release()
				mustCover(t, barrierTake(t, tree), now, "p/a")
				write(t, root+"/"+now+"/f", "1")
				write(t, root+"/"+now+"/sub/f", "1")
				mustBe(t, barrierTake(t, tree), []string{now + "/f", now + "/sub/f"}, nil)
			})
		}
	}
}

func TestReturn(t *testing.T) {
	w := newWatcher(t, Options{})
	root := t.TempDir()
	mkdir(t, root+"/a")
	tree := watchTree(t, w, root)
	write(t, root+"/a/one", "1")
	mkdir(t, root+"/new")
	d := barrierTake(t, tree)
	if tree.Return(d); tree.Clean() {
		t.Error("clean although something was returned")
	}
	write(t, root+"/a/two", "1")
	mustBe(t, barrierTake(t, tree), []string{"a/one", "a/two"}, []string{"new"})
	if !tree.Clean() {
		t.Error("not clean after Take")
	}
	tree.Return(Dirty{Full: true, Why: "first look: of all"})
	write(t, root+"/a/two", "2")
	if d := barrierTake(t, tree); d.Why != "first look: of all" || !d.Full || d.Paths != nil {
		t.Errorf("%+v", d)
	}
}

func TestBoundedMemory(t *testing.T) {
	w := newWatcher(t, Options{MaxPaths: 10})
	root := t.TempDir()
	mkdir(t, root+"/a/b")
	mkdir(t, root+"/c")
	tree := watchTree(t, w, root)
	for i := range 100 {
		write(t, fmt.Sprint(root, "/a/b/", i), "1")
	}
	write(t, root+"/a/x", "1")
	write(t, root+"/c/x", "1")
	mustBe(t, barrierTake(t, tree), []string{"a/x", "c/x"}, []string{"a/b"})
	for i := range 100 {
		write(t, fmt.Sprint(root, "/", i), "1")
	}
	mustFull(t, barrierTake(t, tree), WhyTooMany)
	mustBe(t, barrierTake(t, tree), nil, nil)
}

func TestUnreadableDirectory(t *testing.T) {
	w, p := newPicky(t, Options{})
	root := t.TempDir()
	mkdir(t, root+"/closed/deep")
	p.set(func(path string) error {
		if strings.HasSuffix(path, "/closed") {
			return fs.ErrPermission
		}
		return nil
	})
	tree := watchTree(t, w, root)
	mustBe(t, barrierTake(t, tree), nil, nil)
	p.set(nil)
	must(t, os.Chmod(root+"/closed", 0o750))
	mustBe(t, barrierTake(t, tree), nil, []string{"closed"})
	write(t, root+"/closed/deep/file", "1")
	mustBe(t, barrierTake(t, tree), []string{"closed/deep/file"}, nil)
}

func TestFileSystemWithoutEvents(t *testing.T) {
	w := newWatcher(t, Options{})
	tree, err := w.Watch("/proc/sys/kernel", nil)
	must(t, err)
	for range 3 {
		mustFull(t, barrierTake(t, tree), WhyFileSystem)
	}
}

func TestWatchRefuses(t *testing.T) {
	w := newWatcher(t, Options{})
	dir := t.TempDir()
	write(t, dir+"/file", "")
	for _, root := range []string{dir + "/missing", dir + "/file"} {
		if _, err := w.Watch(root, nil); err == nil {
			t.Errorf("watched %s", root)
		}
	}
	must(t, os.Symlink(dir, dir+"/link"))
	tree, err := w.Watch(dir+"/link", nil)
	must(t, err)
	if real, _ := filepath.EvalSymlinks(dir); tree.Root() != real {
		t.Errorf("Root is %s", tree.Root())
	}
}

func TestClosedTree(t *testing.T) {
	w := newWatcher(t, Options{})
	root := t.TempDir()
	mkdir(t, root+"/a")
	tree, other := watchTree(t, w, root), watchTree(t, w, root)
	must(t, tree.Close())
	mustFull(t, barrierTake(t, tree), WhyUnwatched)
	write(t, root+"/a/f", "1")
	mustBe(t, barrierTake(t, other), []string{"a/f"}, nil)
}
