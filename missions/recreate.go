package missions

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/sessions"
)

// recreate makes again what a launch needs and somebody removed: a workspace
// that Umbra made, and a session file, both from the newest snapshot.
func (l *Local) recreate(ctx context.Context, m *loaded, r LaunchRequest) error {
	place, err := placeOf(m.bind.Workspace)
	if err != nil || place != m.bind.Place || r.Recreate != "" {
		if err := l.recreateWorkspace(ctx, m, r.Recreate); err != nil {
			return err
		}
	}
	return l.recreateSession(ctx, m)
}

// recreateSession puts a lost session file back as the newest record holds it.
func (l *Local) recreateSession(ctx context.Context, m *loaded) error {
	a := l.adapter(m.Agent)
	if a == nil || m.bind.Session == "" {
		return nil
	}
	if present, err := l.sessionPresent(m, a); present || err != nil {
		return err
	}
	r, meta, err := l.sessionOf(m.project, m.record)
	if errors.Is(err, sessions.ErrNoSession) || err == nil && meta.SessionID != m.stored.Session {
		return nil // it was never written
	}
	if err != nil {
		return err
	}
	defer r.Close()
	Notify(ctx, Notice{Text: "putting the session of " + m.Name + " back from its newest snapshot"})
	err = journal.Place(m.bind.Session, 0o600, func(w io.Writer) error {
		_, err := io.Copy(w, r)
		return err
	}, journal.PlaceOptions{})
	if err != nil {
		return fmt.Errorf("put the session back: %w", err)
	}
	return nil
}
