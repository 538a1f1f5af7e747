package hooks

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/editors"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/userfile"
)

// editorPlugin is an editor's plugin in one place.
type editorPlugin struct{ editors.Plugin }

// fileChange is a change of a file; a nil content is no file.
type fileChange struct {
	path       string
	newContent func(before []byte) ([]byte, error)
}

// isDue reports whether the file has to change.
func (c fileChange) isDue() (bool, error) {
	before, err := userfile.Read(c.path)
	if err != nil {
		return false, err
	}
	after, err := c.newContent(before)
	return !bytes.Equal(before, after) || (before == nil) != (after == nil), err
}

func (c fileChange) apply() (changed bool, err error) {
	return userfile.Change(c.path, 0o644, c.newContent)
}

// installChanges are the files to write, none if a file is there that Umbra did not write.
// The editor's lists come last, after the files that they name.
func (p editorPlugin) installChanges() (due []fileChange, err error) {
	for _, file := range p.Files {
		due = append(due, fileChange{file.Path, func(content []byte) ([]byte, error) {
			if content != nil && !p.Own(content) {
				return nil, p.foreignFileError(file.Path, content)
			}
			return file.Content, nil
		}})
	}
	return dueChanges(append(due, p.listChanges(func(l editors.List) func([]byte) ([]byte, error) { return l.With })...))
}

// removalChanges are the files to remove, none if a file was changed since Umbra wrote it.
func (p editorPlugin) removalChanges() (due []fileChange, err error) {
	for _, file := range p.Files {
		due = append(due, fileChange{file.Path, func(content []byte) ([]byte, error) {
			switch {
			case p.Own(content):
				return nil, nil
			case p.Claimed(content):
				return nil, p.foreignFileError(file.Path, content)
			}
			return content, nil
		}})
	}
	if due, err = dueChanges(due); len(due) == 0 || err != nil {
		return nil, err
	}
	lists, err := dueChanges(p.listChanges(func(l editors.List) func([]byte) ([]byte, error) { return l.Without }))
	return append(lists, due...), err
}

// dueChanges are the changes that are necessary.
func dueChanges(all []fileChange) (due []fileChange, err error) {
	for _, c := range all {
		is, err := c.isDue()
		if err != nil {
			return nil, err
		}
		if is {
			due = append(due, c)
		}
	}
	return due, nil
}

// listChanges are the changes of the editor's lists.
func (p editorPlugin) listChanges(how func(editors.List) func([]byte) ([]byte, error)) (changes []fileChange) {
	for _, list := range p.Lists {
		changes = append(changes, fileChange{list.Path, func(before []byte) ([]byte, error) {
			after, err := how(list)(before)
			if err != nil {
				return nil, missions.Errorf(missions.KindConflict, "mend it, or move it away, and try again", "%s is not changed: %w", list.Path, err)
			}
			if bytes.Equal(before, after) {
				return before, nil // there is no need of an empty file
			}
			return after, nil
		}})
	}
	return changes
}

// foreignFileError says that a file is left alone, since it is not as Umbra wrote it.
func (p editorPlugin) foreignFileError(path string, content []byte) error {
	if p.Claimed(content) {
		return missions.Errorf(missions.KindConflict, "move it away, with what you changed, and try again", "%s was changed since Umbra wrote it", path)
	}
	return missions.Errorf(missions.KindConflict, "move it away", "there is a %s that Umbra did not write", path)
}

// removeEmptyDirs removes the empty directories of the plugin's files.
func (p editorPlugin) removeEmptyDirs() {
	for _, file := range p.Files {
		for dir := filepath.Dir(file.Path); dir != p.Above && home.IsWithin(p.Above, dir); dir = filepath.Dir(dir) {
			if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
				break // something is in it
			}
		}
	}
}

// pluginState is the state of a plugin on disk.
type pluginState struct {
	present  int // of its files
	outdated int // of those, for another umbra
	listed   bool
	unpinned bool // entered, but not as Umbra does it
	problems []string
}

func (p editorPlugin) inspect() (s pluginState, err error) {
	for _, file := range p.Files {
		content, err := userfile.Read(file.Path)
		switch {
		case err != nil:
			return s, err
		case content == nil:
		case !p.Own(content) && p.Claimed(content):
			s.present++
			s.problems = append(s.problems, file.Path+" was changed since Umbra wrote it; it is left alone")
		case !p.Own(content):
			s.problems = append(s.problems, file.Path+" is not Umbra's as it stands; it is left alone")
		case bytes.Equal(content, file.Content):
			s.present++
		default:
			s.present++
			s.outdated++
		}
	}
	s.unpinned = slices.ContainsFunc(p.Lists, func(list editors.List) bool {
		content, err := userfile.Read(list.Path)
		if err != nil {
			return false
		}
		after, err := list.With(content)
		return err == nil && !bytes.Equal(content, after)
	})
	s.listed = !slices.ContainsFunc(p.Lists, func(list editors.List) bool {
		content, err := userfile.Read(list.Path)
		if err != nil {
			return true
		}
		is, err := list.Entered(content)
		return err != nil || !is
	})
	return s, nil
}
