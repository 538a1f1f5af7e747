package missions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/lock"
)

// replacePatience is how long the captures of a project are waited for, to set a
// damaged file aside while none runs.
const replacePatience = 5 * time.Second

// unverified reports whether the project holds something that was borrowed from
// the user's repository and not compared with its ids yet.
func (p *project) unverified() bool {
	list, err := p.store.Unverified()
	return err == nil && len(list) > 0
}

// lostError says that objects of snapshots can be had from nowhere.
type lostError int

func (e lostError) Error() string {
	return objectsAre(int(e)) + " lost to snapshots: no workspace holds it any more, and umbra doctor says where it was"
}

// damagedError says that something borrowed is not what its name says. The
// user's own repository has the same damage: it is the same file.
type damagedError struct {
	objects int
	source  string
}

func (e *damagedError) Error() string {
	return fmt.Sprintf("of what was borrowed from %s, %s damaged, there too", cmp.Or(e.source, "your repository"), objectsAre(e.objects))
}

func objectsAre(n int) string {
	if n == 1 {
		return "1 object is"
	}
	return fmt.Sprintf("%d objects are", n)
}

// verifyBorrowed compares what was borrowed with its ids. What is damaged is a
// *damagedError; mendBorrowed then brings back what can be had.
func (p *project) verifyBorrowed(ctx context.Context) (gitstore.Damage, error) {
	damage, err := p.store.Verify(ctx)
	if err != nil || !damage.Any() {
		return damage, err
	}
	return damage, &damagedError{len(damage.Objects), damage.Source}
}

// recapture reads the project's workspaces again, whole: what they hold of damaged
// or missing objects, which are distrusted, is stored anew.
func (l *Local) recapture(ctx context.Context, p *project) {
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
			return storeDocs(ctx, p.store, captured)
		})
		if err != nil {
			l.log.Warn("read again what was damaged", "mission", m.ID, "workspace", m.bind.Workspace, "error", err)
		}
	}
}

// storeDocs stores what records say of a capture: most snapshots of a workspace share
// it, and none of them can be restored without.
func storeDocs(ctx context.Context, store *gitstore.Store, c *capture.Result) error {
	batch := store.NewBatch()
	defer batch.Discard()
	for _, doc := range captureDocs(c) {
		if _, err := batch.Write(gitstore.TypeBlob, doc.content); err != nil {
			return err
		}
	}
	return batch.Flush(ctx)
}

// salvage is gitstore.Store.Salvage while nobody takes a snapshot of the project:
// nobody relies meanwhile on what the files hold.
func (l *Local) salvage(ctx context.Context, p *project, files []gitstore.RottenFile) error {
	patient, cancel := context.WithTimeout(ctx, replacePatience)
	defer cancel()
	held, err := lock.Wait(patient, lock.ProjectFile(l.home.Dir, p.ID), lock.Exclusive, l.self)
	if err != nil {
		return busy(err)
	}
	defer func() { _ = held.Release() }()
	roots, err := l.unpublished(p)
	if err == nil {
		_, err = p.store.Salvage(ctx, files, roots)
	}
	return err
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

// mendBorrowed stores again what can be had of what is damaged of what was borrowed:
// from the workspaces, and from the damaged packs, which are set aside.
func (l *Local) mendBorrowed(ctx context.Context, p *project, damage gitstore.Damage) error {
	l.recapture(ctx, p)
	if len(damage.Packs) > 0 {
		if err := l.salvage(ctx, p, damage.Packs); err != nil {
			return err
		}
	}
	lost := 0
	for _, id := range damage.Objects {
		if _, _, err := p.store.Object(id); err != nil {
			lost++
		}
	}
	if lost > 0 {
		return lostError(lost)
	}
	return nil
}

// borrowed verifies at once what is not verified yet of what was borrowed from
// the user's repository.
func (d *examination) borrowed(ctx context.Context, p *project) error {
	if !p.unverified() {
		return nil
	}
	damage, err := p.verifyBorrowed(ctx)
	if wrong := (*damagedError)(nil); errors.As(err, &wrong) {
		d.found(Problem{Invariant: "I1", Project: p.Name, Message: wrong.Error()}, func() error {
			err := d.l.mendBorrowed(ctx, p, damage)
			if errors.As(err, new(lostError)) {
				return nil // it is said with all that is lost
			}
			return err
		})
		return nil
	}
	if err == nil {
		d.result.Verified = append(d.result.Verified, p.Name)
	}
	return err
}
