package missions

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/umbra-vcs/umbra/missions/editors"
	"github.com/umbra-vcs/umbra/missions/userfile"
)

// editorFitting is a plugin for an editor, among its user's own, in each place
// where one of the editor's installations looks for it.
type editorFitting struct {
	plugins      []editorPlugin
	name, binary string
	absent       bool // as far as can be told, there is no such editor
}

// editorFitting finds the plugin that a request names; nil is no editor's.
func (l *Local) editorFitting(r HooksRequest) (fitting, error) {
	user := editors.User{
		Home: r.Caller.Env["HOME"], ConfigHome: r.Caller.Env["XDG_CONFIG_HOME"], DataHome: r.Caller.Env["XDG_DATA_HOME"],
		Exists: func(path string) bool { _, err := os.Stat(path); return err == nil },
	}
	plugins, known, err := editors.Find(r.Name, user, r.Caller.Binary)
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
	f := &editorFitting{name: r.Name, binary: r.Caller.Binary}
	for _, p := range plugins {
		f.plugins = append(f.plugins, editorPlugin{p})
	}
	if needs := plugins[0].Needs; needs != "" {
		f.absent = !user.Exists(needs)
	} else {
		f.absent = !onPath(r.Caller.Env["PATH"], r.Name)
	}
	return f, nil
}

// install puts the plugin everywhere. What stands in the way of one place is found
// before anything is written to any.
func (f *editorFitting) install() (changed bool, err error) {
	changes := make([][]fileChange, len(f.plugins))
	for i, p := range f.plugins {
		if _, err := os.Stat(p.Needs); p.Needs != "" && err != nil {
			return false, Errorf(KindNotFound, "start the editor once, then umbra hooks install "+f.name, "there is no %s here: %s: %w", f.name, p.Needs, userfile.Reason(err))
		}
		if changes[i], err = p.toInstall(); err != nil {
			return false, err
		}
	}
	return f.change(changes)
}

// uninstall removes what Umbra wrote, and the directories that are empty then. If
// a file was changed since, all stay: the others do nothing without it.
func (f *editorFitting) uninstall() (changed bool, err error) {
	changes := make([][]fileChange, len(f.plugins))
	for i, p := range f.plugins {
		if changes[i], err = p.toRemove(); err != nil {
			return false, err
		}
	}
	changed, err = f.change(changes)
	for i, p := range f.plugins {
		if len(changes[i]) > 0 {
			p.removeEmptied()
		}
	}
	return changed, err
}

func (f *editorFitting) change(all [][]fileChange) (changed bool, err error) {
	for _, changes := range all {
		for _, c := range changes {
			did, err := c.do()
			if err != nil {
				return changed, err
			}
			changed = changed || did
		}
	}
	return changed, nil
}

// state says whether the files are there and whose they are.
func (f *editorFitting) state(r *HooksResult) error {
	r.File, r.Absent = f.plugins[0].Dir, f.absent
	found := make([]pluginState, len(f.plugins))
	current := false
	for i, p := range f.plugins {
		s, err := p.look()
		if err != nil {
			return err
		}
		found[i] = s
		if s.there > 0 && !r.Installed {
			r.Installed, r.File = true, p.Dir
		}
		current = current || s.there > 0 && s.other == 0
		r.Problems = append(r.Problems, s.problems...)
	}
	if !r.Installed {
		return nil
	}
	mends := ": umbra hooks install " + f.name + " mends it"
	for i, p := range f.plugins {
		switch s := found[i]; {
		case s.there == 0:
			r.Problems = append(r.Problems, "it is not in "+p.Dir+mends)
			continue
		case s.there < len(p.Files):
			r.Problems = append(r.Problems, "some of its files are missing"+mends)
		case !s.entered:
			r.Problems = append(r.Problems, "the lists beside "+p.Dir+" don't have it, so it is not loaded"+mends)
		case s.unpinned:
			r.Problems = append(r.Problems, fmt.Sprintf("the editor has entered %s anew, for its default profile and not pinned, so that another one of that name may take its place: close it, then umbra hooks install %s", p.Dir, f.name))
		}
		if found[i].other > 0 && f.binary != "" {
			r.Problems = append(r.Problems, fmt.Sprintf("it is of another version of umbra, or calls another one: umbra hooks install %s changes it", f.name))
		}
		if p.Dir != r.File {
			r.Extras = append(r.Extras, "the same in "+p.Dir)
		}
	}
	if current {
		r.Command = shellQuote(f.binary) + " hook " + f.name
	}
	return nil
}
