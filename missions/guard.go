package missions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
)

// mostForebears bounds how far up the guard looks for whose copy a fork is.
const mostForebears = 64

// guarded is why a tool of a fork is not to write a file: it lies in a workspace
// that the fork is a copy of, and the agent, which remembers having worked there,
// most likely means its own. Reading there harms nobody, and a shell's command
// can't be told apart: both go on. "" lets the tool go on, and so does whatever
// can't be found out.
func (l *Local) guarded(m *loaded, r HookRequest, e sessions.Event) string {
	if m.Parent == nil || e.Kind != sessions.KindToolBefore || !l.configOfAgent(r.Caller).Fork.Guard {
		return ""
	}
	for _, file := range e.Files {
		named := absoluteFile(r, e, file)
		path := followed(named, mostLinks)
		if within(m.bind.Workspace, path) {
			continue
		}
		for _, f := range l.forebears(m) {
			if f.bind.Workspace != "" && within(f.bind.Workspace, path) {
				return guardReason(m, f, named, path)
			}
		}
	}
	return ""
}

// guardReason is what the agent, and its user, are told of a file that m's agent
// was about to write by that name, and that is path in f's workspace.
func guardReason(m, f *loaded, named, path string) string {
	instead := "a symbolic link leads there"
	if rel, err := filepath.Rel(f.bind.Workspace, path); err == nil && !within(m.bind.Workspace, named) {
		instead = "use " + filepath.Join(m.bind.Workspace, rel)
	}
	return fmt.Sprintf("%s was not written: it belongs to mission %s, of which this is a fork with a workspace of its own, %s; %s. (Umbra keeps a fork's file tools out of there; fork.guard in its configuration switches that off.)",
		named, f.Name, m.bind.Workspace, instead)
}

// forebears are the missions that a fork comes from, the nearest first, those in
// the trash too: their workspaces may be there still.
func (l *Local) forebears(m *loaded) (list []*loaded) {
	for at := m; at.Parent != nil && len(list) < mostForebears; {
		up, err := l.loadAny(m.project, at.Parent.Mission)
		if err != nil {
			return list
		}
		list, at = append(list, up), up
	}
	return list
}

// absoluteFile is where a file is that a tool names, as its agent would find it.
func absoluteFile(r HookRequest, e sessions.Event, file string) string {
	if rest, ok := strings.CutPrefix(file, "~/"); ok {
		file = joinPath(r.Caller.Env["HOME"], rest)
	}
	return joinPath(e.Cwd, file)
}

// mostLinks is how many symbolic links of a name are followed, as Linux has it.
const mostLinks = 40

// followed is EvalSymlinks for a name of which the end need not be there: a tool
// may be about to make it. What can't be followed stays as it is.
func followed(path string, links int) string {
	path = filepath.Clean(path)
	real, err := filepath.EvalSymlinks(path)
	switch {
	case err == nil:
		return real
	case !errors.Is(err, fs.ErrNotExist):
		return path
	}
	dir, name := filepath.Split(path)
	if target, err := os.Readlink(path); err == nil && links > 0 {
		return followed(joinPath(dir, target), links-1)
	}
	if name == "" {
		return path
	}
	return filepath.Join(followed(dir, links), name)
}
