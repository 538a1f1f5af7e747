package doctor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/history"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// Urgency is how much a project must be in need of housekeeping.
type Urgency int

// The urgencies. From Due on it is worth an idle moment; from Overdue on it is
// done although agents are at work.
const (
	Due Urgency = iota
	Overdue
)

// needsHousekeeping says from when on: thousands of loose objects cost time and disk, dozens
// of packs cost each read.
func (u Urgency) needsHousekeeping(b gitstore.Bulk) bool {
	if u == Overdue {
		return b.Loose >= 20_000 || b.Packs >= 50
	}
	return b.Loose >= 2_000 || b.Packs >= 20
}

// ProjectsToHousekeep lists the directories of the projects that need housekeeping, or hold
// something borrowed that is not verified yet.
func (l *Examiner) ProjectsToHousekeep(u Urgency) []string {
	all, _ := l.AllProjects()
	var dirs []string
	for _, p := range all {
		b, err := p.Store.Bulk()
		if err == nil && u.needsHousekeeping(b) || u == Due && Unverified(p) {
			dirs = append(dirs, p.Dir)
		}
	}
	return dirs
}

// Housekeep verifies what a project has borrowed, packs what it has scattered and
// removes what killed processes left. It may take seconds and may be cut off at any instant, by the end of the
// context too; it keeps nobody waiting but who prunes. The error is the
// context's, or that somebody else is at it; another is in the result.
func (l *Examiner) Housekeep(ctx context.Context, dir string) (missions.Housekeeping, error) {
	h := missions.Housekeeping{Project: filepath.Base(dir)}
	p, err := l.OpenProject(dir)
	if err == nil {
		h.Project = p.Name
		err = l.housekeepProject(ctx, p, &h)
	}
	h.At = l.Now()
	switch {
	case err == nil:
		return h, nil
	case ctx.Err() != nil:
		return h, ctx.Err()
	case errors.Is(err, gitstore.ErrRepacking), errors.Is(err, lock.ErrHeld):
		return h, home.LockError(err)
	}
	h.Problem = err.Error()
	return h, nil
}

func (l *Examiner) housekeepProject(ctx context.Context, p *projects.Project, h *missions.Housekeeping) error {
	damage, err := verifyBorrowed(p, ctx)
	if wrong := (*damagedError)(nil); errors.As(err, &wrong) {
		l.Logger.Warn("verify what was borrowed", "project", p.Name, "error", wrong)
		h.Mended = wrong.Error() + "; what could be read was stored again"
		err = l.mendBorrowed(ctx, p, damage)
	}
	lost := err
	if err != nil && !errors.As(err, new(lostError)) {
		return err
	}
	held, err := lock.Try(lock.ProjectFile(l.Home.Dir, p.ID), lock.Shared, l.Self)
	if err != nil {
		return err
	}
	defer func() { _ = held.Release() }()
	stats, err := p.Store.Repack(ctx)
	h.Packed, h.Removed, h.FreedBytes = stats.Packed, stats.Loose+stats.Packs, stats.Freed
	if err != nil {
		return err
	}
	swept, err := p.Store.Sweep(ctx)
	h.FreedBytes += swept.Bytes
	if err != nil {
		return fmt.Errorf("after the repack: %w", err)
	}
	return lost
}

// FillIndex puts the snapshots that nobody has listed yet into the index, so that
// the first listing after a long turn is as fast as any. What it began it goes on
// with the next time.
func (l *Examiner) FillIndex(ctx context.Context) error {
	if l.Index == nil {
		return nil
	}
	all, _ := l.AllProjects()
	var errs []error
	for _, p := range all {
		list, _ := l.ProjectMissions(p)
		for _, m := range list {
			errs = append(errs, l.indexMission(ctx, m))
		}
	}
	return errors.Join(errs...)
}

// indexMission goes from the oldest snapshot to the newest, so that the newest that
// is known says where to go on.
func (l *Examiner) indexMission(ctx context.Context, m *projects.Mission) error {
	var unknown []*gitstore.Snapshot
	for s, err := range m.Project.SnapshotCache.WalkHistory(m.Project.Store, m.Tip.ID) {
		if err != nil {
			return err
		}
		if _, ok := l.snapshots.IndexedFacts(s.ID, true); ok {
			break
		}
		unknown = append(unknown, s)
	}
	lines := history.Differ(m.Project, ctx, gitstore.DiffLines, nil)
	defer lines.Close()
	for _, s := range slices.Backward(unknown) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := l.snapshots.FindFacts(ctx, m.Project, s, lines); err != nil {
			return err
		}
	}
	return nil
}
