package main

import (
	"os"
	"path"
	"time"

	"golang.org/x/sys/unix"
)

// What these edits do, events tell less of than of others, or nothing.

// editHardLink gives a file another name in the workspace.
func (w *world) editHardLink() error {
	name := w.anyRegular()
	return w.link(name, w.fresh(path.Dir(w.any()), "name_%d"))
}

// editLinkOutside gives a file a name where nobody looks.
func (w *world) editLinkOutside() error { return w.linkOutside(w.anyRegular()) }

// editThroughLink writes to a file through one of its names, of those outside
// the workspace too.
func (w *world) editThroughLink() error {
	if len(w.shared) == 0 {
		return w.editLinkOutside()
	}
	s := w.shared[w.rand.IntN(len(w.shared))]
	mode, content := w.files[s.names[0]].mode, w.text(0)
	at := w.rand.IntN(s.links())
	if at < len(s.names) {
		return w.write(s.names[at], content, mode == modeExec)
	}
	if err := os.WriteFile(s.outside[at-len(s.names)], content, 0o644); err != nil {
		return err
	}
	w.changedUntold(s, entry{mode, blobID(content)})
	return nil
}

// editMapped changes a byte through a mapping, of which no event tells.
func (w *world) editMapped() error {
	name := w.anyRegular()
	f, err := os.OpenFile(w.path(name), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	memory, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	memory[w.rand.IntN(len(memory))] ^= 0x55
	id := blobID(memory)
	if err := unix.Munmap(memory); err != nil {
		return err
	}
	s := w.linked(name)
	if s == nil {
		s = &shared{names: []string{name}}
	}
	w.changedUntold(s, entry{w.files[name].mode, id})
	return nil
}

// times are modification times as tools and wrong clocks give them, from now.
var times = []time.Duration{time.Second, time.Hour, 10 * 365 * 24 * time.Hour, -time.Hour, -40 * 365 * 24 * time.Hour}

// editBehindDirectory makes a file, and gives its directory the modification
// time that it had, as tools do that copy times, or one ahead of now.
func (w *world) editBehindDirectory() error {
	dir := path.Dir(w.any())
	info, err := os.Stat(w.path(dir))
	if err != nil {
		return err
	}
	if err := w.write(w.fresh(dir, "behind_%d.txt"), w.text(0), false); err != nil {
		return err
	}
	at := info.ModTime()
	if w.rand.IntN(3) == 0 {
		at = time.Now().Add(times[w.rand.IntN(len(times))])
	}
	return os.Chtimes(w.path(dir), time.Time{}, at)
}

// editTime sets the modification time of a file ahead of now or back, now and
// then of one that has just been written.
func (w *world) editTime() error {
	name := w.anyRegular()
	if w.rand.IntN(2) == 0 {
		if err := w.write(name, w.text(0), w.files[name].mode == modeExec); err != nil {
			return err
		}
	}
	if err := os.Chtimes(w.path(name), time.Time{}, time.Now().Add(times[w.rand.IntN(len(times))])); err != nil {
		return err
	}
	w.changed(name, w.files[name])
	return nil
}
