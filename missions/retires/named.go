package retires

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// checkNothingInFlight refuses while an operation is not over: any mission may be part of it.
func (rt *Retirer) checkNothingInFlight() error {
	list, damaged, err := rt.Journal.List()
	if err != nil {
		return err
	}
	if len(damaged) > 0 {
		return missions.Errorf(missions.KindDamaged, "umbra doctor", "an operation can't be read: %w", damaged[0])
	}
	for _, op := range list {
		if phase, _ := op.Phase(); phase != journal.Done {
			return missions.Errorf(missions.KindBusy, "", "a %s is not over", op.Kind())
		}
	}
	return nil
}

// isNamed reports whether something that waits to be done has a mission's id: a request, a
// merge, an update, a search for what broke something, or a fix. What the id means there does
// not matter.
func (rt *Retirer) isNamed(m *projects.Mission) (bool, error) {
	asked, damaged, err := rt.Journal.Requests(m.ID)
	if err != nil {
		return false, err
	}
	if damaged != nil || slices.ContainsFunc(asked, func(r journal.Request) bool { return !r.Status.Final() }) {
		return true, nil
	}
	for _, dir := range []string{
		filepath.Join(m.Project.Dir, projects.MergesDir), filepath.Join(m.Project.Dir, projects.UpdatesDir, "waiting"),
		rt.Home.Path("agents", "bisect"), rt.Home.Path("agents", "fixes"),
	} {
		if named, err := isNamedBelow(dir, m.ID); named || err != nil {
			return named, err
		}
	}
	return false, nil
}

// isNamedBelow reports whether the name or the text of a file below a directory has an id.
func isNamedBelow(dir, id string) (named bool, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // over meanwhile, or there never was any
		}
		if err != nil {
			return err
		}
		if named = strings.Contains(e.Name(), id); !named && e.Type().IsRegular() {
			var text []byte
			if text, err = os.ReadFile(path); errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			named = bytes.Contains(text, []byte(id))
		}
		if named {
			return fs.SkipAll
		}
		return err
	})
	return named, err
}
