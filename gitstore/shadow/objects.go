package shadow

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// Objects reads the objects of a Git repository: its own object directory and
// the alternates that it names, to any depth that Git allows. Every object is
// verified against its id when it is read; a tree or commit that was read a
// short while ago may be given again without being looked for. All methods are safe for concurrent
// use, also while other processes write, repack or prune the same directory; an
// object that is not found is looked up once more after the packs were listed
// again (H39).
//
// It reads loose objects and packs itself and takes delta resolution from
// go-git: go-git's own object storage is not safe for concurrent use, decodes
// every pack index into memory, and does not see another process's repack.
type Objects struct {
	root      string
	beneath   string // another object directory that is read as if root named it; "" if none
	inflaters inflaterPool
	open      fileCache
	recent    recent

	mu   sync.RWMutex
	dirs []*ObjectDir
}

// maxAlternateDepth is Git's own limit on chains of alternates.
const maxAlternateDepth = 5

// maxAlternates is more than such a file has.
const maxAlternates = 1 << 20

// UnsupportedRepositoryError says why a repository's objects cannot be read.
type UnsupportedRepositoryError struct{ Dir, Reason string }

func (e *UnsupportedRepositoryError) Error() string {
	return fmt.Sprintf("repository %s: %s", e.Dir, e.Reason)
}

// OpenObjects opens the objects of the repository whose common Git directory is
// commonDir for reading. It writes nothing there and holds no lock. A SHA-256
// repository gives an *UnsupportedRepositoryError.
func OpenObjects(commonDir string) (*Objects, error) {
	if err := checkObjectFormat(commonDir); err != nil {
		return nil, err
	}
	return openObjectDir(filepath.Join(commonDir, "objects"))
}

func openObjectDir(dir string) (*Objects, error) { return openObjectDirs(dir, "") }

func openObjectDirs(dir, beneath string) (*Objects, error) {
	if fi, err := os.Stat(dir); err != nil {
		return nil, err
	} else if !fi.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: errors.New("not a directory")}
	}
	o := &Objects{root: dir, beneath: beneath}
	o.open.max = 32
	if err := o.Rescan(); err != nil {
		return nil, err
	}
	return o, nil
}

// Close releases the descriptors held. Reads after it open files again.
func (o *Objects) Close() error {
	o.open.closeAll()
	return nil
}

// Rescan lists alternates and packs again, keeping what is still there.
func (o *Objects) Rescan() error {
	_, err := o.relist()
	return err
}

// relist is rescan; it reports whether the packs were others than before.
func (o *Objects) relist() (changed bool, err error) {
	paths, err := Alternates(o.root)
	if err == nil && o.beneath != "" {
		var more []string
		more, err = Alternates(o.beneath)
		paths = append(paths, more...)
	}
	if err != nil {
		return false, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	known := make(map[string]*ObjectDir, len(o.dirs))
	for _, d := range o.dirs {
		known[d.path] = d
	}
	dirs := make([]*ObjectDir, 0, len(paths))
	for _, p := range paths {
		d := &ObjectDir{path: p, open: &o.open}
		if old := known[p]; old != nil {
			d.Packs = old.Packs
		}
		before := d.Packs
		if err := d.list(); err != nil {
			return false, err
		}
		changed = changed || !slices.Equal(before, d.Packs)
		dirs = append(dirs, d)
	}
	o.dirs = dirs
	return changed, nil
}

func (o *Objects) current() []*ObjectDir {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.dirs
}

// Alternates returns dir and the object directories it borrows from, each once.
// One that is gone is left out, as Git does.
func Alternates(dir string) ([]string, error) {
	seen := map[string]bool{}
	var out []string
	var visit func(dir string, depth int) error
	visit = func(dir string, depth int) error {
		dir = filepath.Clean(dir)
		if seen[dir] || depth > maxAlternateDepth {
			return nil
		}
		seen[dir] = true
		out = append(out, dir)
		list, err := usergit.ReadFile(filepath.Join(dir, "info", "alternates"), maxAlternates)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		for line := range strings.SplitSeq(string(list), "\n") {
			if next := alternateDir(dir, line); next != "" {
				if err := visit(next, depth+1); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return out, visit(dir, 0)
}

// alternateDir resolves one line of info/alternates; "" if it names no
// directory. Quoted lines (C style) are unquoted only as far as Go's syntax
// agrees with Git's, which holds for what git itself writes.
func alternateDir(dir, line string) string {
	if line == "" || line[0] == '#' {
		return ""
	}
	if line[0] == '"' {
		if unquoted, ok := gitstore.UnquoteC(line); ok {
			line = unquoted
		}
	}
	if !filepath.IsAbs(line) {
		line = filepath.Join(dir, line)
	}
	if fi, err := os.Stat(line); err != nil || !fi.IsDir() {
		return ""
	}
	return line
}

// Has reports whether the object is stored. It does not read the content.
func (o *Objects) Has(id gitstore.ID) (bool, error) {
	if ok, _ := o.hasQuick(id); ok {
		return true, nil
	}
	if err := o.Rescan(); err != nil {
		return false, gitstore.AboutObject(id, err)
	}
	ok, err := o.hasQuick(id)
	return ok, gitstore.AboutObject(id, err)
}

// hasQuick may miss an object that another process packed a moment ago.
func (o *Objects) hasQuick(id gitstore.ID) (bool, error) {
	var first error
	for _, d := range o.current() {
		_, _, ok, err := d.find(id)
		if first == nil {
			first = err
		}
		if !ok {
			ok, err = d.hasLoose(id)
		}
		if ok {
			return true, nil
		}
		if first == nil {
			first = err
		}
	}
	return false, first
}

// Object returns the type and the whole content of an object. The slice is the
// caller's.
func (o *Objects) Object(id gitstore.ID) (gitstore.ObjectType, []byte, error) {
	t, data, err := o.read(id)
	return t, data, gitstore.AboutObject(id, err)
}

// mostLooks is how often an object is looked for while packs come and go.
const mostLooks = 5

// read tries what is known, then lists the packs again and tries once more, and
// again if they were repacked just then. A damaged copy is passed over while
// there may be a good one elsewhere. What it returns hashes to id.
func (o *Objects) read(id gitstore.ID) (gitstore.ObjectType, []byte, error) {
	var first error
	for attempt := range mostLooks {
		if attempt > 0 {
			changed, err := o.relist()
			if err != nil {
				return 0, nil, err
			}
			if attempt > 1 && !changed {
				break
			}
		}
		for _, d := range o.current() {
			t, data, err := d.read(o, id)
			if err == nil {
				return t, data, nil
			}
			if first == nil && !errors.Is(err, gitstore.ErrMissing) && !errors.Is(err, fs.ErrNotExist) {
				first = err
			}
		}
	}
	if first == nil {
		first = gitstore.ErrMissing
	}
	return 0, nil, first
}

func (o *Objects) typed(id gitstore.ID, want gitstore.ObjectType) ([]byte, error) {
	t, data, err := o.Object(id)
	if err == nil && t != want {
		err = gitstore.AboutObject(id, fmt.Errorf("%w: a %s, not a %s", gitstore.ErrWrongType, t, want))
	}
	return data, err
}

// Blob returns the content of a blob, verified.
func (o *Objects) Blob(id gitstore.ID) ([]byte, error) { return o.typed(id, gitstore.TypeBlob) }

// OpenPack opens a pack that is not, or not yet, one of the store's, by its path without
// extension.
func (o *Objects) OpenPack(base string, index fs.FileInfo) (*Pack, error) {
	return openPack(base, index, &o.open)
}

// ClosePack forgets the index of a pack that OpenPack has opened.
func (o *Objects) ClosePack(base string) { o.open.forget(base + ".idx") }
