package missions

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/umbra-vcs/umbra/missions/editors"
	"github.com/umbra-vcs/umbra/missions/userfile"
)

// editorFitting is a plugin for an editor, among its user's own.
type editorFitting struct {
	editors.Plugin
	name, binary string
}

// editorFitting finds the plugin that a request names; nil is no editor's.
func (l *Local) editorFitting(r HooksRequest) (fitting, error) {
	user := editors.User{
		Home: r.Caller.Env["HOME"], ConfigHome: r.Caller.Env["XDG_CONFIG_HOME"], DataHome: r.Caller.Env["XDG_DATA_HOME"],
		Exists: func(path string) bool { _, err := os.Stat(path); return err == nil },
	}
	plugin, known, err := editors.Find(r.Name, user, r.Caller.Binary)
	switch {
	case !known:
		return nil, nil
	case err != nil:
		return nil, Errorf(KindConflict, "move umbra elsewhere", "%w", err)
	case r.Project || r.Shared:
		return nil, Errorf(KindUsage, "umbra hooks install "+r.Name, "what %s has for Umbra is its user's, not a project's", r.Name)
	case !filepath.IsAbs(user.Home):
		return nil, Errorf(KindUsage, "set HOME", "where %s has its files can't be told without a home directory", r.Name)
	}
	return &editorFitting{plugin, r.Name, r.Caller.Binary}, nil
}

// install writes the files. If one is there that Umbra did not write, none is.
func (f *editorFitting) install() (changed bool, err error) {
	var due []editors.File
	for _, file := range f.Files {
		content, err := userfile.Read(file.Path)
		if err != nil {
			return false, err
		}
		if content != nil && !f.Own(content) {
			return false, f.stands(file.Path, content)
		}
		if !bytes.Equal(content, file.Content) {
			due = append(due, file)
		}
	}
	for _, file := range due {
		if err := userfile.WriteAs(file.Path, 0o644, file.Content); err != nil {
			return false, err
		}
	}
	return len(due) > 0, nil
}

// stands is why a file that is not as Umbra wrote it stays as it is.
func (f *editorFitting) stands(path string, content []byte) error {
	if f.Claimed(content) {
		return Errorf(KindConflict, "move it away, with what you changed, and try again", "%s was changed since Umbra wrote it", path)
	}
	return Errorf(KindConflict, "move it away", "there is a %s that Umbra did not write", path)
}

// uninstall removes what Umbra wrote, and the directories that are empty then. If
// a file was changed since, all stay: the others do nothing without it.
func (f *editorFitting) uninstall() (changed bool, err error) {
	var due []string
	for _, file := range f.Files {
		content, err := userfile.Read(file.Path)
		switch {
		case err != nil:
			return false, err
		case f.Own(content):
			due = append(due, file.Path)
		case f.Claimed(content):
			return false, f.stands(file.Path, content)
		}
	}
	for _, path := range due {
		if err := os.Remove(path); err != nil {
			return changed, fmt.Errorf("remove %s: %w", path, userfile.Reason(err))
		}
		changed = true
	}
	for _, file := range f.Files {
		if changed {
			f.removeEmptyAbove(file.Path)
		}
	}
	return changed, nil
}

// removeEmptyAbove removes the directories above a file that nothing is in.
func (f *editorFitting) removeEmptyAbove(path string) {
	for dir := filepath.Dir(path); dir != f.Above && within(f.Above, dir); dir = filepath.Dir(dir) {
		if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return // something is in it
		}
	}
}

// state says whether the files are there and whose they are.
func (f *editorFitting) state(r *HooksResult) error {
	r.File = f.Dir
	there, other := 0, 0
	for _, file := range f.Files {
		content, err := userfile.Read(file.Path)
		switch {
		case err != nil:
			return err
		case content == nil:
		case !f.Own(content) && f.Claimed(content):
			there++
			r.Problems = append(r.Problems, file.Path+" was changed since Umbra wrote it; it is left alone")
		case !f.Own(content):
			r.Problems = append(r.Problems, file.Path+" is not Umbra's as it stands; it is left alone")
		case bytes.Equal(content, file.Content):
			there++
		default:
			there++
			other++
		}
	}
	r.Installed = there > 0
	if r.Installed && there < len(f.Files) {
		r.Problems = append(r.Problems, fmt.Sprintf("some of its files are missing: umbra hooks install %s mends it", r.Name))
	}
	if other > 0 && f.binary != "" {
		r.Problems = append(r.Problems, fmt.Sprintf("it is of another version of umbra, or calls another one: umbra hooks install %s changes it", r.Name))
	}
	if r.Installed && other == 0 {
		r.Command = shellQuote(f.binary) + " hook " + r.Name
	}
	return nil
}
