package snapshots

import (
	"context"
	"errors"
	"slices"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// ReadSeededFiles reads the files that first snapshots took over from the user's index.
// The index says what Git made of a file, and a filter that is gone by now may have
// changed it; a snapshot corrects what differs. The process that watches calls it when
// nothing else is to be done. It reads a step at a time until ctx ends, and continues
// with the next call. It skips workspaces in which an agent is in a turn.
func (tk *Taker) ReadSeededFiles(ctx context.Context) error {
	var errs []error
	for _, ws := range tk.CachedWorkspaces() {
		for left := ws.unreadFiles(); left > 0 && ctx.Err() == nil; {
			if err := tk.readSeededStep(ctx, ws); err != nil {
				errs = append(errs, err)
				break
			}
			was := left
			if left = ws.unreadFiles(); left >= was {
				break // it is used, or nobody's any more
			}
		}
	}
	return errors.Join(errs...)
}

// unreadFiles is how many files nobody has read yet. Any goroutine may ask at any time.
func (ws *WorkspaceCache) unreadFiles() int {
	if known := ws.knownFiles.Load(); known != nil {
		return known.Unread()
	}
	return 0
}

// readSeededStep reads one step in one workspace.
func (tk *Taker) readSeededStep(ctx context.Context, ws *WorkspaceCache) error {
	m := tk.newestMissionIn(ws)
	if m == nil {
		return nil
	}
	return tk.WithWorkspaceLock(ctx, m, func(m *projects.Mission) error {
		ws, err := tk.RefreshWorkspace(ctx, m)
		if err != nil {
			return err
		}
		corrected, err := ws.readUnreadStep(ctx, m)
		if err != nil || !corrected {
			return err
		}
		_, err = tk.TakeSnapshot(ctx, m, &WantedSnapshot{
			TakeSnapshot: missions.TakeSnapshot{Trigger: missions.TriggerWatch, Lifecycle: m.Lifecycle, Message: "files read that Git had described otherwise", OnlyIfChanged: true},
			Triggers:     missions.Triggers{missions.TriggerWatch},
		})
		return err
	})
}

// readUnreadStep captures the workspace and reads a step of the unread files. It
// reports whether one of them was not as Git had said.
func (ws *WorkspaceCache) readUnreadStep(ctx context.Context, m *projects.Mission) (corrected bool, err error) {
	ws.readsSeeded = true
	defer func() { ws.readsSeeded = false }()
	batch := m.Project.Store.NewBatch()
	defer batch.Discard()
	captured, err := ws.CaptureFiles(ctx, m, batch)
	if err != nil {
		return false, err
	}
	if err := batch.Flush(ctx); err != nil {
		ws.ReturnCapture()
		return false, err
	}
	ws.AcceptCapture(captured)
	return captured.Stats.Corrected > 0, nil
}

// newestMissionIn is the mission that took the newest snapshot of a workspace; nil if
// there is none, or if an agent is in a turn there.
func (wk *Workspaces) newestMissionIn(ws *WorkspaceCache) *projects.Mission {
	all, _ := wk.AllProjects()
	at := slices.IndexFunc(all, func(p *projects.Project) bool { return p.ID == ws.project })
	if at < 0 {
		return nil
	}
	list, _ := wk.ProjectMissions(all[at])
	var newest *projects.Mission
	for _, m := range list {
		switch {
		case m.Binding.Identity.FileIdentity != ws.Identity || m.Tip == nil || m.CheckMachine() != nil:
		case missions.InTurn(m.Lifecycle):
			return nil
		case newest == nil || m.Tip.At.After(newest.Tip.At):
			newest = m
		}
	}
	return newest
}

// UnreadWorkspaces lists how many files are unread in the workspaces of missions.
func (wk *Workspaces) UnreadWorkspaces(list []missions.Mission) []missions.UnreadFiles {
	var out []missions.UnreadFiles
	for _, ws := range wk.CachedWorkspaces() {
		if n := ws.unreadFiles(); n > 0 && slices.ContainsFunc(list, func(m missions.Mission) bool { return m.Workspace == ws.Root }) {
			out = append(out, missions.UnreadFiles{Workspace: ws.Root, Files: n})
		}
	}
	return out
}
