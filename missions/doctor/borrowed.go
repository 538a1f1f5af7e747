package doctor

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
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// replacePatience is how long the captures of a project are waited for, to set a
// damaged file aside while none runs.
const replacePatience = 5 * time.Second

// Unverified reports whether the project holds something that was borrowed from
// the user's repository and not compared with its ids yet.
func Unverified(p *projects.Project) bool {
	list, err := p.Store.Unverified()
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
func verifyBorrowed(p *projects.Project, ctx context.Context) (gitstore.Damage, error) {
	damage, err := p.Store.Verify(ctx)
	if err != nil || !damage.Any() {
		return damage, err
	}
	return damage, &damagedError{len(damage.Objects), damage.Source}
}

// recapture reads the project's workspaces again, whole: what they hold of damaged
// or missing objects, which are distrusted, is stored anew.
func (l *Examiner) recapture(ctx context.Context, p *projects.Project) {
	missions, _ := l.ProjectMissions(p)
	seen := map[home.FileIdentity]bool{}
	for _, m := range missions {
		if seen[m.Binding.Identity] || m.CheckMachine() != nil {
			continue
		}
		seen[m.Binding.Identity] = true
		err := l.WithWorkspaceLock(ctx, m, func(m *projects.Mission) error {
			ws, err := l.snapshots.RefreshWorkspace(ctx, m)
			if err != nil {
				return err
			}
			ws.Scanner.Suspect()
			captured, err := l.snapshots.CaptureWorkspace(ctx, m)
			if err != nil {
				return err
			}
			return storeDocs(ctx, p.Store, captured)
		})
		if err != nil {
			l.Logger.Warn("read again what was damaged", "mission", m.ID, "workspace", m.Binding.Workspace, "error", err)
		}
	}
}

// storeDocs stores what records say of a capture: most snapshots of a workspace share
// it, and none of them can be restored without.
func storeDocs(ctx context.Context, store *gitstore.Store, c *capture.Result) error {
	batch := store.NewBatch()
	defer batch.Discard()
	for _, doc := range snapshots.CaptureDocs(c) {
		if _, err := batch.Write(gitstore.TypeBlob, doc.Content); err != nil {
			return err
		}
	}
	return batch.Flush(ctx)
}

// salvage is gitstore.Store.Salvage while nobody takes a snapshot of the project:
// nobody relies meanwhile on what the files hold.
func (l *Examiner) salvage(ctx context.Context, p *projects.Project, files []gitstore.RottenFile) error {
	patient, cancel := context.WithTimeout(ctx, replacePatience)
	defer cancel()
	held, err := lock.Wait(patient, lock.ProjectFile(l.Home.Dir, p.ID), lock.Exclusive, l.Self)
	if err != nil {
		return home.LockError(err)
	}
	defer func() { _ = held.Release() }()
	roots, err := l.unpublished(p)
	if err == nil {
		_, err = p.Store.Salvage(ctx, files, roots)
	}
	return err
}

// unpublished are the first snapshots of headless sessions, and their records,
// to which no ref leads yet.
func (l *Examiner) unpublished(p *projects.Project) ([]gitstore.ID, error) {
	ids, err := l.Journal.LiveMissions()
	if err != nil {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	var roots []gitstore.ID
	for _, id := range ids {
		var state projects.Live
		raw, err := l.Journal.Live(id)
		if err != nil || json.Unmarshal(raw, &state) != nil || state.ProvisionalSnapshot == "" {
			continue
		}
		first, err := gitstore.ParseID(state.ProvisionalSnapshot)
		if err != nil {
			continue
		}
		if snap, err := p.Store.Snapshot(first); err == nil {
			roots = append(roots, snap.ID, snap.Record)
		}
	}
	return roots, nil
}

// mendBorrowed stores again what can be had of what is damaged of what was borrowed:
// from the workspaces, and from the damaged packs, which are set aside.
func (l *Examiner) mendBorrowed(ctx context.Context, p *projects.Project, damage gitstore.Damage) error {
	l.recapture(ctx, p)
	if len(damage.Packs) > 0 {
		if err := l.salvage(ctx, p, damage.Packs); err != nil {
			return err
		}
	}
	lost := 0
	for _, id := range damage.Objects {
		if _, _, err := p.Store.Object(id); err != nil {
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
func (d *Examination) borrowed(ctx context.Context, p *projects.Project) error {
	if !Unverified(p) {
		return nil
	}
	damage, err := verifyBorrowed(p, ctx)
	if wrong := (*damagedError)(nil); errors.As(err, &wrong) {
		d.found(missions.Problem{Invariant: "I1", Project: p.Name, Message: wrong.Error()}, func() error {
			err := d.L.mendBorrowed(ctx, p, damage)
			if errors.As(err, new(lostError)) {
				return nil // it is said with all that is lost
			}
			return err
		})
		return nil
	}
	if err == nil {
		d.Result.Verified = append(d.Result.Verified, p.Name)
	}
	return err
}
