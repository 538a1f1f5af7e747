package authorship

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// past is every snapshot of a project's missions, each after those that it came of.
type past struct {
	project  *projects.Project
	mission  *projects.Mission // whose file it is
	entries  *snapshots.Taker
	missions map[string]*projects.Mission
	steps    map[gitstore.ID]*step
	order    []*step         // oldest first
	turns    map[string]bool // the missions that have turns
}

// step is a snapshot, and the one before it.
type step struct {
	snapshot projects.NumberedSnapshot
	before   *step // nil of a mission's first snapshot that has no parent
	mission  int   // its mission's place among those of the project, the oldest first
	depth    int   // how many come before
	rank     int   // its place in the order, from 1
	now      bool  // it is the workspace as it is, and no snapshot yet
}

// readPast reads the history of one mission down from a moment, and those of all others.
func (b *Blamer) readPast(ctx context.Context, m *projects.Mission, moment gitstore.ID) (*past, error) {
	g := &past{
		project: m.Project, mission: m, entries: b.snapshots, missions: map[string]*projects.Mission{},
		steps: map[gitstore.ID]*step{}, turns: map[string]bool{},
	}
	all, _ := b.ProjectMissions(m.Project) // what can't be read is no author
	removed, _ := b.RemovedMissionsIn(m.Project)
	all = append(all, removed...)
	slices.SortFunc(all, func(x, y *projects.Mission) int { return x.CreatedAt.Compare(y.CreatedAt) })
	places := map[string]int{}
	for i, other := range all {
		g.missions[other.ID], places[other.ID] = other, i
	}
	g.missions[m.ID] = m
	if err := g.readHistory(ctx, moment, places); err != nil {
		return nil, err
	}
	for _, other := range all {
		if err := g.readHistory(ctx, other.Tip.ID, places); err != nil && (ctx.Err() != nil || other.ID == m.ID) {
			return nil, err
		}
	}
	g.putInOrder()
	return g, nil
}

// putInOrder ranks the steps: by time, but each after those that it came of. Times are of
// whole seconds, and another machine's clock may be ahead.
func (g *past) putInOrder() {
	byTime := slices.SortedFunc(maps.Values(g.steps), func(a, b *step) int {
		return cmp.Or(a.snapshot.At.Compare(b.snapshot.At), cmp.Compare(a.mission, b.mission), cmp.Compare(a.depth, b.depth))
	})
	var put func(s *step)
	put = func(s *step) {
		if s == nil || s.rank > 0 {
			return
		}
		put(s.before)
		snap := s.snapshot.Snapshot
		for _, id := range append([]gitstore.ID{snap.RestoredFrom, snap.PromotedFrom, snap.ForkedFrom}, snap.Parents...) {
			put(g.steps[id])
		}
		g.order = append(g.order, s)
		s.rank = len(g.order)
	}
	for _, s := range byTime {
		put(s)
	}
}

// readHistory adds a history, as far as it is not known.
func (g *past) readHistory(ctx context.Context, tip gitstore.ID, places map[string]int) error {
	var found []*step // newest first
	var known *step
	err := g.project.WalkTurns(tip, func(turn []projects.NumberedSnapshot) error {
		for _, s := range turn {
			if known = g.steps[s.ID]; known != nil {
				return projects.ErrStopWalk
			}
			found = append(found, &step{snapshot: s, mission: places[s.Mission]})
			g.turns[s.Mission] = g.turns[s.Mission] || s.Turn > 0
		}
		return ctx.Err()
	})
	before := known
	for _, s := range slices.Backward(found) {
		if s.before = before; before != nil {
			s.depth = before.depth + 1
		}
		g.steps[s.snapshot.ID], before = s, s
	}
	return err
}

// present is what became of the workspace since the newest snapshot.
func (g *past) present(newest *step, tree gitstore.ID) *step {
	now := *newest.snapshot.Snapshot
	now.ID, now.Tree, now.GitHead, now.Trailers.Triggers = gitstore.ID{}, tree, "HEAD", nil
	return &step{
		snapshot: projects.NumberedSnapshot{Snapshot: &now}, before: newest,
		mission: newest.mission, depth: newest.depth + 1, rank: len(g.order) + 1, now: true,
	}
}

// madeItself reports whether a mission has written itself what is new of a version. What an
// operation of Umbra's brings was written before, and so was what a mission began with.
func (g *past) madeItself(v version) (bool, error) {
	s := v.step
	switch {
	case s.before == nil, s.operation() != "":
		return false, nil
	case s.now:
		return missions.InTurn(g.mission.Lifecycle), nil
	}
	making, err := presence.WhoMade(g.project, s.before.snapshot, s.snapshot, g.turns[s.snapshot.Mission])
	return making.Path(v.path), err
}

// pruned reports whether snapshots were pruned between a step and the one before.
func (s *step) pruned() bool { return s.before != nil && !s.snapshot.PrunedAt.IsZero() }

// operation is the operation that a step is, "" if it is none, or more than that.
func (s *step) operation() missions.Trigger {
	if s.pruned() {
		return ""
	}
	return projects.TriggersOf(s.snapshot.Snapshot).Operation()
}

// entryAt is what a snapshot has at a path, the zero entry if nothing.
func (g *past) entryAt(s *step, path string) (gitstore.TreeEntry, error) {
	if s == nil {
		return gitstore.TreeEntry{}, nil
	}
	e, err := g.project.Store.Lookup(s.snapshot.Tree, path)
	if errors.Is(err, gitstore.ErrNoEntry) || err == nil && e.Mode != gitstore.ModeFile && e.Mode != gitstore.ModeExec {
		return gitstore.TreeEntry{}, nil
	}
	return e, err
}

// versionsAt are what was at a path, oldest first, each where it came about.
func (g *past) versionsAt(ctx context.Context, path string) (list []version, err error) {
	for _, s := range g.order {
		if s.before != nil && s.before.snapshot.Tree == s.snapshot.Tree {
			continue
		}
		was, err := g.entryAt(s.before, path)
		if err != nil {
			return nil, err
		}
		is, err := g.entryAt(s, path)
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
		if !is.ID.IsZero() && is.ID != was.ID {
			list = append(list, version{step: s, path: path, blob: is.ID})
		}
	}
	return list, nil
}
