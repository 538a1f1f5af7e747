package missions

import (
	"context"
	"errors"
	"slices"
)

// Unread is how far the reading is of files that the first snapshot of a
// workspace took over by what the user's index said of them.
type Unread struct {
	Workspace string `json:"workspace"`
	Files     int    `json:"files"`
}

// ReadSeeded reads, a step at a time, what first snapshots took over from the
// user's index: it says what Git made of a file, which a filter that is gone by
// now may have changed. What turns out to be other is corrected by a snapshot. It
// is for the process that watches, when nothing else is to be done; the end of the
// context ends it, and it goes on another time. Workspaces in which an agent is in
// a turn are left for later.
func (l *Local) ReadSeeded(ctx context.Context) error {
	var errs []error
	for _, ws := range l.knownWorkspaces() {
		for left := ws.unread(); left > 0 && ctx.Err() == nil; {
			if err := l.readSeeded(ctx, ws); err != nil {
				errs = append(errs, err)
				break
			}
			was := left
			if left = ws.unread(); left >= was {
				break // it is used, or nobody's any more
			}
		}
	}
	return errors.Join(errs...)
}

// unread is how many files nobody has read yet. It may be asked at any time.
func (ws *workspace) unread() int {
	if known := ws.known.Load(); known != nil {
		return known.Unread()
	}
	return 0
}

// readSeeded is one step in one workspace.
func (l *Local) readSeeded(ctx context.Context, ws *workspace) error {
	m := l.newestIn(ws)
	if m == nil {
		return nil
	}
	return l.holding(ctx, m, func(m *loaded) error {
		ws, err := l.workspace(ctx, m)
		if err != nil {
			return err
		}
		corrected, err := ws.readStep(ctx, m)
		if err != nil || !corrected {
			return err
		}
		_, err = l.commit(ctx, m, &wanted{
			Take:     Take{Trigger: TriggerWatch, Of: m.life, What: "files read that Git had described otherwise", OnlyIfChanged: true},
			triggers: Triggers{TriggerWatch},
		})
		return err
	})
}

// readStep captures the workspace with a step of what is unread; it tells whether
// any of that was not as Git had said.
func (ws *workspace) readStep(ctx context.Context, m *loaded) (corrected bool, err error) {
	ws.seeded = true
	defer func() { ws.seeded = false }()
	batch := m.project.store.NewBatch()
	defer batch.Discard()
	captured, err := ws.capture(ctx, m.project.store, batch, m.tip)
	if err != nil {
		return false, err
	}
	if err := batch.Flush(ctx); err != nil {
		ws.giveBack()
		return false, err
	}
	ws.accept(captured)
	return captured.Stats.Corrected > 0, nil
}

// newestIn is the mission that took the newest snapshot of a workspace; nil if
// there is none, or an agent is in a turn there.
func (l *Local) newestIn(ws *workspace) *loaded {
	all, _ := l.allProjects()
	at := slices.IndexFunc(all, func(p *project) bool { return p.ID == ws.project })
	if at < 0 {
		return nil
	}
	missions, _ := l.missionsOf(all[at])
	var newest *loaded
	for _, m := range missions {
		switch {
		case m.bind.Place != ws.place || m.tip == nil || m.bound() != nil:
		case InTurn(m.life):
			return nil
		case newest == nil || m.tip.At.After(newest.tip.At):
			newest = m
		}
	}
	return newest
}

// unreadIn lists what is unread in the workspaces of missions.
func (l *Local) unreadIn(list []Mission) []Unread {
	var out []Unread
	for _, ws := range l.knownWorkspaces() {
		if n := ws.unread(); n > 0 && slices.ContainsFunc(list, func(m Mission) bool { return m.Workspace == ws.root }) {
			out = append(out, Unread{ws.root, n})
		}
	}
	return out
}
