//go:build linux

package watcher

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// model is what somebody knows of a tree who looked only where he was told.
type model map[string]string

// entryOf describes one path: what lstat and its content say. A directory's
// times and size follow its entries, which have descriptions of their own.
func entryOf(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return ""
	}
	var content string
	switch {
	case info.IsDir():
		return fmt.Sprint("dir ", info.Mode(), identify(info))
	case info.Mode()&fs.ModeSymlink != 0:
		content, _ = os.Readlink(path)
	case info.Mode().IsRegular():
		text, _ := os.ReadFile(path)
		content = string(text)
	}
	return fmt.Sprint(info.Mode(), identify(info), info.ModTime().UnixNano(), content)
}

func (m model) walk(root, rel string) {
	for p := range m {
		if p == rel || strings.HasPrefix(p, rel+"/") || rel == "." {
			delete(m, p)
		}
	}
	_ = filepath.WalkDir(filepath.Join(root, rel), func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == root {
			return nil
		}
		rel, _ := filepath.Rel(root, path)
		m[rel] = entryOf(path)
		if d.IsDir() && ignoreIgn(rel) {
			return filepath.SkipDir
		}
		return nil
	})
}

func (m model) learn(root string, d Dirty) {
	if d.Full {
		m.walk(root, ".")
		return
	}
	for _, rel := range d.Dirs {
		m.walk(root, rel)
	}
	for _, rel := range d.Paths {
		delete(m, rel)
		if e := entryOf(filepath.Join(root, rel)); e != "" {
			m[rel] = e
		}
	}
}

func (m model) check(t *testing.T, root, note string) {
	t.Helper()
	truth := model{}
	truth.walk(root, ".")
	if maps.Equal(m, truth) {
		return
	}
	for _, p := range slices.Sorted(maps.Keys(truth)) {
		if m[p] != truth[p] {
			t.Errorf("%s: %s\n is  %q\n not %q", note, p, truth[p], m[p])
		}
	}
	for _, p := range slices.Sorted(maps.Keys(m)) {
		if _, ok := truth[p]; !ok {
			t.Errorf("%s: %s is gone, and nobody said so", note, p)
		}
	}
	t.FailNow()
}

// vandal does random things to a tree. Many fail, which is as good.
type vandal struct {
	rnd           *rand.Rand
	root, outside string
}

func (v *vandal) name() string {
	names := []string{"a", "b", "c", "d", "\xff\xfe", "x y", "ign1"}
	return names[v.rnd.IntN(len(names))]
}

func (v *vandal) path() string {
	path := v.root
	if v.rnd.IntN(12) == 0 {
		path = v.outside
	}
	for range 1 + v.rnd.IntN(4) {
		path += "/" + v.name()
	}
	return path
}

func (v *vandal) act() {
	p, q := v.path(), v.path()
	switch v.rnd.IntN(15) {
	case 0, 1:
		_ = os.Mkdir(p, 0o755)
	case 2:
		_ = os.MkdirAll(p, 0o755)
		_ = os.WriteFile(p+"/f", []byte(fmt.Sprint(v.rnd.Uint32())), 0o644)
	case 3, 4:
		_ = os.WriteFile(p, []byte(fmt.Sprint(v.rnd.Uint32())), 0o644)
	case 5:
		if f, err := os.OpenFile(p, os.O_WRONLY|os.O_APPEND, 0); err == nil {
			_, _ = f.WriteString("more")
			_ = f.Close()
		}
	case 6:
		_ = os.Remove(p)
	case 7:
		if v.rnd.IntN(3) == 0 {
			_ = os.RemoveAll(p)
		}
	case 8, 9, 10:
		_ = os.Rename(p, q)
	case 11:
		_ = unix.Renameat2(unix.AT_FDCWD, p, unix.AT_FDCWD, q, unix.RENAME_EXCHANGE)
	case 12:
		_ = os.Symlink(q, p)
	case 13:
		_ = unix.Fchmodat(unix.AT_FDCWD, p, uint32(0o600+v.rnd.IntN(64)), 0)
	case 14: // made, filled, moved and filled on
		_ = os.Mkdir(p, 0o755)
		_ = os.WriteFile(p+"/before", []byte("1"), 0o644)
		_ = os.Rename(p, q)
		_ = os.MkdirAll(q+"/deep/deeper", 0o755)
		_ = os.WriteFile(q+"/deep/deeper/after", []byte("2"), 0o644)
	}
}

// lag holds the watcher up at one of two places while a tree changes, so that
// it looks at the tree long after what it is told of: in the loop, or before
// fsnotify has read the kernel's queue.
func lag(t *testing.T, w *Watcher, how int) (release func()) {
	t.Helper()
	switch how {
	case 1:
		held, free := make(chan struct{}), make(chan struct{})
		go func() { _ = w.call(t.Context(), func() { close(held); <-free }) }()
		<-held
		return func() { close(free) }
	case 2:
		w.queue.mu.Lock()
		return w.queue.mu.Unlock
	}
	return func() {}
}

// TestOracle: whoever looks anew only at what is dirty knows the whole tree.
func TestOracle(t *testing.T) {
	for name, vandals := range map[string]int{"one": 1, "three": 3} {
		t.Run(name, func(t *testing.T) {
			noLeaks(t)
			for seed := range uint64(2) {
				oracle(t, seed, vandals)
			}
		})
	}
}

func oracle(t *testing.T, seed uint64, vandals int) {
	w := newWatcher(t, Options{})
	root, outside := t.TempDir(), t.TempDir()
	mkdir(t, root+"/a/b")
	// A second tree of the same and one inside it share watches.
	tree, same, inner := watchTree(t, w, root), watchTree(t, w, root), watchTree(t, w, root+"/a")
	known, knownInner := model{}, model{}
	known.walk(root, ".")
	knownInner.walk(root+"/a", ".")
	knownSame := maps.Clone(known)

	for round := range 25 {
		rnd := rand.New(rand.NewPCG(seed, uint64(round)))
		for range 1 + rnd.IntN(3) {
			release := lag(t, w, rnd.IntN(3))
			var wg sync.WaitGroup
			for i := range vandals {
				v := &vandal{rand.New(rand.NewPCG(rnd.Uint64(), uint64(i))), root, outside}
				wg.Go(func() {
					for range 1 + v.rnd.IntN(30) {
						v.act()
					}
				})
			}
			wg.Wait()
			release()
		}
		note := fmt.Sprintf("seed %d round %d", seed, round)
		d := barrierTake(t, tree)
		if d.Full {
			t.Errorf("%s: Full: %s", note, d.Why)
		}
		known.learn(root, d)
		known.check(t, root, note)
		knownSame.learn(root, barrierTake(t, same))
		knownSame.check(t, root, note+" same")
		knownInner.learn(root+"/a", barrierTake(t, inner))
		if info, err := os.Lstat(root + "/a"); err == nil && info.IsDir() {
			knownInner.check(t, root+"/a", note+" inner")
		}
	}
	must(t, tree.Close())
	must(t, same.Close())
	must(t, inner.Close())
	// One for the cookies.
	if n := w.Stats().Watches; n != 1 {
		t.Errorf("%d watches are left", n)
	}
}
