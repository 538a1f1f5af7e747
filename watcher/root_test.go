//go:build linux

package watcher

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestRootMissingOrReplaced(t *testing.T) {
	cases := map[string]struct {
		away, back func(root string) error
	}{
		"deleted": {os.RemoveAll, func(root string) error { return os.MkdirAll(root+"/dir", 0o755) }},
		"moved and back": {
			func(root string) error { return os.Rename(root, root+".away") },
			func(root string) error { return os.Rename(root+".away", root) }},
		"moved, another made": {
			func(root string) error { return os.Rename(root, root+".away") },
			func(root string) error { return os.MkdirAll(root+"/dir", 0o755) }},
		"its parent moved": {
			func(root string) error { return os.Rename(filepath.Dir(root), filepath.Dir(root)+".away") },
			func(root string) error { return os.MkdirAll(root+"/dir", 0o755) }},
		"a file instead": {
			func(root string) error { return errors.Join(os.RemoveAll(root), os.WriteFile(root, nil, 0o600)) },
			func(root string) error { return errors.Join(os.Remove(root), os.MkdirAll(root+"/dir", 0o755)) }},
		"a symlink instead": {
			func(root string) error {
				return errors.Join(os.Rename(root, root+".away"), os.Symlink(root+".away", root))
			},
			func(root string) error { return errors.Join(os.Remove(root), os.Rename(root+".away", root)) }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			noLeaks(t)
			w := newWatcher(t, Options{})
			root := t.TempDir() + "/parent/root"
			mkdir(t, root+"/dir")
			tree := watchTree(t, w, root)
			for range 2 {
				must(t, c.away(root))
				for range 2 {
					mustFull(t, barrierTake(t, tree), WhyRoot)
				}
				must(t, c.back(root))
				mustFull(t, barrierTake(t, tree), WhyRoot)
				write(t, root+"/dir/file", "1")
				mustBe(t, barrierTake(t, tree), []string{"dir/file"}, nil)
				must(t, os.RemoveAll(root+".away"))
				must(t, os.RemoveAll(filepath.Dir(root)+".away"))
			}
			// At once, with nobody looking between.
			must(t, c.away(root))
			must(t, c.back(root))
			mustFull(t, barrierTake(t, tree), WhyRoot)
		})
	}
}

func TestRootAttributes(t *testing.T) {
	w := newWatcher(t, Options{})
	root := t.TempDir()
	tree := watchTree(t, w, root)
	must(t, os.Chmod(root, 0o711))
	mustFull(t, barrierTake(t, tree), WhyRootMode)
	mustBe(t, barrierTake(t, tree), nil, nil)
}

// TestMountBelow: a file system without events below one that has them.
func TestMountBelow(t *testing.T) {
	w := newWatcher(t, Options{})
	tree, err := w.Watch("/", func(rel string) bool { return rel != "proc" })
	must(t, err)
	for range 2 {
		mustFull(t, barrierTake(t, tree), WhyFileSystem)
	}
	if err := tree.SetIgnored(func(rel string) bool { return true }); err != nil {
		t.Fatal(err)
	}
	mustFull(t, barrierTake(t, tree), WhyRules)
}
