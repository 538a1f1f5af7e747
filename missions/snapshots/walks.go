package snapshots

import (
	"context"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/missions"
)

// ReasonNotWatched is why a walk is due where there is no watcher.
const ReasonNotWatched = "not watched"

// walkLog is what a process that watches knows of the walks that it made and owes.
type walkLog struct {
	made map[string]*missions.WorkspaceWalks // by workspace
	due  map[string]string                   // why the next capture is to walk, by workspace
}

func newWalkLog() walkLog {
	return walkLog{made: map[string]*missions.WorkspaceWalks{}, due: map[string]string{}}
}

// RequestWalk has the next capture of a workspace walk all of it.
func (wk *Workspaces) RequestWalk(root, why string) {
	wk.mu.Lock()
	defer wk.mu.Unlock()
	wk.walkLog.due[root] = why
}

// TakeWalkReason is why the workspace is to be walked, "" if it is not. The reason is
// forgotten then.
func (wk *Workspaces) TakeWalkReason(root string) string {
	wk.mu.Lock()
	defer wk.mu.Unlock()
	why := wk.walkLog.due[root]
	delete(wk.walkLog.due, root)
	return why
}

// findMissedPaths are the paths that a walk found changed although no event told of
// them. There are none where the watcher itself said that anything may have changed,
// unless it said so because it lost events. Paths that changed during the walk are not
// counted: the watcher hears of them only now.
func (ws *WorkspaceCache) findMissedPaths(ctx context.Context, missed []string) []string {
	if ws.workspaces.Watching == nil || len(missed) == 0 || ws.Dirty.Full && !ws.Dirty.Lost {
		return nil
	}
	now := ws.workspaces.Watching.Take(ctx, ws.Root)
	ws.workspaces.Watching.Return(ws.Root, now)
	if now.Full && !now.Lost {
		return nil // nobody can tell
	}
	return slices.DeleteFunc(slices.Clone(missed), now.IncludesPath)
}

// countWalk counts the walk of an accepted capture, if it walked, and the changes that
// no event told of.
func (wk *Workspaces) countWalk(root, why string, missed []string, r *capture.Result) {
	if !r.Walked && r.Stats.Corrected == 0 {
		return
	}
	if why == "" {
		why = "the rules have changed, or most files have gone"
	}
	if len(missed) > 0 {
		const named = 5
		wk.Logger.Warn("a walk found changes that no event told of", "workspace", root, "why", why,
			"changes", len(missed), "among them", strings.Join(missed[:min(len(missed), named)], ", "))
	}
	wk.mu.Lock()
	defer wk.mu.Unlock()
	w := wk.walkLog.made[root]
	if w == nil {
		w = &missions.WorkspaceWalks{Workspace: root}
		wk.walkLog.made[root] = w
	}
	w.Corrected += len(missed) + r.Stats.Corrected
	if r.Walked {
		w.Count++
		w.LastAt, w.LastWhy = wk.Now(), why
	}
}

// MissionWalks lists the walks in the workspaces of missions.
func (wk *Workspaces) MissionWalks(list []missions.Mission) []missions.WorkspaceWalks {
	wk.mu.Lock()
	defer wk.mu.Unlock()
	var out []missions.WorkspaceWalks
	for _, m := range list {
		w := wk.walkLog.made[m.Workspace]
		if w != nil && !slices.ContainsFunc(out, func(o missions.WorkspaceWalks) bool { return o.Workspace == w.Workspace }) {
			out = append(out, *w)
		}
	}
	return out
}
