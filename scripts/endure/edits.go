package main

import (
	"fmt"
	"os"
	"path"
	"time"
)

// An edit changes the workspace as editors, tools and people do.
type edit struct {
	name  string
	often int // beside the others
	do    func(*world) error
}

func edits() []edit {
	return []edit{
		{"write in place", 30, (*world).editInPlace},
		{"replace by rename", 15, (*world).editByRename},
		{"append", 10, (*world).editAppend},
		{"same size, time put back", 6, (*world).editUnseen},
		{"create", 12, (*world).editCreate},
		{"storm in new directories", 3, (*world).editStorm},
		{"remove", 10, (*world).editRemove},
		{"rename", 6, (*world).editRename},
		{"rename a directory", 2, (*world).editRenameDirectory},
		{"remove a directory", 1, (*world).editRemoveDirectory},
		{"executable or not", 3, (*world).editMode},
		{"link", 3, (*world).editLink},
		{"file becomes a directory", 2, (*world).editIntoDirectory},
		{"empty", 2, (*world).editEmpty},
		{"unreadable", 2, (*world).editClose},
		{"readable again", 2, (*world).editOpen},
		{"hard link", 3, (*world).editHardLink},
		{"hard link from outside", 2, (*world).editLinkOutside},
		{"write through another name", 4, (*world).editThroughLink},
		{"write through a mapping", 4, (*world).editMapped},
		{"create, the directory's time put back", 3, (*world).editBehindDirectory},
		{"time ahead or long ago", 3, (*world).editTime},
	}
}

// edit makes one edit at random and returns its name.
func (w *world) edit() (string, error) {
	all, sum := edits(), 0
	for _, e := range all {
		sum += e.often
	}
	n := w.rand.IntN(sum)
	for _, e := range all {
		if n -= e.often; n >= 0 {
			continue
		}
		if err := e.do(w); err != nil {
			return e.name, fmt.Errorf("%s: %w", e.name, err)
		}
		return e.name, nil
	}
	return "", nil
}

func (w *world) editInPlace() error {
	name := w.anyRegular()
	return w.write(name, w.text(0), w.files[name].mode == modeExec)
}

func (w *world) editByRename() error {
	name := w.anyRegular()
	content, temp := w.text(0), w.path(name)+".swap"
	if err := os.WriteFile(temp, content, 0o644); err != nil {
		return err
	}
	if err := os.Rename(temp, w.path(name)); err != nil {
		return err
	}
	w.parted(name)
	w.changed(name, entry{modeFile, blobID(content)})
	return nil
}

func (w *world) editAppend() error {
	name := w.anyRegular()
	before, err := os.ReadFile(w.path(name))
	if err != nil {
		return err
	}
	return w.write(name, append(before, w.text(200)...), w.files[name].mode == modeExec)
}

// editUnseen keeps size and modification time, as some tools do.
func (w *world) editUnseen() error {
	name := w.anyRegular()
	info, err := os.Stat(w.path(name))
	if err != nil {
		return err
	}
	if info.Size() == 0 {
		return nil
	}
	if err := w.write(name, w.text(int(info.Size())), w.files[name].mode == modeExec); err != nil {
		return err
	}
	return os.Chtimes(w.path(name), time.Time{}, info.ModTime())
}

func (w *world) editCreate() error {
	return w.write(w.fresh(path.Dir(w.any()), "new_%d.go"), w.text(0), w.rand.IntN(5) == 0)
}

func (w *world) editStorm() error {
	dir := w.fresh(path.Dir(w.any()), "storm_%d")
	files := 1 + w.rand.IntN(12)
	if w.rand.IntN(8) == 0 {
		files *= 10
	}
	for i := range files {
		if err := w.write(w.fresh(fmt.Sprintf("%s/deep_%d", dir, i%(3+files/20)), "new_%d.txt"), w.text(0), false); err != nil {
			return err
		}
	}
	return nil
}

// fewest is how many files are left at least.
const fewest = 100

func (w *world) editRemove() error {
	if len(w.names) < fewest {
		return w.editCreate()
	}
	name := w.any()
	if err := os.Remove(w.path(name)); err != nil {
		return err
	}
	w.drop(name)
	return nil
}

func (w *world) editRename() error {
	from := w.any()
	to := w.fresh(path.Dir(w.any()), "moved_%d.go")
	if err := os.Rename(w.path(from), w.path(to)); err != nil {
		return err
	}
	w.renamed(from, to)
	return nil
}

func (w *world) editRenameDirectory() error {
	from := path.Dir(w.any())
	if from == "." || len(w.below(from)) > len(w.names)/4 || w.closedBelow(from) {
		return w.editRename()
	}
	to := w.fresh(path.Dir(from), "moved_%d")
	if err := os.Rename(w.path(from), w.path(to)); err != nil {
		return err
	}
	for _, name := range w.below(from) {
		w.renamed(name, to+name[len(from):])
	}
	return nil
}

func (w *world) editRemoveDirectory() error {
	dir := path.Dir(w.any())
	files := w.below(dir)
	if dir == "." || len(files) > 40 || w.closedBelow(dir) || len(w.names)-len(files) < fewest {
		return w.editRemove()
	}
	if err := os.RemoveAll(w.path(dir)); err != nil {
		return err
	}
	for _, name := range files {
		w.drop(name)
	}
	return nil
}

func (w *world) editMode() error {
	name := w.anyRegular()
	mode, perm := modeExec, os.FileMode(0o755)
	if w.files[name].mode == modeExec {
		mode, perm = modeFile, 0o644
	}
	if err := os.Chmod(w.path(name), perm); err != nil {
		return err
	}
	w.changed(name, entry{mode, w.files[name].id})
	return nil
}

func (w *world) editLink() error {
	name, target := w.fresh(path.Dir(w.any()), "link_%d"), fmt.Sprintf("nowhere/%d", w.made)
	if err := os.Symlink(target, w.path(name)); err != nil {
		return err
	}
	w.put(name, entry{modeLink, blobID([]byte(target))})
	return nil
}

func (w *world) editIntoDirectory() error {
	name := w.any()
	if err := os.Remove(w.path(name)); err != nil {
		return err
	}
	w.drop(name)
	return w.write(w.fresh(name, "inside_%d.md"), w.text(0), false)
}

func (w *world) editEmpty() error {
	name := w.anyRegular()
	return w.write(name, nil, w.files[name].mode == modeExec)
}
