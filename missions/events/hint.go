package events

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/usergit"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/editors"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/sessions"
)

// HintGit is the name by which the user's own Git gives hints; editors has those
// of the editors.
const HintGit = "git"

// The hints of editors: that a file was written, and that the editor ends. Those
// of Git are the names of its hooks (GitHookNames).
const (
	hintSave  = "save"
	hintLeave = "leave"
)

// HookNames are what umbra hooks can be asked to install: an agent's, an editor's,
// or Git's.
func HookNames() []string {
	var names []string
	for _, a := range projects.Agents() {
		if _, installs := a.(sessions.Installing); installs {
			names = append(names, a.Name())
		}
	}
	return append(names, Hinters()...)
}

// Hinters are the programs that give hints: editors, and Git.
func Hinters() []string { return append(editors.Names(), HintGit) }

// GivesHints reports whether a HookRequest of that name is a hint: what an editor
// or the user's own Git tells of a place. Event is what happened there, Payload
// the paths of the files or directories as bytes, seen from the caller's directory,
// with a NUL between two; empty is that directory. A hint has no conversation, makes no mission, and where
// there is none it does nothing.
func GivesHints(name string) bool { return slices.Contains(Hinters(), name) }

// handleHint takes a snapshot of each live mission at the place of a hint, or else of the
// mission that was used last there. An error bothers nobody: it is the result's Problem.
func (l *Listener) handleHint(ctx context.Context, r missions.HookRequest) (missions.HookResult, error) {
	if r.Agent == HintGit && !slices.Contains(home.GitHookNames(), r.Event) || r.Agent != HintGit && r.Event != hintSave && r.Event != hintLeave {
		return missions.HookResult{}, missions.Errorf(missions.KindUsage, "umbra hooks install "+r.Agent+" installs what this umbra understands", "%s tells of %q, which means nothing here", r.Agent, r.Event)
	}
	var result missions.HookResult
	list, err := l.hintedMissions(r)
	for _, h := range list {
		if r.Alone && (missions.StateOf(h.Lifecycle) == missions.StateClosed || ctx.Err() != nil) {
			continue
		}
		err = errors.Join(err, l.takeHintSnapshot(ctx, h, r, &result)) // one that fails takes none with it
	}
	if err != nil {
		l.Logger.Warn("hint", "from", r.Agent, "event", r.Event, "of", string(r.Payload), "error", err)
		result.Problem = missions.AsError(err).Message
	}
	return result, nil
}

// hintedMission is a mission that a hint is for.
type hintedMission struct {
	*projects.Mission
	projects.Directory
	files []string // that were saved, as seen from the workspace
}

// hintedMissions lists the missions that a hint is for, each with what was saved there.
func (l *Listener) hintedMissions(r missions.HookRequest) (list []*hintedMission, err error) {
	type place struct {
		missions []*projects.Mission
		projects.Directory
	}
	looked := map[string]place{}
	for path := range strings.SplitSeq(string(r.Payload), "\x00") {
		at := filepath.Clean(path)
		if !filepath.IsAbs(path) {
			at = filepath.Join(r.Caller.Cwd, path)
		}
		dir := at
		if info, serr := os.Stat(at); serr != nil || !info.IsDir() {
			dir = filepath.Dir(at)
		}
		here, known := looked[dir]
		if !known {
			var lerr error
			here.missions, here.Directory, lerr = l.MissionsAt(dir, r.Agent == HintGit)
			looked[dir], err = here, errors.Join(err, lerr)
		}
		for _, m := range here.missions {
			i := slices.IndexFunc(list, func(h *hintedMission) bool { return h.ID == m.ID })
			if i < 0 {
				i, list = len(list), append(list, &hintedMission{Mission: m, Directory: here.Directory})
			}
			list[i].files = append(list[i].files, m.RelativePath(filepath.Join(here.Dir, filepath.Base(at))))
		}
	}
	return list, err
}

// takeHintSnapshot takes the snapshot of one mission.
func (l *Listener) takeHintSnapshot(ctx context.Context, m *hintedMission, r missions.HookRequest, result *missions.HookResult) error {
	event := missions.HintReceived{What: r.Agent + " ended"}
	switch {
	case r.Agent == HintGit:
		var due bool
		if event, due = headMove(m.Mission, m.Repo, r.Event); !due {
			return nil
		}
	case r.Event == hintSave && r.Alone && l.presence.IsWorkspaceHeld(m.Mission):
		return nil // an editor may save hundreds at once
	case r.Event == hintSave:
		event.What = "saved " + m.files[0]
		if more := len(m.files) - 1; more > 0 {
			event.What += fmt.Sprintf(" and %d more", more)
		}
		event.What += " in " + r.Agent
	}
	answer, err := l.snapshots.SubmitRequest(ctx, m.Project, m.ID, &snapshots.Request{Event: event})
	if err != nil {
		return err
	}
	if t, ok := answer.LastSnapshot(); ok {
		result.Mission, result.Snapshot = m.ID, t.Snapshot.ID.String()
	}
	return nil
}

// MissionsAt lists the missions that a hint from a directory is for, and what the directory
// is. A directory that can't be read has no missions: it may be gone, or on another machine.
func (l *Listener) MissionsAt(dir string, byGit bool) ([]*projects.Mission, projects.Directory, error) {
	g, err := projects.InspectDirectory(dir)
	if err != nil || byGit && g.Repo == nil {
		return nil, g, nil
	}
	p, err := l.projectNear(g)
	if p == nil || err != nil {
		return nil, g, err
	}
	all, _ := l.ProjectMissions(p)
	all = slices.DeleteFunc(all, func(m *projects.Mission) bool {
		return m.Binding.Machine == "" || m.LentTo() != nil || m.IsWorkspaceGone() || !byGit && !home.IsWithin(m.Binding.Workspace, g.Dir) || byGit && !isInRepository(m, g.Repo)
	})
	alive := slices.DeleteFunc(slices.Clone(all), func(m *projects.Mission) bool { return !missions.HasAgent(m.Lifecycle) && !m.Live.HasKeeper() })
	if len(alive) == 0 && len(all) > 0 {
		alive = []*projects.Mission{slices.MaxFunc(all, func(a, b *projects.Mission) int { return a.LastUsed().Compare(b.LastUsed()) })}
	}
	return alive, g, nil
}

// isInRepository reports whether the mission's workspace is in this work tree of the
// repository, and not in another of its work trees.
func isInRepository(m *projects.Mission, repo *usergit.Repository) bool {
	if !home.IsWithin(repo.TopLevel, m.Binding.Workspace) {
		return false
	}
	its, err := usergit.Discover(m.Binding.Workspace)
	return err == nil && its.GitDir == repo.GitDir
}

// projectNear is FindProject for a hint. Hints come at each save, so it opens no other project
// than the one that fits.
func (l *Listener) projectNear(g projects.Directory) (*projects.Project, error) {
	entries, err := os.ReadDir(l.Home.ProjectsDir())
	if err != nil {
		return nil, nil // there is none yet
	}
	found, best := "", -1
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		dir := filepath.Join(l.Home.ProjectsDir(), e.Name())
		h, err := projects.ReadLocations(dir)
		if err != nil {
			return l.FindProject(g) // its repository may tell
		}
		if fit := (&projects.Project{Locations: h}).DirectoryFit(g); fit > best {
			found, best = dir, fit
		}
	}
	if found == "" {
		return nil, nil
	}
	return l.OpenProject(found)
}

// headMove is what a hook of Git's means for the mission: a snapshot that notes where HEAD is,
// if HEAD has moved since the last snapshot; else a snapshot of changed files. A rebase is
// noted when it is over.
func headMove(m *projects.Mission, repo *usergit.Repository, hook string) (event missions.HintReceived, due bool) {
	if ops, _ := repo.Operations(); hook != "post-rewrite" && slices.Contains(ops, usergit.Rebase) {
		return missions.HintReceived{}, false
	}
	event.What = "git " + strings.TrimPrefix(hook, "post-")
	head, err := repo.Head()
	if err != nil || head.ID.String() == m.Tip.GitHead && head.Branch() == m.Tip.GitBranch {
		return event, true
	}
	return missions.HintReceived{What: headMoveText(repo, head), HeadMoved: true}, true
}

// headMoveText says how HEAD was moved, as far as its log says so.
func headMoveText(repo *usergit.Repository, head usergit.Head) string {
	id := head.ID.String()
	id = id[:min(len(id), 7)]
	move, err := repo.LastMove()
	if err != nil || move.To != head.ID || move.Why == "" {
		return strings.TrimSpace("HEAD is " + id + " " + head.Branch())
	}
	kind, rest, _ := strings.Cut(move.Why, ": ")
	switch {
	case kind == "commit (amend)":
		return "amended " + id + " " + rest
	case strings.HasPrefix(kind, "commit"):
		return "committed " + id + " " + rest
	case kind == "checkout":
		return "switched " + strings.TrimPrefix(rest, "moving ")
	case strings.HasPrefix(kind, "rebase"):
		return strings.TrimSpace("rebased to " + id + " " + head.Branch())
	}
	return "HEAD is " + id + ": " + move.Why
}
