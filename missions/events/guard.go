package events

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// guardBlockReason is why a tool of a fork must not write a file: the file lies in a workspace
// that the fork was copied from. The agent remembers having worked there, and most likely
// means its own copy. Tools that read are let through, and so are shells, whose files are not
// known. "" lets the tool run.
func (l *Listener) guardBlockReason(m *projects.Mission, r missions.HookRequest, e sessions.Event) string {
	if m.Parent == nil || e.Kind != sessions.KindToolBefore || !l.HookConfig(r.Caller).Fork.Guard {
		return ""
	}
	for _, file := range e.Files {
		named := absoluteFile(r, e, file)
		path := followLinks(named, maxSymlinks)
		if home.IsWithin(m.Binding.Workspace, path) {
			continue
		}
		for _, f := range l.ForkAncestors(m) {
			if f.Binding.Workspace != "" && home.IsWithin(f.Binding.Workspace, path) {
				return guardText(m, f, named, path)
			}
		}
	}
	return ""
}

// guardText is the message for the agent and its user: m's agent was about to write the file
// that it named, which is path in f's workspace.
func guardText(m, f *projects.Mission, named, path string) string {
	instead := "a symbolic link leads there"
	if rel, err := filepath.Rel(f.Binding.Workspace, path); err == nil && !home.IsWithin(m.Binding.Workspace, named) {
		instead = "use " + filepath.Join(m.Binding.Workspace, rel)
	}
	return fmt.Sprintf("%s was not written: it belongs to mission %s, of which this is a fork with a workspace of its own, %s; %s. (Umbra keeps a fork's file tools out of there; fork.guard in its configuration switches that off.)",
		named, f.Name, m.Binding.Workspace, instead)
}

// absoluteFile is the path of a file that a tool names, as its agent would find it.
func absoluteFile(r missions.HookRequest, e sessions.Event, file string) string {
	if rest, ok := strings.CutPrefix(file, "~/"); ok {
		file = projects.AbsolutePath(r.Caller.Env["HOME"], rest)
	}
	return projects.AbsolutePath(e.Cwd, file)
}

// maxSymlinks is how many symbolic links of a name are followed, as Linux has it.
const maxSymlinks = 40

// followLinks is EvalSymlinks for a path whose end need not exist: a tool may be about to make
// it. A part that can't be followed stays as it is.
func followLinks(path string, links int) string {
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
		return followLinks(projects.AbsolutePath(dir, target), links-1)
	}
	if name == "" {
		return path
	}
	return filepath.Join(followLinks(dir, links), name)
}
