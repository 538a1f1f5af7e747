//go:build linux

package watcher

import (
	"os"
	"sync/atomic"
	"syscall"
	"testing"
)

func TestWatchFile(t *testing.T) {
	w := newWatcher(t, Options{})
	tree := watchTree(t, w, t.TempDir())
	dir := t.TempDir() + "/home"
	mkdir(t, dir)
	var told atomic.Int32
	file, err := w.WatchFile(dir+"/git/ignore", func() { told.Add(1) })
	must(t, err)
	if file.Path() != dir+"/git/ignore" || !file.Take() {
		t.Error("the first look is not new")
	}
	steps := []struct {
		name    string
		do      func() error
		changed bool
	}{
		{"nothing", func() error { return nil }, false},
		{"another file", func() error { return os.WriteFile(dir+"/other", nil, 0o600) }, false},
		{"its directory", func() error { return os.Mkdir(dir+"/git", 0o700) }, true},
		{"created", func() error { return os.WriteFile(dir+"/git/ignore", nil, 0o600) }, true},
		{"a neighbour", func() error { return os.WriteFile(dir+"/git/config", nil, 0o600) }, false},
		{"written", func() error { return os.WriteFile(dir+"/git/ignore", []byte("x"), 0o600) }, true},
		{"a lock file", func() error { return os.WriteFile(dir+"/git/ignore.lock", []byte("y"), 0o600) }, false},
		{"replaced", func() error { return os.Rename(dir+"/git/ignore.lock", dir+"/git/ignore") }, true},
		{"written after", func() error { return os.WriteFile(dir+"/git/ignore", []byte("z"), 0o600) }, true},
		{"its directory moved", func() error { return os.Rename(dir+"/git", dir+"/tig") }, true},
		{"written where it is not", func() error { return os.WriteFile(dir+"/tig/ignore", []byte("1"), 0o600) }, false},
		{"moved back", func() error { return os.Rename(dir+"/tig", dir+"/git") }, true},
		{"removed", func() error { return os.Remove(dir + "/git/ignore") }, true},
		{"a link", func() error { return os.Symlink("../dotfiles/ignore", dir+"/git/ignore") }, true},
		{"to a directory", func() error { return os.Mkdir(dir+"/dotfiles", 0o700) }, true},
		{"to a file", func() error { return os.WriteFile(dir+"/dotfiles/ignore", nil, 0o600) }, true},
		{"written through the link", func() error { return os.WriteFile(dir+"/git/ignore", []byte("2"), 0o600) }, true},
		{"link turned", func() error {
			return os.Rename(dir+"/other", dir+"/git/ignore")
		}, true},
		{"the former target", func() error { return os.WriteFile(dir+"/dotfiles/ignore", []byte("3"), 0o600) }, false},
		{"all gone", func() error { return os.RemoveAll(dir) }, true},
		{"all back", func() error {
			return os.MkdirAll(dir+"/git/ignore", 0o700)
		}, true},
	}
	for _, s := range steps {
		before := told.Load()
		must(t, s.do())
		barrier(t, tree)
		if file.Take() != s.changed {
			t.Errorf("%s: changed is not %v", s.name, s.changed)
		}
		if s.changed {
			eventually(t, s.name+": told", func() bool { return told.Load() > before })
		}
		if file.Take() {
			t.Errorf("%s: changed twice", s.name)
		}
	}
	must(t, file.Close())
	if n := w.Stats(); n.Files != 0 || n.Watches != 2 {
		t.Errorf("%+v after Close, want the watches of cookies and the tree", n)
	}
}

// TestWatchFileInTree: the file's directory is also the tree's.
func TestWatchFileInTree(t *testing.T) {
	w := newWatcher(t, Options{})
	root := t.TempDir()
	mkdir(t, root+"/a")
	tree := watchTree(t, w, root)
	file, err := w.WatchFile(root+"/a/.gitignore", func() { _ = tree.Touch() })
	must(t, err)
	file.Take()
	must(t, os.Rename(root+"/a", root+"/b"))
	mkdir(t, root+"/a")
	write(t, root+"/a/.gitignore", "x")
	mustBe(t, barrierTake(t, tree), nil, []string{"a", "b"})
	if !file.Take() {
		t.Error("not changed")
	}
	must(t, tree.Close())
	write(t, root+"/a/.gitignore", "y")
	eventually(t, "changed after the tree was closed", file.Take)
}

func TestWatchFileCannot(t *testing.T) {
	w, p := newPicky(t, Options{})
	for name, path := range map[string]string{
		"limit":                      t.TempDir() + "/file",
		"file system without events": "/proc/sys/kernel/hostname",
		"links in a circle":          t.TempDir() + "/circle",
	} {
		p.set(nil)
		switch name {
		case "limit":
			p.set(func(string) error { return syscall.ENOSPC })
		case "links in a circle":
			must(t, os.Symlink(path, path))
		}
		file, err := w.WatchFile(path, nil)
		must(t, err)
		if name == "links in a circle" {
			file.Take()
			must(t, os.Remove(path))
			eventually(t, name+": changed", file.Take)
			continue
		}
		for range 3 {
			if !file.Take() {
				t.Errorf("%s: unchanged, as if that were known", name)
			}
		}
	}
	if !w.Stats().LimitReached {
		t.Error("the limit is not told")
	}
}
