package main

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

// What nobody may read is in no snapshot: it is listed as skipped.

// editClose takes all permissions off a file, or off a directory with what is in
// it.
func (w *world) editClose() error {
	if !w.closes {
		return w.editMode()
	}
	if len(w.closed) > 5 {
		return w.editOpen()
	}
	at := w.anyRegular()
	files := []string{at}
	if dir := path.Dir(at); w.rand.IntN(2) == 0 && dir != "." && !w.closedBelow(dir) && len(w.below(dir)) < fewest/2 {
		at, files = dir, w.below(dir)
	}
	if slices.ContainsFunc(files, func(name string) bool { return w.linked(name) != nil }) || len(w.names)-len(files) < fewest {
		return w.editMode()
	}
	if err := os.Chmod(w.path(at), 0); err != nil {
		return err
	}
	w.closed = append(w.closed, at)
	for _, name := range files {
		w.hidden[name] = w.files[name]
		w.forget(name)
	}
	return nil
}

// editOpen makes readable again what editClose has closed.
func (w *world) editOpen() error {
	if len(w.closed) == 0 {
		return w.editInPlace()
	}
	i := w.rand.IntN(len(w.closed))
	at := w.closed[i]
	perm := fs.FileMode(0o755)
	if e, file := w.hidden[at]; file && e.mode == modeFile {
		perm = 0o644
	}
	if err := os.Chmod(w.path(at), perm); err != nil {
		return err
	}
	w.closed = slices.Delete(w.closed, i, i+1)
	for _, name := range slices.Sorted(maps.Keys(w.hidden)) {
		if name == at || strings.HasPrefix(name, at+"/") {
			w.put(name, w.hidden[name])
			delete(w.hidden, name)
		}
	}
	return nil
}

// closedBelow reports whether something below a directory is closed.
func (w *world) closedBelow(dir string) bool {
	return slices.ContainsFunc(w.closed, func(at string) bool { return strings.HasPrefix(at, dir+"/") })
}
