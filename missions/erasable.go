package missions

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/missions/userfile"
)

// Erasable refuses where Erase would take what nobody can have meant: files that
// an operation which was cut off has taken away and not given back, also where
// Doctor has moved them aside, or files of the user's in a directory that has the
// name of one of Umbra's. KindConflict.
func (h Home) Erasable() error {
	if err := h.finished(); err != nil {
		return err
	}
	for _, dir := range [...]struct {
		name string
		ours func(child string) bool
	}{
		{"projects", h.isProject},
		{"trash", isID},
		{filepath.Join("agents", "launch"), isID},
		{"index", h.isIndex},
	} {
		children, err := os.ReadDir(h.path(dir.name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Errorf(KindConflict, "", "whether all of %s is Umbra's can't be told: %w", h.path(dir.name), userfile.Reason(err))
		}
		for _, e := range children {
			if !dir.ours(e.Name()) {
				return Errorf(KindConflict, "move it elsewhere, then try again", "%s is not Umbra's: nothing of its home was removed", h.path(dir.name, e.Name()))
			}
		}
	}
	return nil
}

// finished refuses while the journal has anything but operations that are done.
func (h Home) finished() error {
	const hint = "umbra status says what to do about it"
	j, err := journal.Open(h.Dir, time.Now)
	if err != nil {
		return Errorf(KindConflict, hint, "whether an operation was cut off can't be told: %w", err)
	}
	list, damaged, err := j.List()
	if err != nil {
		return Errorf(KindConflict, hint, "whether an operation was cut off can't be told: %w", err)
	}
	for _, d := range damaged {
		return Errorf(KindConflict, hint, "whether an operation was cut off can't be told: %w", d)
	}
	for _, op := range list {
		if phase, began := op.Phase(); phase != journal.Done {
			return Errorf(KindConflict, hint, "a %s is not finished since %s, and what it took away is in %s: nothing was removed", op.Kind(), began.Format(time.DateTime), op.DisplacedDir())
		}
	}
	return noneAside(j)
}

// noneAside refuses while the journal has what could not be read and was moved
// aside: in it may be what an operation took away.
func noneAside(j *journal.Journal) error {
	dir, names, err := j.Aside()
	if err != nil {
		return Errorf(KindConflict, "", "whether %s holds files of yours can't be told: %w", dir, userfile.Reason(err))
	}
	if len(names) > 0 {
		return Errorf(KindConflict, "move it elsewhere, then try again", "%s was damaged and set aside by umbra doctor, and may hold files of yours: nothing was removed", filepath.Join(dir, names[0]))
	}
	return nil
}

// isProject reports whether an entry of the projects is one, or begins to be.
func (h Home) isProject(name string) bool {
	if strings.HasPrefix(name, unfinishedProject) || journal.IsTemp(name) {
		return true
	}
	_, err := os.Lstat(h.path("projects", name, "shadow.git"))
	return err == nil
}

// isIndex reports whether the index is one: it has a file that every one has.
func (h Home) isIndex(string) bool {
	for _, name := range [...]string{"LOCK", "MANIFEST", "KEYREGISTRY"} {
		if _, err := os.Lstat(h.path("index", name)); err == nil {
			return true
		}
	}
	return false
}

func isID(name string) bool { return IsID(name) }

// isOfHome reports whether a home's entry of that name is Umbra's.
func isOfHome(name string) bool {
	for _, dir := range homeDirs {
		if name == dir {
			return true
		}
	}
	for _, known := range ofHome {
		if prefix, open := strings.CutSuffix(known, "*"); name == known || open && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return isOfMachine(name)
}

// isOfMachine reports whether it is what a home has for each machine that mounts it.
func isOfMachine(name string) bool {
	kind, id, _ := strings.Cut(name, "-")
	switch kind {
	case "lock", "socket":
		return isMachineID(id)
	case "run":
		return len(id) == 8 && strings.Trim(id, "0123456789abcdef") == ""
	}
	return false
}

// checkEntries refuses a directory that others use, which is no home yet.
func checkEntries(dir string) error {
	for _, name := range [...]string{"statcache", "cookies"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return nil // it is one
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return Errorf(KindFailed, "", "read Umbra's home %s: %w", dir, userfile.Reason(err))
	}
	for _, e := range entries {
		if name := e.Name(); !isOfHome(name) && name != "lost+found" {
			return Errorf(KindConflict, "choose another with --home DIR or UMBRA_HOME", "%s is not Umbra's home: it holds %s", dir, name)
		}
	}
	return nil
}
