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

// walkLog is what a process that watches knows of the walks it made and owes.
type walkLog struct {
	made map[string]*missions.WorkspaceWalks // by workspace
	due  map[string]string                   // why the next capture is to walk, by workspace
}

func newWalkLog() walkLog {
	return walkLog{made: map[string]*missions.WorkspaceWalks{}, due: map[string]string{}}
}

func (wk *Workspaces) RequestWalk(root, why string) {
	wk.mu.Lock()
	defer wk.mu.Unlock()
	wk.walkLog.due[root] = why
}

// TakeWalkReason is why the workspace is to be walked, "" if it is not.
func (wk *Workspaces) TakeWalkReason(root string) string {
	wk.mu.Lock()
	defer wk.mu.Unlock()
	why := wk.walkLog.due[root]
	delete(wk.walkLog.due, root)
	return why
}

// findMissedPaths are those of the paths that a walk found changed of which an event
// should have told, and none does. Where the watcher itself said that anything may
// have changed there are none, unless that was because it lost what it was told;
// and of what changed during the walk it only hears now.
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

// countWalk counts what a capture that was accepted walked, if it did, and found
// that nobody had told of.
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

// MissionWalks lists the walks made in the workspaces of missions.
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
