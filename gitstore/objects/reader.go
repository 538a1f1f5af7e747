package objects

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/umbra-vcs/umbra/gitstore"
)

// A Reader reads the objects of a Git repository: its own object directory and
// the alternates that it names, to any depth that Git allows. Every object is
// verified against its id when it is read; a tree or commit that was read a
// short while ago may be given again without being looked for. All methods are
// safe for concurrent use, also while other processes write, repack or prune the
// same directory; an object that is not found is looked up once more after the
// packs were listed again (H39).
//
// It reads loose objects and packs itself and takes delta resolution from
// go-git: go-git's own object storage is not safe for concurrent use, decodes
// every pack index into memory, and does not see another process's repack.
type Reader struct {
	root      string
	beneath   string // another object directory that is read as if root named it; "" if none
	inflaters inflaterPool
	open      fileCache
	recent    recent

	mu   sync.RWMutex
	dirs []*Dir
}

// Open opens the objects of the repository whose common Git directory is
// commonDir for reading. It writes nothing there and holds no lock. A SHA-256
// repository gives an *UnsupportedRepositoryError.
func Open(commonDir string) (*Reader, error) {
	if err := checkObjectFormat(commonDir); err != nil {
		return nil, err
	}
	return OpenDir(filepath.Join(commonDir, "objects"), "")
}

// OpenDir opens an object directory, and reads another, unless it is "", as if the first
// one named it.
func OpenDir(dir, beneath string) (*Reader, error) {
	if fi, err := os.Stat(dir); err != nil {
		return nil, err
	} else if !fi.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: errors.New("not a directory")}
	}
	o := &Reader{root: dir, beneath: beneath}
	o.open.max = 32
	if err := o.Rescan(); err != nil {
		return nil, err
	}
	return o, nil
}

// Close releases the descriptors held. Reads after it open files again.
func (o *Reader) Close() error {
	o.open.closeAll()
	return nil
}

// Rescan lists alternates and packs again, keeping what is still there.
func (o *Reader) Rescan() error {
	_, err := o.relist()
	return err
}

// relist is rescan; it reports whether the packs were others than before.
func (o *Reader) relist() (changed bool, err error) {
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
	known := make(map[string]*Dir, len(o.dirs))
	for _, d := range o.dirs {
		known[d.path] = d
	}
	dirs := make([]*Dir, 0, len(paths))
	for _, p := range paths {
		d := &Dir{path: p, open: &o.open}
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

// Dirs are the object directories as they were listed last, the repository's own first.
func (o *Reader) Dirs() []*Dir {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.dirs
}

// Own is the repository's object directory, as opposed to its alternates.
func (o *Reader) Own() *Dir { return o.Dirs()[0] }

// Has reports whether the object is stored. It does not read the content.
func (o *Reader) Has(id gitstore.ID) (bool, error) {
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
func (o *Reader) hasQuick(id gitstore.ID) (bool, error) {
	var first error
	for _, d := range o.Dirs() {
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
func (o *Reader) Object(id gitstore.ID) (gitstore.ObjectType, []byte, error) {
	t, data, err := o.read(id)
	return t, data, gitstore.AboutObject(id, err)
}

// mostLooks is how often an object is looked for while packs come and go.
const mostLooks = 5

// read tries what is known, then lists the packs again and tries once more, and
// again if they were repacked just then. A damaged copy is passed over while
// there may be a good one elsewhere. What it returns hashes to id.
func (o *Reader) read(id gitstore.ID) (gitstore.ObjectType, []byte, error) {
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
		for _, d := range o.Dirs() {
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

// Typed returns the content of an object of that type, verified.
func (o *Reader) Typed(id gitstore.ID, want gitstore.ObjectType) ([]byte, error) {
	t, data, err := o.Object(id)
	if err == nil && t != want {
		err = gitstore.AboutObject(id, fmt.Errorf("%w: a %s, not a %s", gitstore.ErrWrongType, t, want))
	}
	return data, err
}

// Blob returns the content of a blob, verified.
func (o *Reader) Blob(id gitstore.ID) ([]byte, error) { return o.Typed(id, gitstore.TypeBlob) }

// OpenPack opens a pack that is not, or not yet, one of the store's, by its path without
// extension.
func (o *Reader) OpenPack(base string, index fs.FileInfo) (*Pack, error) {
	return openPack(base, index, &o.open)
}

// ClosePack forgets the index of a pack that OpenPack has opened.
func (o *Reader) ClosePack(base string) { o.open.forget(base + ".idx") }
