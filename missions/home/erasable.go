package home

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/userfile"
)

// CheckErasable refuses where Erase would take what nobody can have meant: files that
// an operation which was cut off has taken away and not given back, also where
// Doctor has moved them aside, or files of the user's in a directory that has the
// name of one of Umbra's. KindConflict.
func (h Home) CheckErasable() error {
	if err := h.checkOperationsFinished(); err != nil {
		return err
	}
	for _, dir := range [...]struct {
		name string
		ours func(child string) bool
	}{
		{"projects", h.isProjectEntry},
		{"trash", isID},
		{filepath.Join("agents", "launch"), isID},
		{filepath.Join("agents", "output"), isID},
		{filepath.Join("agents", "checks"), isCheckEntry},
		{"index", h.isIndexEntry},
	} {
		children, err := os.ReadDir(h.Path(dir.name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return missions.Errorf(missions.KindConflict, "", "whether all of %s is Umbra's can't be told: %w", h.Path(dir.name), userfile.Reason(err))
		}
		for _, e := range children {
			if !dir.ours(e.Name()) {
				return missions.Errorf(missions.KindConflict, "move it elsewhere, then try again", "%s is not Umbra's: nothing of its home was removed", h.Path(dir.name, e.Name()))
			}
		}
	}
	return nil
}

// checkOperationsFinished refuses while the journal has anything but operations that are done.
func (h Home) checkOperationsFinished() error {
	const hint = "umbra status says what to do about it"
	j, err := journal.Open(h.Dir, time.Now)
	if err != nil {
		return missions.Errorf(missions.KindConflict, hint, "whether an operation was cut off can't be told: %w", err)
	}
	list, damaged, err := j.List()
	if err != nil {
		return missions.Errorf(missions.KindConflict, hint, "whether an operation was cut off can't be told: %w", err)
	}
	for _, d := range damaged {
		return missions.Errorf(missions.KindConflict, hint, "whether an operation was cut off can't be told: %w", d)
	}
	for _, op := range list {
		if phase, began := op.Phase(); phase != journal.Done {
			return missions.Errorf(missions.KindConflict, hint, "a %s is not finished since %s, and what it took away is in %s: nothing was removed", op.Kind(), began.Format(time.DateTime), op.DisplacedDir())
		}
	}
	return checkNothingSetAside(j)
}

// checkNothingSetAside refuses while the journal has what could not be read and was moved
// aside: in it may be what an operation took away.
func checkNothingSetAside(j *journal.Journal) error {
	dir, names, err := j.Aside()
	if err != nil {
		return missions.Errorf(missions.KindConflict, "", "whether %s holds files of yours can't be told: %w", dir, userfile.Reason(err))
	}
	if len(names) > 0 {
		return missions.Errorf(missions.KindConflict, "move it elsewhere, then try again", "%s was damaged and set aside by umbra doctor, and may hold files of yours: nothing was removed", filepath.Join(dir, names[0]))
	}
	return nil
}

// isProjectEntry reports whether an entry of the projects is one, or begins to be.
func (h Home) isProjectEntry(name string) bool {
	if strings.HasPrefix(name, UnfinishedProjectPrefix) || journal.IsTemp(name) {
		return true
	}
	_, err := os.Lstat(h.Path("projects", name, "shadow.git"))
	return err == nil
}

// isIndexEntry reports whether the index is one: it has a file that every one has.
func (h Home) isIndexEntry(string) bool {
	for _, name := range [...]string{"LOCK", "MANIFEST", "KEYREGISTRY"} {
		if _, err := os.Lstat(h.Path("index", name)); err == nil {
			return true
		}
	}
	return false
}

// isCheckEntry is of what a check has printed, and of what it said.
func isCheckEntry(name string) bool { return isID(strings.TrimSuffix(name, checkResultEnd)) }

func isID(name string) bool { return missions.IsID(name) }

// IsHomeEntry reports whether a home's entry of that name is Umbra's.
func IsHomeEntry(name string) bool {
	for _, dir := range HomeDirs {
		if name == dir {
			return true
		}
	}
	for _, known := range homeEntryNames {
		if prefix, open := strings.CutSuffix(known, "*"); name == known || open && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return isMachineEntry(name)
}

// isMachineEntry reports whether it is what a home has for each machine that mounts it.
func isMachineEntry(name string) bool {
	kind, id, _ := strings.Cut(name, "-")
	switch kind {
	case "lock", "socket", "hangs":
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
		return missions.Errorf(missions.KindFailed, "", "read Umbra's home %s: %w", dir, userfile.Reason(err))
	}
	for _, e := range entries {
		if name := e.Name(); !IsHomeEntry(name) && name != "lost+found" {
			return missions.Errorf(missions.KindConflict, "choose another with --home DIR or UMBRA_HOME", "%s is not Umbra's home: it holds %s", dir, name)
		}
	}
	return nil
}
