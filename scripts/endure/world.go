package main

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// An entry is what the world knows of one file: the mode that Git gives it, and
// the id of its content.
type entry struct{ mode, id string }

// Modes as Git writes them.
const (
	modeFile = "100644"
	modeExec = "100755"
	modeLink = "120000"
)

// world is a workspace that is edited at random, and what it must hold by what
// was written: it never reads the workspace. It is for one goroutine.
type world struct {
	root    string
	outside string // beside it: nothing there is captured
	rand    *rand.Rand
	files   map[string]entry   // by path below the root, with slashes
	names   []string           // of files, in no order
	at      map[string]int     // where a path is in names
	dirty   map[string]bool    // changed since changes was asked last
	made    int                // numbers new names
	shared  []*shared          // files with several names
	closes  bool               // files can be made unreadable to Umbra
	closed  []string           // files and directories that are
	hidden  map[string]entry   // files that are, or are below one
	lag     map[string][]entry // what a snapshot may still hold of a path, of whose change no event told
}

// newWorld makes the workspace from the tree.
func newWorld(root string, tree *lab.Tree, seed uint64) (*world, error) {
	w := &world{
		root: root, outside: root + "-outside", rand: rand.New(rand.NewPCG(seed, 0)),
		files: map[string]entry{}, at: map[string]int{}, dirty: map[string]bool{}, lag: map[string][]entry{},
		hidden: map[string]entry{}, closes: os.Geteuid() != 0,
	}
	if err := errors.Join(tree.Make(root), os.Mkdir(w.outside, 0o755)); err != nil {
		return nil, err
	}
	for i := range tree.Files {
		w.put(tree.Path(i), entry{modeFile, blobID(tree.Content(i, 0))})
	}
	return w, nil
}

// blobID is what Git calls content without filters.
func blobID(content []byte) string {
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", len(content))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

func (w *world) put(name string, e entry) {
	if _, there := w.files[name]; !there {
		w.at[name] = len(w.names)
		w.names = append(w.names, name)
	}
	w.files[name] = e
	w.dirty[name] = true
}

// drop takes a name out of the workspace.
func (w *world) drop(name string) {
	w.parted(name)
	w.forget(name)
}

// forget is drop for a name whose file lives on under another.
func (w *world) forget(name string) {
	i, last := w.at[name], len(w.names)-1
	w.names[i] = w.names[last]
	w.at[w.names[i]] = i
	w.names = w.names[:last]
	delete(w.at, name)
	delete(w.files, name)
	delete(w.lag, name)
	w.dirty[name] = true
}

// changes are the paths that may differ since it was asked last, sorted.
func (w *world) changes() []string {
	var all []string
	for name := range w.dirty {
		all = append(all, name)
	}
	clear(w.dirty)
	slices.Sort(all)
	return all
}

func (w *world) path(name string) string { return filepath.Join(w.root, filepath.FromSlash(name)) }

// any is a file of the workspace.
func (w *world) any() string { return w.names[w.rand.IntN(len(w.names))] }

// anyRegular is a file that is no link.
func (w *world) anyRegular() string {
	for {
		if name := w.any(); w.files[name].mode != modeLink {
			return name
		}
	}
}

// fresh is a name that nothing ever had, in that directory.
func (w *world) fresh(dir, form string) string {
	w.made++
	return path.Join(dir, fmt.Sprintf(form, w.made))
}

// text is new content, as long as asked for or of some length.
func (w *world) text(size int) []byte {
	if size <= 0 {
		size = 1 + w.rand.IntN(6000)
	}
	w.made++
	text := []byte(strings.Repeat(fmt.Sprintf("line %d of it, %x\n", w.made, w.rand.Uint64()), size/24+1))
	return text[:size]
}

// below are the files under a directory, sorted.
func (w *world) below(dir string) []string {
	var all []string
	for _, name := range w.names {
		if strings.HasPrefix(name, dir+"/") {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// write puts new content into a file, in place or as a new one.
func (w *world) write(name string, content []byte, exec bool) error {
	mode, perm := modeFile, os.FileMode(0o644)
	if exec {
		mode, perm = modeExec, 0o755
	}
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(w.path(name), content, perm); err != nil {
		return err
	}
	w.changed(name, entry{mode, blobID(content)})
	return nil
}
