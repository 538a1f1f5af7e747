package hooks

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/userfile"
)

// installExtras writes the files that go beside the hooks. It leaves a file alone that has
// the same name and is not Umbra's.
func (at HookPlace) installExtras() (changed bool, err error) {
	for _, x := range at.extras {
		wrote, err := userfile.Change(x.Path, settingsMode, func(content []byte) ([]byte, error) {
			if content != nil && !x.Own(content) {
				return content, nil
			}
			return x.Content, nil
		})
		if err != nil {
			return changed, err
		}
		changed = changed || wrote
	}
	return changed, nil
}

// removeExtras removes these files, unless somebody has changed them.
func (at HookPlace) removeExtras() (changed bool, err error) {
	for _, x := range at.extras {
		removed, err := userfile.Change(x.Path, settingsMode, func(content []byte) ([]byte, error) {
			if content != nil && !x.Own(content) {
				return content, nil
			}
			return nil, nil
		})
		if err != nil {
			return changed, err
		}
		if removed {
			changed = true
			if at.installed == nil {
				removeEmptyDir(filepath.Dir(x.Path))
			}
		}
	}
	return changed, nil
}

// missingDirs are the directories that the hooks' files need and that are not there, the
// deepest first.
func (at HookPlace) missingDirs() []string {
	dirs := userfile.MissingDirs(at.File)
	for _, x := range at.extras {
		dirs = append(dirs, userfile.MissingDirs(x.Path)...)
	}
	return deepestFirst(dirs)
}

// deepestFirst orders directories so that each comes before those that it is in, each once.
func deepestFirst(dirs []string) []string {
	slices.SortFunc(dirs, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return slices.Compact(dirs)
}

// removeMadeDirs removes the directories that were made when the hooks were installed, if
// they are empty. Empty ones of the user's stay.
func (at HookPlace) removeMadeDirs() {
	if at.installed == nil {
		return
	}
	for _, dir := range at.installed.Made {
		removeEmptyDir(dir)
	}
}

// removeEmptyDirs removes the directory of the settings and the one above, if they are
// empty and nothing is known of who made them: .opencode/plugin was made for the file.
func (at HookPlace) removeEmptyDirs() {
	if at.installed != nil {
		return
	}
	dir := filepath.Dir(at.File)
	for range 2 {
		if slices.Contains(at.keepDirs, dir) {
			return
		}
		removeEmptyDir(dir)
		dir = filepath.Dir(dir)
	}
}

// removeEmptyDir removes an empty directory, but not a link to one, which is the user's.
func removeEmptyDir(dir string) {
	if info, err := os.Lstat(dir); err == nil && info.IsDir() {
		_ = os.Remove(dir) // fails where something is in it
	}
}

// describeExtras lists the files beside the hooks, and problems with them.
func (at HookPlace) describeExtras(r *missions.HooksResult) error {
	for _, x := range at.extras {
		content, err := userfile.Read(x.Path)
		switch {
		case err != nil:
			return err
		case bytes.Equal(content, x.Content):
			r.Extras = append(r.Extras, x.What+" in "+x.Path)
		case content == nil:
			r.Problems = append(r.Problems, fmt.Sprintf("%s is missing: umbra hooks install %s mends it", x.What, r.Name))
		case x.Own(content):
			r.Problems = append(r.Problems, fmt.Sprintf("%s is of another version of umbra: umbra hooks install %s changes it", x.What, r.Name))
		default:
			r.Problems = append(r.Problems, fmt.Sprintf("%s is not Umbra's as it stands in %s; it is left alone", x.What, x.Path))
		}
	}
	return nil
}
