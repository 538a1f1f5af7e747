package presence

import (
	"fmt"
	"path/filepath"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// OutsideDir is where an agent's event comes from if that is outside its mission's workspace,
// as after its user has resumed the session in another directory; else "".
func OutsideDir(m *projects.Mission, e sessions.Event) string {
	if e.Cwd == "" || !filepath.IsAbs(e.Cwd) || home.IsWithin(m.Binding.Workspace, filepath.Clean(e.Cwd)) || home.IsWithin(m.Binding.Workspace, projects.ResolveLinks(e.Cwd)) {
		return ""
	}
	return e.Cwd
}

// outsideDirProblem is what is wrong where a mission's agent was heard last outside of its
// workspace; "" if it was not.
func outsideDirProblem(m *projects.Mission) string {
	switch {
	case m.Live.OutsideDir == "":
		return ""
	case missions.HasAgent(m.Lifecycle):
		return fmt.Sprintf("its agent works in %s: what it changes there, outside the mission's workspace, is not kept", m.Live.OutsideDir)
	}
	return fmt.Sprintf("its agent worked in %s: what it changed there, outside the mission's workspace, was not kept", m.Live.OutsideDir)
}
