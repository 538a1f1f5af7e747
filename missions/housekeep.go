package missions

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/lock"
)

// Housekeeping is what was last done to keep a project's shadow repository fast
// and small.
type Housekeeping struct {
	Project string    `json:"project"`
	At      time.Time `json:"at"`
	// Packed counts objects that were packed together, Removed the loose objects
	// and packs that this made superfluous.
	Packed  int `json:"packed"`
	Removed int `json:"removed"`
	// FreedBytes is what the repository shrank by.
	FreedBytes int64 `json:"freed_bytes"`
	// Mended says what was found damaged of what was borrowed from the user's
	// repository, and stored again.
	Mended string `json:"mended,omitempty"`
	// Problem is why it was not done, or not to its end.
	Problem string `json:"problem,omitempty"`
}

// Urgency is how much a project must be in need of housekeeping.
type Urgency int

// The urgencies. From Due on it is worth an idle moment; from Overdue on it is
// done although agents are at work.
const (
	Due Urgency = iota
	Overdue
)

// needs says from when on: thousands of loose objects cost time and disk, dozens
// of packs cost each read.
func (u Urgency) needs(b gitstore.Bulk) bool {
	if u == Overdue {
		return b.Loose >= 20_000 || b.Packs >= 50
	}
	return b.Loose >= 2_000 || b.Packs >= 20
}

// Unkempt lists the directories of the projects that need housekeeping, or hold
// something borrowed that is not verified yet.
func (l *Local) Unkempt(u Urgency) []string {
	all, _ := l.allProjects()
	var dirs []string
	for _, p := range all {
		b, err := p.store.Bulk()
		if err == nil && u.needs(b) || u == Due && p.unverified() {
			dirs = append(dirs, p.Dir)
		}
	}
	return dirs
}

// Housekeep verifies what a project has borrowed, packs what it has scattered and
// removes what killed processes left. It may take seconds and may be cut off at any instant, by the end of the
// context too; it keeps nobody waiting but who prunes. The error is the
// context's, or that somebody else is at it; another is in the result.
func (l *Local) Housekeep(ctx context.Context, dir string) (Housekeeping, error) {
	h := Housekeeping{Project: filepath.Base(dir)}
	p, err := l.openProject(dir)
	if err == nil {
		h.Project = p.Name
		err = l.housekeep(ctx, p, &h)
	}
	h.At = l.now()
	switch {
	case err == nil:
		return h, nil
	case ctx.Err() != nil:
		return h, ctx.Err()
	case errors.Is(err, gitstore.ErrRepacking), errors.Is(err, lock.ErrHeld):
		return h, busy(err)
	}
	h.Problem = err.Error()
	return h, nil
}

func (l *Local) housekeep(ctx context.Context, p *project, h *Housekeeping) error {
	damage, err := p.verifyBorrowed(ctx)
	if wrong := (*damagedError)(nil); errors.As(err, &wrong) {
		l.log.Warn("verify what was borrowed", "project", p.Name, "error", wrong)
		h.Mended = wrong.Error() + "; what could be read was stored again"
		err = l.mendBorrowed(ctx, p, damage)
	}
	lost := err
	if err != nil && !errors.As(err, new(lostError)) {
		return err
	}
	held, err := lock.Try(lock.ProjectFile(l.home.Dir, p.ID), lock.Shared, l.self)
	if err != nil {
		return err
	}
	defer func() { _ = held.Release() }()
	stats, err := p.store.Repack(ctx)
	h.Packed, h.Removed, h.FreedBytes = stats.Packed, stats.Loose+stats.Packs, stats.Freed
	if err != nil {
		return err
	}
	swept, err := p.store.Sweep(ctx)
	h.FreedBytes += swept.Bytes
	if err != nil {
		return fmt.Errorf("after the repack: %w", err)
	}
	return lost
}

// Acquaint puts the snapshots that nobody has listed yet into the index, so that
// the first listing after a long turn is as fast as any. What it began it goes on
// with the next time.
func (l *Local) Acquaint(ctx context.Context) error {
	if l.index == nil {
		return nil
	}
	all, _ := l.allProjects()
	var errs []error
	for _, p := range all {
		list, _ := l.missionsOf(p)
		for _, m := range list {
			errs = append(errs, l.acquaint(ctx, m))
		}
	}
	return errors.Join(errs...)
}

// acquaint goes from the oldest snapshot to the newest, so that the newest that
// is known says where to go on.
func (l *Local) acquaint(ctx context.Context, m *loaded) error {
	var unknown []*gitstore.Snapshot
	for s, err := range m.project.snapshots.walk(m.project.store, m.tip.ID) {
		if err != nil {
			return err
		}
		if _, ok := l.indexedFacts(s.ID, true); ok {
			break
		}
		unknown = append(unknown, s)
	}
	lines := m.project.differ(ctx, gitstore.DiffLines, nil)
	defer lines.Close()
	for _, s := range slices.Backward(unknown) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := l.facts(ctx, m.project, s, lines); err != nil {
			return err
		}
	}
	return nil
}
