package missions

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/umbra-vcs/umbra/missions/editors"
	"github.com/umbra-vcs/umbra/missions/userfile"
)

// editorPlugin is an editor's plugin in one place.
type editorPlugin struct{ editors.Plugin }

// fileChange is a file that is to be written anew, or removed where content is nil.
type fileChange struct {
	path    string
	content []byte
}

func (c fileChange) do() error {
	if c.content != nil {
		return userfile.WriteAs(c.path, 0o644, c.content)
	}
	if err := os.Remove(c.path); err != nil {
		return fmt.Errorf("remove %s: %w", c.path, userfile.Reason(err))
	}
	return nil
}

// toInstall is what is to be written. If a file is there that Umbra did not write,
// nothing is. The editor's lists come last: what they name is there by then.
func (p editorPlugin) toInstall() (due []fileChange, err error) {
	for _, file := range p.Files {
		content, err := userfile.Read(file.Path)
		if err != nil {
			return nil, err
		}
		if content != nil && !p.Own(content) {
			return nil, p.stands(file.Path, content)
		}
		if !bytes.Equal(content, file.Content) {
			due = append(due, fileChange{file.Path, file.Content})
		}
	}
	lists, err := p.listChanges(func(l editors.List) func([]byte) ([]byte, error) { return l.With })
	return append(due, lists...), err
}

// toRemove is what is to be removed. If a file was changed since it was written,
// nothing is.
func (p editorPlugin) toRemove() (due []fileChange, err error) {
	for _, file := range p.Files {
		content, err := userfile.Read(file.Path)
		switch {
		case err != nil:
			return nil, err
		case p.Own(content):
			due = append(due, fileChange{path: file.Path})
		case p.Claimed(content):
			return nil, p.stands(file.Path, content)
		}
	}
	if len(due) == 0 {
		return nil, nil
	}
	lists, err := p.listChanges(func(l editors.List) func([]byte) ([]byte, error) { return l.Without })
	return append(lists, due...), err
}

// listChanges is how the editor's lists are to change.
func (p editorPlugin) listChanges(how func(editors.List) func([]byte) ([]byte, error)) (due []fileChange, err error) {
	for _, list := range p.Lists {
		before, err := userfile.Read(list.Path)
		if err != nil {
			return nil, err
		}
		after, err := how(list)(before)
		if err != nil {
			return nil, Errorf(KindConflict, "mend it, or move it away, and try again", "%s is not changed: %w", list.Path, err)
		}
		if !bytes.Equal(before, after) {
			due = append(due, fileChange{path: list.Path, content: after})
		}
	}
	return due, nil
}

// stands is why a file that is not as Umbra wrote it stays as it is.
func (p editorPlugin) stands(path string, content []byte) error {
	if p.Claimed(content) {
		return Errorf(KindConflict, "move it away, with what you changed, and try again", "%s was changed since Umbra wrote it", path)
	}
	return Errorf(KindConflict, "move it away", "there is a %s that Umbra did not write", path)
}

// removeEmptied removes the directories of the plugin's files that nothing is in.
func (p editorPlugin) removeEmptied() {
	for _, file := range p.Files {
		for dir := filepath.Dir(file.Path); dir != p.Above && within(p.Above, dir); dir = filepath.Dir(dir) {
			if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
				break // something is in it
			}
		}
	}
}

// pluginState is how a plugin was found.
type pluginState struct {
	there    int // of its files
	other    int // of those, for another umbra
	entered  bool
	unpinned bool // entered, but not as Umbra does it
	problems []string
}

func (p editorPlugin) look() (s pluginState, err error) {
	for _, file := range p.Files {
		content, err := userfile.Read(file.Path)
		switch {
		case err != nil:
			return s, err
		case content == nil:
		case !p.Own(content) && p.Claimed(content):
			s.there++
			s.problems = append(s.problems, file.Path+" was changed since Umbra wrote it; it is left alone")
		case !p.Own(content):
			s.problems = append(s.problems, file.Path+" is not Umbra's as it stands; it is left alone")
		case bytes.Equal(content, file.Content):
			s.there++
		default:
			s.there++
			s.other++
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
	s.entered = !slices.ContainsFunc(p.Lists, func(list editors.List) bool {
		content, err := userfile.Read(list.Path)
		if err != nil {
			return true
		}
		is, err := list.Entered(content)
		return err != nil || !is
	})
	return s, nil
}
