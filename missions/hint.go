package missions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
	"github.com/umbra-vcs/umbra/missions/editors"
	"github.com/umbra-vcs/umbra/sessions"
)

// hintGit is the name by which the user's own Git gives hints; editors has those
// of the editors.
const hintGit = "git"

// The hints of editors: that a file was written, and that the editor ends. Those
// of Git are the names of its hooks (gitHooks).
const (
	hintSave  = "save"
	hintLeave = "leave"
)

// HookNames are what umbra hooks can be asked to install: an agent's, an editor's,
// or Git's.
func HookNames() []string {
	var names []string
	for _, a := range Agents() {
		if _, installs := a.(sessions.Installing); installs {
			names = append(names, a.Name())
		}
	}
	return append(names, Hinters()...)
}

// Hinters are the programs that give hints: editors, and Git.
func Hinters() []string { return append(editors.Names(), hintGit) }

// GivesHints reports whether a HookRequest of that name is a hint: what an editor
// or the user's own Git tells of a place. Event is what happened there, Payload
// the paths of the files or directories as bytes, seen from the caller's directory,
// with a NUL between two; empty is that directory. A hint has no conversation, makes no mission, and where
// there is none it does nothing.
func GivesHints(name string) bool { return slices.Contains(Hinters(), name) }

// heardHint takes a snapshot for what was told, of each mission at work there, or
// else of the one that was last. Nobody is bothered with what goes wrong: it is
// the result's Problem.
func (l *Local) heardHint(ctx context.Context, r HookRequest) (HookResult, error) {
	if r.Agent == hintGit && !slices.Contains(gitHooks(), r.Event) || r.Agent != hintGit && r.Event != hintSave && r.Event != hintLeave {
		return HookResult{}, Errorf(KindUsage, "umbra hooks install "+r.Agent+" installs what this umbra understands", "%s tells of %q, which means nothing here", r.Agent, r.Event)
	}
	var result HookResult
	list, err := l.hintedAt(r)
	for _, h := range list {
		if r.Alone && (State(h.life) == StateClosed || ctx.Err() != nil) {
			continue
		}
		err = errors.Join(err, l.takeHint(ctx, h, r, &result)) // one that fails takes none with it
	}
	if err != nil {
		l.log.Warn("hint", "from", r.Agent, "event", r.Event, "of", string(r.Payload), "error", err)
		result.Problem = AsError(err).Message
	}
	return result, nil
}

// hinted is a mission that a hint is for.
type hinted struct {
	*loaded
	ground
	files []string // that were saved, as seen from the workspace
}

// hintedAt lists the missions that a hint is for, each with what was saved there.
func (l *Local) hintedAt(r HookRequest) (list []*hinted, err error) {
	type place struct {
		missions []*loaded
		ground
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
			here.missions, here.ground, lerr = l.missionsAt(dir, r.Agent == hintGit)
			looked[dir], err = here, errors.Join(err, lerr)
		}
		for _, m := range here.missions {
			i := slices.IndexFunc(list, func(h *hinted) bool { return h.ID == m.ID })
			if i < 0 {
				i, list = len(list), append(list, &hinted{loaded: m, ground: here.ground})
			}
			list[i].files = append(list[i].files, m.below(filepath.Join(here.Dir, filepath.Base(at))))
		}
	}
	return list, err
}

// takeHint takes the snapshot of one mission.
func (l *Local) takeHint(ctx context.Context, m *hinted, r HookRequest, result *HookResult) error {
	event := Hinted{What: r.Agent + " ended"}
	switch {
	case r.Agent == hintGit:
		var due bool
		if event, due = m.headMove(m.Repo, r.Event); !due {
			return nil
		}
	case r.Event == hintSave && r.Alone && l.isElsewhere(m.loaded):
		return nil // an editor may save hundreds at once
	case r.Event == hintSave:
		event.What = "saved " + m.files[0]
		if more := len(m.files) - 1; more > 0 {
			event.What += fmt.Sprintf(" and %d more", more)
		}
		event.What += " in " + r.Agent
	}
	answer, err := l.submit(ctx, m.project, m.ID, &request{event: event})
	if err != nil {
		return err
	}
	if t, ok := answer.last(); ok {
		result.Mission, result.Snapshot = m.ID, t.snapshot.ID.String()
	}
	return nil
}

// isElsewhere reports whether another process has the mission's workspace.
func (l *Local) isElsewhere(m *loaded) bool {
	tree, err := lock.TryTree(l.home.Dir, m.bind.Workspace, l.self)
	if err != nil {
		return errors.Is(err, lock.ErrHeld)
	}
	return tree.Release() != nil
}

// missionsAt lists the missions that a hint from a directory is for, and what is
// there. A place that can't be looked at has none: it may be on another machine, or
// gone.
func (l *Local) missionsAt(dir string, byGit bool) ([]*loaded, ground, error) {
	g, err := survey(dir)
	if err != nil || byGit && g.Repo == nil {
		return nil, g, nil
	}
	p, err := l.projectNear(g)
	if p == nil || err != nil {
		return nil, g, err
	}
	all, _ := l.missionsOf(p)
	all = slices.DeleteFunc(all, func(m *loaded) bool {
		return m.bind.Machine == "" || m.workspaceGone() || !byGit && !within(m.bind.Workspace, g.Dir) || byGit && !m.worksIn(g.Repo)
	})
	alive := slices.DeleteFunc(slices.Clone(all), func(m *loaded) bool { return !HasAgent(m.life) && !m.live.kept() })
	if len(alive) == 0 && len(all) > 0 {
		alive = []*loaded{slices.MaxFunc(all, func(a, b *loaded) int { return a.used().Compare(b.used()) })}
	}
	return alive, g, nil
}

// worksIn reports whether the mission's workspace is the work tree of a
// repository, or in it: not one of its other work trees.
func (m *loaded) worksIn(repo *usergit.Repository) bool {
	if !within(repo.TopLevel, m.bind.Workspace) {
		return false
	}
	its, err := usergit.Discover(m.bind.Workspace)
	return err == nil && its.GitDir == repo.GitDir
}

// projectNear is projectOf for a hint: there is one at each save, wherever it is,
// so no other project is opened than the one that is meant.
func (l *Local) projectNear(g ground) (*project, error) {
	entries, err := os.ReadDir(l.home.ProjectsDir())
	if err != nil {
		return nil, nil // there is none yet
	}
	found, best := "", -1
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		dir := filepath.Join(l.home.ProjectsDir(), e.Name())
		h, err := readHints(dir)
		if err != nil {
			return l.projectOf(g) // its repository may tell
		}
		if fit := (&project{hints: h}).holds(g); fit > best {
			found, best = dir, fit
		}
	}
	if found == "" {
		return nil, nil
	}
	return l.openProject(found)
}

// headMove is what a hook of Git's means for the mission: a snapshot that notes
// where HEAD is, if it has moved since the last one, else one of what has changed
// in the files. A rebase is noted when it is over.
func (m *loaded) headMove(repo *usergit.Repository, hook string) (event Hinted, due bool) {
	if ops, _ := repo.Operations(); hook != "post-rewrite" && slices.Contains(ops, usergit.Rebase) {
		return Hinted{}, false
	}
	event.What = "git " + strings.TrimPrefix(hook, "post-")
	head, err := repo.Head()
	if err != nil || head.ID.String() == m.tip.GitHead && head.Branch() == m.tip.GitBranch {
		return event, true
	}
	return Hinted{What: moveInWords(repo, head), Moved: true}, true
}

// moveInWords says how HEAD came to be where it is, as far as its log does.
func moveInWords(repo *usergit.Repository, head usergit.Head) string {
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
