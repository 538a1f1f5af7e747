package gitstore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/disk"
)

// objectDir is one directory of loose objects and packs. It is immutable once
// listed; Objects replaces it.
type objectDir struct {
	path  string
	open  *fileCache
	packs []*pack
}

// list reads the pack directory. Packs known before are kept if their index is
// the same file, so that their fan-out is read once. An index whose pack is gone
// says nothing of what is stored: it is left out, here and so for all who ask.
func (d *objectDir) list() error {
	names, err := os.ReadDir(filepath.Join(d.path, "pack"))
	if errors.Is(err, fs.ErrNotExist) {
		d.packs = nil
		return nil
	}
	if err != nil {
		return err
	}
	known := make(map[string]*pack, len(d.packs))
	for _, p := range d.packs {
		known[p.base] = p
	}
	packs := make([]*pack, 0, len(names)/2)
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
			p = &pack{base: base, open: d.open, broken: err}
		}
		packs = append(packs, p)
		delete(known, base)
	}
	for base := range known {
		d.open.forget(base + ".idx")
		d.open.forget(base + ".pack")
	}
	d.packs = packs
	return nil
}

func (d *objectDir) pack(base string, known *pack) (*pack, error) {
	fi, err := os.Stat(base + ".idx")
	if err != nil {
		return nil, err
	}
	content, err := os.Stat(base + ".pack")
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() || !content.Mode().IsRegular() {
		return nil, Damaged("pack %s: %v", base, disk.ErrNotRegular)
	}
	if known != nil && known.broken == nil && os.SameFile(known.info, fi) && known.info.Size() == fi.Size() {
		return known, nil
	}
	return openPack(base, fi, d.open)
}

// find looks in the packs. An index that cannot be read hides nothing of the
// other packs; its error is given only if no other pack has the object.
func (d *objectDir) find(id ID) (*pack, int64, bool, error) {
	var broken error
	for _, p := range d.packs {
		off, ok, err := p.find(id)
		if ok {
			return p, off, true, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			broken = err
		}
	}
	return nil, 0, false, broken
}

func (d *objectDir) loosePath(id ID) string {
	hex := id.String()
	return d.path + "/" + hex[:2] + "/" + hex[2:]
}

func (d *objectDir) hasLoose(id ID) (bool, error) {
	fi, err := os.Lstat(d.loosePath(id))
	if err == nil && fi.Mode().Type() == fs.ModeSymlink {
		fi, err = os.Stat(d.loosePath(id))
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
func (d *objectDir) read(o *Objects, id ID) (ObjectType, []byte, error) {
	var broken error
	for _, p := range d.packs {
		off, ok, err := p.find(id)
		if ok {
			var t ObjectType
			var data []byte
			if t, data, err = p.read(o, off); err == nil && HashFast(t, data) != id {
				err = Damaged("its content hashes to another id")
			}
			if err == nil {
				return t, data, nil
			}
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			broken = err
		}
	}
	t, data, err := o.readLoose(d.loosePath(id))
	if err == nil && HashFast(t, data) != id {
		err = Damaged("its content hashes to another id")
	}
	if errors.Is(err, fs.ErrNotExist) && broken != nil {
		return 0, nil, broken
	}
	return t, data, err
}
