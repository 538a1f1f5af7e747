package gitstore

import (
	"bufio"
	"os"
	"path/filepath"
)

// unverifiedDir lists what was borrowed and whose content is not proved yet: a
// file for each pack, of the pack's name, and files loose-* with the ids of
// loose objects, one a line.
const unverifiedDir = "umbra/unverified"

// noteLoose lists loose objects as unverified, before they get their names.
func (b *borrowing) noteLoose(paths map[ID]string) error {
	dir := filepath.Join(b.store.dir, unverifiedDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "loose-*")
	if err != nil {
		return err
	}
	defer f.Close()
	out := bufio.NewWriter(f)
	for id := range paths {
		if _, err := out.WriteString(id.String() + "\n"); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	b.fresh = append(b.fresh, f.Name(), dir)
	return f.Close()
}

// notePack lists a pack as unverified, before it gets its name.
func (b *borrowing) notePack(name string) error {
	dir := filepath.Join(b.store.dir, unverifiedDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}
