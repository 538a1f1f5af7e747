package missions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/lock"
)

// replacePatience is how long the captures of a project are waited for, to
// replace a pack while none runs.
const replacePatience = 5 * time.Second

// lostPatience is how long nobody but doctor tries again to replace a borrowed
// pack of which something is lost: each time its project is read whole.
const lostPatience = 24 * time.Hour

// unverified reports whether the project holds something that was borrowed from
// the user's repository and not compared with its ids yet, but for what was given
// up after the time since.
func (p *project) unverified(since time.Time) bool {
	list, err := p.store.Unverified()
	return err == nil && slices.ContainsFunc(list, func(u gitstore.Unproved) bool { return !u.Tried.After(since) })
}

// lostError says that objects of snapshots can be had from nowhere.
type lostError int

func (e lostError) Error() string {
	return objectsAre(int(e)) + " lost to snapshots: no workspace holds it any more"
}

// givenUp is the *lostError of what was borrowed, found damaged and given up, nil
// if nothing was.
func (p *project) givenUp() error {
	list, err := p.store.Unverified()
	lost := 0
	for _, u := range list {
		lost += u.Lost
	}
	if err == nil && lost > 0 {
		return lostError(lost)
	}
	return err
}

// damagedError says that something borrowed is not what its name says. The
// user's own repository has the same damage: it is the same file.
type damagedError struct {
	objects int
	source  string
}

func (e *damagedError) Error() string {
	from := "your repository"
	if e.source != "" {
		from = e.source
	}
	return fmt.Sprintf("of what was borrowed from %s, %s damaged, there too", from, objectsAre(e.objects))
}

func objectsAre(n int) string {
	if n == 1 {
		return "1 object is"
	}
	return fmt.Sprintf("%d objects are", n)
}

// verifyBorrowed compares what was borrowed with its ids, but for what was given
// up after the time since. What is damaged is a *damagedError; recapture then
// brings back what is still in a workspace.
func (p *project) verifyBorrowed(ctx context.Context, since time.Time) (gitstore.Damage, error) {
	damage, err := p.store.Verify(ctx, since)
	if err != nil || !damage.Any() {
		return damage, err
	}
	wrong := &damagedError{objects: len(damage.Objects)}
	if len(damage.Packs) > 0 {
		wrong.source = p.store.Source(damage.Packs[0])
	}
	return damage, wrong
}

// recapture reads the project's workspaces again, whole: what they hold of the
// damaged objects is stored anew. Then the damaged packs are replaced.
func (l *Local) recapture(ctx context.Context, p *project, damage gitstore.Damage) error {
	missions, _ := l.missionsOf(p)
	seen := map[Place]bool{}
	for _, m := range missions {
		if seen[m.bind.Place] || m.bound() != nil {
			continue
		}
		seen[m.bind.Place] = true
		err := l.holding(ctx, m, func(m *loaded) error {
			ws, err := l.workspace(ctx, m)
			if err != nil {
				return err
			}
			ws.scanner.Suspect()
			captured, err := l.capturePresent(ctx, m)
			if err != nil {
				return err
			}
			return regainDocs(ctx, p.store, captured, damage.Objects)
		})
		if err != nil {
			l.log.Warn("read again what was damaged", "mission", m.ID, "workspace", m.bind.Workspace, "error", err)
		}
	}
	if len(damage.Packs) == 0 {
		return nil
	}
	patient, cancel := context.WithTimeout(ctx, replacePatience)
	defer cancel()
	held, err := lock.Wait(patient, lock.ProjectFile(l.home.Dir, p.ID), lock.Exclusive, l.self)
	if err != nil {
		return busy(err)
	}
	defer func() { _ = held.Release() }()
	roots, err := l.unpublished(p)
	if err != nil {
		return err
	}
	lost, err := p.store.Replace(ctx, damage.Packs, roots)
	if err != nil || len(lost) == 0 {
		return err
	}
	return errors.Join(lostError(len(lost)), p.store.GiveUp(damage.Packs, len(lost), l.now()))
}

// unpublished are the first snapshots of headless sessions, and their records,
// to which no ref leads yet.
func (l *Local) unpublished(p *project) ([]gitstore.ID, error) {
	ids, err := l.journal.LiveMissions()
	if err != nil {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	var roots []gitstore.ID
	for _, id := range ids {
		var state live
		raw, err := l.journal.Live(id)
		if err != nil || json.Unmarshal(raw, &state) != nil || state.Provisional == "" {
			continue
		}
		first, err := gitstore.ParseID(state.Provisional)
		if err != nil {
			continue
		}
		if snap, err := p.store.Snapshot(first); err == nil {
			roots = append(roots, snap.ID, snap.Record)
		}
	}
	return roots, nil
}

// mendBorrowed is verifyBorrowed, and what is damaged mended as far as can be.
// The text says what was wrong, "" if nothing was.
func (l *Local) mendBorrowed(ctx context.Context, p *project) (string, error) {
	since := l.now().Add(-lostPatience)
	if !p.unverified(since) {
		return "", p.givenUp()
	}
	damage, err := p.verifyBorrowed(ctx, since)
	var wrong *damagedError
	if !errors.As(err, &wrong) {
		return "", err
	}
	l.log.Warn("verify what was borrowed", "project", p.Name, "error", wrong)
	if err := l.recapture(ctx, p, damage); err != nil {
		return "", fmt.Errorf("%w; %w", wrong, err)
	}
	return wrong.Error() + "; what snapshots need of them was stored again", p.givenUp()
}

// borrowed verifies at once what is not verified yet of what was borrowed from
// the user's repository.
func (d *examination) borrowed(ctx context.Context, p *project) error {
	now := d.l.now()
	if !p.unverified(now) {
		return nil
	}
	damage, err := p.verifyBorrowed(ctx, now)
	var wrong *damagedError
	switch {
	case errors.As(err, &wrong):
		d.found(Problem{Invariant: "I1", Project: p.Name, Message: wrong.Error()}, func() error { return d.l.recapture(ctx, p, damage) })
		return nil
	case err == nil:
		d.result.Verified = append(d.result.Verified, p.Name)
	}
	return err
}
