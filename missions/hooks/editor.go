package hooks

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/editors"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/userfile"
)

// editorIntegration is an editor's plugin in each directory where an installation of the
// editor looks for its user's plugins.
type editorIntegration struct {
	plugins      []editorPlugin
	name, binary string
	absent       bool // as far as can be told, there is no such editor
}

// findEditorIntegration finds the plugin that a request names; nil is no editor's.
func (in *Installer) findEditorIntegration(r missions.HooksRequest) (integration, error) {
	user := editors.User{
		Home: r.Caller.Env["HOME"], ConfigHome: r.Caller.Env["XDG_CONFIG_HOME"], DataHome: r.Caller.Env["XDG_DATA_HOME"],
		Exists: func(path string) bool { _, err := os.Stat(path); return err == nil },
	}
	plugins, known, err := editors.Find(r.Name, user, r.Caller.Binary)
	switch {
	case !known:
		return nil, nil
	case err != nil:
		return nil, missions.Errorf(missions.KindConflict, "move umbra elsewhere", "%w", err)
	case r.Project || r.Shared:
		return nil, missions.Errorf(missions.KindUsage, "umbra hooks install "+r.Name, "what %s has for Umbra is its user's, not a project's", r.Name)
	case !filepath.IsAbs(user.Home):
		return nil, missions.Errorf(missions.KindUsage, "set HOME", "where %s has its files can't be told without a home directory", r.Name)
	}
	f := &editorIntegration{name: r.Name, binary: r.Caller.Binary}
	for _, p := range plugins {
		f.plugins = append(f.plugins, editorPlugin{p})
	}
	if needs := plugins[0].Needs; needs != "" {
		f.absent = !user.Exists(needs)
	} else {
		f.absent = !agents.IsOnPath(r.Caller.Env["PATH"], r.Name)
	}
	return f, nil
}

// install writes the plugin to all places or none: it looks for obstacles first.
func (f *editorIntegration) install() (changed bool, err error) {
	changes := make([][]fileChange, len(f.plugins))
	for i, p := range f.plugins {
		if _, err := os.Stat(p.Needs); p.Needs != "" && err != nil {
			return false, missions.Errorf(missions.KindNotFound, "start the editor once, then umbra hooks install "+f.name, "there is no %s here: %s: %w", f.name, p.Needs, userfile.Reason(err))
		}
		if changes[i], err = p.installChanges(); err != nil {
			return false, err
		}
	}
	return f.applyChanges(changes)
}

// uninstall removes the files that Umbra wrote, and directories that are empty then. If
// one of the files was changed since, all stay.
func (f *editorIntegration) uninstall() (changed bool, err error) {
	changes := make([][]fileChange, len(f.plugins))
	for i, p := range f.plugins {
		if changes[i], err = p.removalChanges(); err != nil {
			return false, err
		}
	}
	changed, err = f.applyChanges(changes)
	for i, p := range f.plugins {
		if len(changes[i]) > 0 {
			p.removeEmptyDirs()
		}
	}
	return changed, err
}

func (f *editorIntegration) applyChanges(all [][]fileChange) (changed bool, err error) {
	for _, changes := range all {
		for _, c := range changes {
			did, err := c.apply()
			if err != nil {
				return changed, err
			}
			changed = changed || did
		}
	}
	return changed, nil
}

// state says whether the files are there and whose they are.
func (f *editorIntegration) state(r *missions.HooksResult) error {
	r.File, r.Absent = f.plugins[0].Dir, f.absent
	found := make([]pluginState, len(f.plugins))
	current := false
	for i, p := range f.plugins {
		s, err := p.inspect()
		if err != nil {
			return err
		}
		found[i] = s
		if s.present > 0 && !r.Installed {
			r.Installed, r.File = true, p.Dir
		}
		current = current || s.present > 0 && s.outdated == 0
		r.Problems = append(r.Problems, s.problems...)
	}
	if !r.Installed {
		return nil
	}
	mends := ": umbra hooks install " + f.name + " mends it"
	for i, p := range f.plugins {
		switch s := found[i]; {
		case s.present == 0:
			r.Problems = append(r.Problems, "it is not in "+p.Dir+mends)
			continue
		case s.present < len(p.Files):
			r.Problems = append(r.Problems, "some of its files are missing"+mends)
		case !s.listed:
			r.Problems = append(r.Problems, "the lists beside "+p.Dir+" don't have it, so it is not loaded"+mends)
		case s.unpinned:
			r.Problems = append(r.Problems, fmt.Sprintf("the editor has entered %s anew, for its default profile and not pinned, so that another one of that name may take its place: close it, then umbra hooks install %s", p.Dir, f.name))
		}
		if found[i].outdated > 0 && f.binary != "" {
			r.Problems = append(r.Problems, fmt.Sprintf("it is of another version of umbra, or calls another one: umbra hooks install %s changes it", f.name))
		}
		if p.Dir != r.File {
			r.Extras = append(r.Extras, "the same in "+p.Dir)
		}
	}
	if current {
		r.Command = home.ShellQuote(f.binary) + " hook " + f.name
	}
	return nil
}
