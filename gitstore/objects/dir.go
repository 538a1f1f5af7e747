package objects

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
)

// Dir is one directory of loose objects and packs. It is immutable once
// listed; the Reader replaces it.
type Dir struct {
	path  string
	open  *fileCache
	Packs []*Pack
}

// list reads the pack directory. Packs known before are kept if their index is
// the same file, so that their fan-out is read once. An index whose pack is gone
// says nothing of what is stored: it is left out, here and so for all who ask.
func (d *Dir) list() error {
	names, err := os.ReadDir(filepath.Join(d.path, "pack"))
	if errors.Is(err, fs.ErrNotExist) {
		d.Packs = nil
		return nil
	}
	if err != nil {
		return err
	}
	known := make(map[string]*Pack, len(d.Packs))
	for _, p := range d.Packs {
		known[p.Base] = p
	}
	packs := make([]*Pack, 0, len(names)/2)
	for _, e := range names {
		name, isIndex := strings.CutSuffix(e.Name(), ".idx")
		if !isIndex || !strings.HasPrefix(name, "pack-") {
			continue
		}
		base := filepath.Join(d.path, "pack", name)
		p, err := d.pack(base, known[base])
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			p = &Pack{Base: base, open: d.open, Broken: err}
		}
		packs = append(packs, p)
		delete(known, base)
	}
	for base := range known {
		d.open.forget(base + ".idx")
		d.open.forget(base + ".pack")
	}
	d.Packs = packs
	return nil
}

func (d *Dir) pack(base string, known *Pack) (*Pack, error) {
	fi, err := os.Stat(base + ".idx")
	if err != nil {
		return nil, err
	}
	content, err := os.Stat(base + ".pack")
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() || !content.Mode().IsRegular() {
		return nil, gitstore.Damaged("pack %s: %v", base, disk.ErrNotRegular)
	}
	if known != nil && known.Broken == nil && os.SameFile(known.info, fi) && known.info.Size() == fi.Size() {
		return known, nil
	}
	return openPack(base, fi, d.open)
}

// find looks in the packs. An index that cannot be read hides nothing of the
// other packs; its error is given only if no other pack has the object.
func (d *Dir) find(id gitstore.ID) (*Pack, int64, bool, error) {
	var broken error
	for _, p := range d.Packs {
		off, ok, err := p.Find(id)
		if ok {
			return p, off, true, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			broken = err
		}
	}
	return nil, 0, false, broken
}

// LoosePath is where a loose object is, or would be.
func (d *Dir) LoosePath(id gitstore.ID) string {
	hex := id.String()
	return d.path + "/" + hex[:2] + "/" + hex[2:]
}

func (d *Dir) hasLoose(id gitstore.ID) (bool, error) {
	fi, err := os.Lstat(d.LoosePath(id))
	if err == nil && fi.Mode().Type() == fs.ModeSymlink {
		fi, err = os.Stat(d.LoosePath(id))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if fi.Size() == 0 || !fi.Mode().IsRegular() {
		// A power cut on a store written by others leaves empty files; such
		// an object is not there, nor is what is a FIFO or a device.
		return false, nil
	}
	return true, nil
}

// read tries one copy after the other: a damaged one may have been written again.
func (d *Dir) read(o *Reader, id gitstore.ID) (gitstore.ObjectType, []byte, error) {
	var broken error
	for _, p := range d.Packs {
		off, ok, err := p.Find(id)
		if ok {
			var t gitstore.ObjectType
			var data []byte
			if t, data, err = p.Read(o, off); err == nil && gitstore.HashFast(t, data) != id {
				err = gitstore.Damaged("its content hashes to another id")
			}
			if err == nil {
				return t, data, nil
			}
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			broken = err
		}
	}
	t, data, err := o.ReadLoose(d.LoosePath(id))
	if err == nil && gitstore.HashFast(t, data) != id {
		err = gitstore.Damaged("its content hashes to another id")
	}
	if errors.Is(err, fs.ErrNotExist) && broken != nil {
		return 0, nil, broken
	}
	return t, data, err
}
