// Package comparisons holds trees and forks beside each other: what differs, what each
// fork has done since its fork point, and where forks have changed the same lines. It
// changes nothing, and runs no check.
package comparisons

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/diff"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// Comparer compares forks.
type Comparer struct {
	*projects.Desk
	addresses *addresses.Finder
	presence  *presence.Observer
}

// New makes a Comparer.
func New(d *projects.Desk, a *addresses.Finder, p *presence.Observer) *Comparer {
	return &Comparer{Desk: d, addresses: a, presence: p}
}

// Compare says what forks have done from their fork points to their newest snapshots.
func (c *Comparer) Compare(ctx context.Context, r missions.CompareRequest) ([]missions.ComparedFork, error) {
	forks, err := c.findForks(ctx, r)
	if err != nil {
		return nil, err
	}
	differ := Differ(ctx, forks[0].Project, PatchDetail(r.Patch), nil)
	defer differ.Close()
	list := []missions.ComparedFork{}
	for _, m := range forks {
		compared, err := c.compareFork(m, differ, r.Patch)
		if err != nil {
			return nil, err
		}
		list = append(list, compared)
	}
	sortPaths(list)
	return list, nil
}

// findForks finds the forks that are named: each once, all of one project.
func (c *Comparer) findForks(ctx context.Context, r missions.CompareRequest) (forks []*projects.Mission, err error) {
	if len(r.Forks) == 0 {
		return nil, missions.Errorf(missions.KindUsage, "umbra mission ls --tree shows the forks", "no fork is named")
	}
	for _, name := range r.Forks {
		m, err := c.addresses.FindMission(ctx, r.Caller, name, addresses.InAnyProject)
		if err != nil {
			return nil, err
		}
		switch {
		case m.Parent == nil:
			return nil, missions.Errorf(missions.KindNotFound, c.forksHint(m), "%s is not a fork", m.Name)
		case len(forks) > 0 && forks[0].Project.ID != m.Project.ID:
			return nil, missions.Errorf(missions.KindUsage, "compare forks of one project", "%s and %s are in different projects", forks[0].Name, m.Name)
		}
		if !slices.ContainsFunc(forks, func(o *projects.Mission) bool { return o.ID == m.ID }) {
			forks = append(forks, m)
		}
	}
	return forks, nil
}

// forksHint names the forks of a mission that is none itself.
func (c *Comparer) forksHint(m *projects.Mission) string {
	all, _ := c.ProjectMissions(m.Project) // one that can't be read is no fork to offer
	names := []string{"umbra compare"}
	for _, f := range all {
		if f.Parent != nil && f.Parent.Mission == m.ID {
			names = append(names, f.Name)
		}
	}
	if len(names) == 1 {
		return "umbra fork " + m.Name + " makes one"
	}
	return strings.Join(names, " ")
}

func (c *Comparer) compareFork(m *projects.Mission, differ *diff.Differ, patch bool) (f missions.ComparedFork, err error) {
	base, err := addresses.SnapshotByID(m.Project, m.Parent.Snapshot)
	if err != nil {
		return f, err
	}
	at, err := addresses.MomentBack(m, m.Tip.ID, 0)
	if err != nil {
		return f, err
	}
	d, err := differ.Trees(base.Tree, m.Tip.Tree)
	if err != nil {
		return f, snapshots.NotCompared(base.Tree, m.Tip.Tree, err)
	}
	f.Fork, f.ForkPoint, f.Changes = c.presence.MissionView(m), m.Parent.Snapshot, fileChanges(d.Files)
	if patch {
		f.Patches = d.Patches()
	}
	f.Comparison = missions.Comparison{Mission: m.Name, Address: at.Snapshot.Address(m.Name), Files: len(f.Changes), Turns: max(0, m.Lifecycle.LastTurn()-base.Turn)}
	for _, change := range f.Changes {
		f.Lines.Added += change.Added
		f.Lines.Deleted += change.Deleted
	}
	return f, addSpent(&f.Comparison, m, base)
}

// addSpent adds what a fork took since its fork point, as far as that is known.
func addSpent(c *missions.Comparison, m *projects.Mission, base *gitstore.Snapshot) error {
	own, err := ownTurnsOf(m, base)
	if err != nil {
		return err
	}
	if own.time > 0 {
		seconds := math.Round(own.time.Seconds()*10) / 10
		c.Seconds = &seconds
	}
	now := conversations.MissionTally(&m.Stored)
	if now == nil || c.Turns == 0 {
		return nil
	}
	then, err := inheritedTally(m, base, own.first)
	if err != nil {
		return err
	}
	spent, known := now.Since(then)
	if n := spent.Input + spent.Output; known && n > 0 {
		c.Tokens = &n
	}
	if known && spent.Cost > 0 {
		c.Cost = &spent.Cost
	}
	return nil
}

// ownTurns is what a fork's snapshots say of its turns.
type ownTurns struct {
	first *gitstore.Snapshot // its own first one; nil if there is none
	time  time.Duration      // in turns
}

func ownTurnsOf(m *projects.Mission, base *gitstore.Snapshot) (own ownTurns, err error) {
	err = m.Project.WalkTurns(m.Tip.ID, func(turn []projects.NumberedSnapshot) error {
		end := slices.IndexFunc(turn, func(s projects.NumberedSnapshot) bool { return s.ID == base.ID })
		if end < 0 {
			end = len(turn)
		}
		if own.addTurn(m.Project, turn[:end], base.Turn); end < len(turn) {
			return projects.ErrStopWalk
		}
		return nil
	})
	return own, err
}

// addTurn takes in the snapshots of a turn, newest first. after is the turn of the fork
// point, which was another mission's.
func (o *ownTurns) addTurn(p *projects.Project, turn []projects.NumberedSnapshot, after int) {
	if len(turn) == 0 {
		return
	}
	began, ended := turn[len(turn)-1], turn[0]
	o.first = began.Snapshot
	if began.Turn <= after {
		return
	}
	if i := slices.IndexFunc(turn, func(s projects.NumberedSnapshot) bool { return s.EndsTurn }); i >= 0 {
		ended = turn[i]
	}
	o.time += max(0, p.TakenAt(ended.Snapshot).Sub(p.TakenAt(began.Snapshot)))
}

// inheritedTally is what a fork's conversation had before the fork's first prompt: what its
// first snapshot counts, if that was taken by then, else what its source had.
func inheritedTally(m *projects.Mission, base, first *gitstore.Snapshot) (t missions.Tally, err error) {
	if first != nil && (first.Turn <= base.Turn || first.Turn == base.Turn+1 && projects.TriggersOf(first).Has(missions.TriggerPrompt)) {
		info, err := m.Project.ReadSnapshotInfo(first)
		if err != nil || info.Tally == nil {
			return t, err
		}
		return *info.Tally, nil
	}
	then, err := m.Project.ReadStored(base.Record)
	if err != nil || then.Agent != m.Agent {
		return t, err
	}
	if had := conversations.MissionTally(&then); had != nil {
		t = *had
	}
	return t, nil
}

// sortPaths says of each fork which paths it alone has changed, and which others have, too.
// A renamed file has two, and is shared by the one that others have changed.
func sortPaths(list []missions.ComparedFork) {
	changed := map[string]int{}
	for _, f := range list {
		for path := range changedPaths(f) {
			changed[path]++
		}
	}
	for i := range list {
		f := &list[i]
		f.Alone, f.Shared = []string{}, []string{}
		for _, change := range f.Changes {
			switch {
			case changed[change.Path] > 1:
				f.Shared = append(f.Shared, change.Path)
			case changed[change.OldPath] > 1:
				f.Shared = append(f.Shared, change.OldPath)
			default:
				f.Alone = append(f.Alone, change.Path)
			}
		}
	}
}

func changedPaths(f missions.ComparedFork) map[string]bool {
	paths := map[string]bool{}
	for _, change := range f.Changes {
		paths[change.Path] = true
		if change.OldPath != "" {
			paths[change.OldPath] = true
		}
	}
	return paths
}
