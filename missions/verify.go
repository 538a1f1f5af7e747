package missions

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/capture"
)

// Walks are the walks over every file of a watched workspace: what a watcher
// can't see (writes through a mapping or a hard link, lost events) is found by
// them.
type Walks struct {
	Workspace string    `json:"workspace"`
	Count     int       `json:"count"`
	Corrected int       `json:"corrected"` // changes found that an event should have told of, and none had
	LastAt    time.Time `json:"last_at,omitzero"`
	LastWhy   string    `json:"last_why,omitempty"`
}

// NotWatched is why a walk is due where there is no watcher.
const NotWatched = "not watched"

// walks is what a process that watches knows of the walks it made and owes.
type walks struct {
	made map[string]*Walks // by workspace
	due  map[string]string // why the next capture is to walk, by workspace
}

func newWalks() walks { return walks{made: map[string]*Walks{}, due: map[string]string{}} }

// Verify walks over a workspace although its watcher says what has changed, and
// takes a snapshot if that was not all. While a mission there is in a turn the
// next snapshot walks. It is for the process that watches; why is for people.
func (l *Local) Verify(ctx context.Context, root, why string) error {
	live := l.liveIn(root)
	if len(live) == 0 {
		return nil
	}
	l.oweWalk(root, why)
	if slices.ContainsFunc(live, func(m *loaded) bool { return InTurn(m.life) }) {
		return nil
	}
	defer l.takeOwedWalk(root) // if nothing was captured after all
	return l.Observe(ctx, root, SawQuiet)
}

func (l *Local) oweWalk(root, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.walks.due[root] = why
}

// takeOwedWalk is why the workspace is to be walked, "" if it is not.
func (l *Local) takeOwedWalk(root string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	why := l.walks.due[root]
	delete(l.walks.due, root)
	return why
}

// unheard are those of the paths that a walk found changed of which an event
// should have told, and none does. Where the watcher itself said that anything may
// have changed there are none, unless that was because it lost what it was told;
// and of what changed during the walk it only hears now.
func (ws *workspace) unheard(ctx context.Context, missed []string) []string {
	if ws.l.watching == nil || len(missed) == 0 || ws.dirty.Full && !ws.dirty.Lost {
		return nil
	}
	now := ws.l.watching.Take(ctx, ws.root)
	ws.l.watching.Return(ws.root, now)
	if now.Full && !now.Lost {
		return nil // nobody can tell
	}
	return slices.DeleteFunc(slices.Clone(missed), now.names)
}

// names reports whether a path is named, or below a directory that is.
func (d Dirty) names(path string) bool {
	return slices.Contains(d.Paths, path) || slices.ContainsFunc(d.Trees, func(dir string) bool {
		return path == dir || strings.HasPrefix(path, dir+"/")
	})
}

// noteWalk counts what a capture that was accepted walked, if it did, and found
// that nobody had told of.
func (l *Local) noteWalk(root, why string, missed []string, r *capture.Result) {
	if !r.Walked && r.Stats.Corrected == 0 {
		return
	}
	if why == "" {
		why = "the rules have changed, or most files have gone"
	}
	if len(missed) > 0 {
		const named = 5
		l.log.Warn("a walk found changes that no event told of", "workspace", root, "why", why,
			"changes", len(missed), "among them", strings.Join(missed[:min(len(missed), named)], ", "))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.walks.made[root]
	if w == nil {
		w = &Walks{Workspace: root}
		l.walks.made[root] = w
	}
	w.Corrected += len(missed) + r.Stats.Corrected
	if r.Walked {
		w.Count++
		w.LastAt, w.LastWhy = l.now(), why
	}
}

// walksIn lists the walks made in the workspaces of missions.
func (l *Local) walksIn(list []Mission) []Walks {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []Walks
	for _, m := range list {
		w := l.walks.made[m.Workspace]
		if w != nil && !slices.ContainsFunc(out, func(o Walks) bool { return o.Workspace == w.Workspace }) {
			out = append(out, *w)
		}
	}
	return out
}
