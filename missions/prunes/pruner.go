// Package prunes drops the snapshots that the policy of retention does not keep: it
// gathers what a project has and who relies on it, marks where histories are cut, and has
// what nothing leads to any more given back. It deletes no object by itself, and what it
// can't read it takes for needed.
package prunes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/upkeep"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/retention"
	"github.com/umbra-vcs/umbra/missions/settings"
)

// Pruner prunes projects.
type Pruner struct {
	*projects.Desk
	addresses *addresses.Finder
	presence  *presence.Observer
}

// New makes a Pruner.
func New(d *projects.Desk, a *addresses.Finder, o *presence.Observer) *Pruner {
	return &Pruner{Desk: d, addresses: a, presence: o}
}

// Prune drops old snapshots, or says which would go. A project of which anything can't be
// read is left as it is, with an error.
func (pr *Pruner) Prune(ctx context.Context, r missions.PruneRequest) (missions.PruneResult, error) {
	result := missions.PruneResult{Preview: r.Preview, At: r.At, Missions: []missions.PrunedMission{}}
	if result.At.IsZero() {
		result.At = pr.Now()
	}
	config, err := pr.CallerConfig(r.Caller)
	if err != nil {
		return result, err
	}
	policy, err := policyOf(r.Policy, config.Retention)
	if err != nil {
		return result, err
	}
	result.Policy = describePolicy(policy)
	chosen, problems, err := pr.chosenProjects(ctx, r)
	result.Problems = problems
	if err != nil {
		return result, err
	}
	for _, c := range chosen {
		c.policy, c.at = policy, result.At
		err := pr.pruneProject(ctx, c, &result)
		if err == nil {
			continue
		}
		if !r.All || ctx.Err() != nil {
			return result, err
		}
		result.Problems = append(result.Problems, problemOf(c.project, err))
	}
	return result, nil
}

// problemOf says why a project was not pruned, and what to type.
func problemOf(p *projects.Project, err error) missions.Problem {
	said := missions.AsError(err)
	return missions.Problem{Project: p.Name, Message: said.Message, Fix: said.Hint}
}

// choice is what is to be pruned of a project.
type choice struct {
	project  *projects.Project
	missions map[string]bool // by id; nil is all
	policy   retention.Policy
	at       time.Time
	still    func() error // asked before anybody has to wait; nil: whoever asked for it waits
	// begin is told how many snapshots are about to go, and what that gives back, and tells
	// whether they do; nil: they do.
	begin func(snapshots int, bytes int64) (bool, error)
	said  *sync.Once // what it waits for
	// left is for how long the slices of a removal may still wait, together; nil: it removes nothing yet.
	left *time.Duration
}

// sayOnce says what a pruning waits for that waits for the first time.
func (c choice) sayOnce(ctx context.Context, text string) {
	c.said.Do(func() { missions.Notify(ctx, missions.Notice{Text: text}) })
}

// includes reports whether a mission is to be pruned.
func (c choice) includes(mission string) bool { return c.missions == nil || c.missions[mission] }

// chosenProjects finds what a request is about. Of all projects one that can't be opened is a
// problem.
func (pr *Pruner) chosenProjects(ctx context.Context, r missions.PruneRequest) (list []choice, problems []missions.Problem, err error) {
	if r.All {
		if len(r.Missions) > 0 {
			return nil, nil, missions.Errorf(missions.KindUsage, "umbra prune --all, or umbra prune MISSION", "all missions, or some: not both")
		}
		all, problems := pr.AllProjects()
		for _, p := range all {
			list = append(list, choice{project: p})
		}
		return list, problems, nil
	}
	named, err := pr.chosenProject(ctx, r)
	return []choice{named}, nil, err
}

// chosenProject finds the one project that a request is about.
func (pr *Pruner) chosenProject(ctx context.Context, r missions.PruneRequest) (choice, error) {
	if len(r.Missions) > 0 {
		found, err := pr.addresses.FindMissions(ctx, r.Caller, r.Missions)
		if err != nil {
			return choice{}, err
		}
		named := choice{project: found[0].Project, missions: map[string]bool{}}
		for _, m := range found {
			if m.Project.ID != named.project.ID {
				return choice{}, missions.Errorf(missions.KindUsage, "umbra prune --all prunes all projects", "%s and %s are of different projects", found[0].Name, m.Name)
			}
			named.missions[m.ID] = true
		}
		return named, nil
	}
	at, err := pr.addresses.LocateCaller(r.Caller)
	if err != nil {
		return choice{}, err
	}
	if at.Project == nil {
		return choice{}, missions.Errorf(missions.KindNotFound, "umbra prune --all prunes all projects", "no mission has worked in %s", at.Dir)
	}
	return choice{project: at.Project}, nil
}

// policyOf is what a request says, and where it says nothing what is configured.
func policyOf(r missions.PrunePolicy, c settings.Retention) (retention.Policy, error) {
	p := retention.Policy{KeepLast: c.KeepLast, KeepWithin: time.Duration(c.KeepWithin), KeepHourly: c.KeepHourly, KeepDaily: c.KeepDaily}
	for _, said := range []struct {
		name  string
		value *int
		least int
		to    *int
	}{
		{"--keep-last", r.KeepLast, 1, &p.KeepLast}, {"--keep-hourly", r.KeepHourly, 0, &p.KeepHourly}, {"--keep-daily", r.KeepDaily, 0, &p.KeepDaily},
	} {
		if said.value == nil {
			continue
		}
		if *said.value < said.least {
			return p, missions.Errorf(missions.KindUsage, "", "%s takes a number of at least %d, not %d", said.name, said.least, *said.value)
		}
		*said.to = *said.value
	}
	if r.KeepWithin != nil {
		if *r.KeepWithin < 0 {
			return p, missions.Errorf(missions.KindUsage, "", "--keep-within takes a duration such as 30d, not %s", *r.KeepWithin)
		}
		p.KeepWithin = *r.KeepWithin
	}
	return p, nil
}

// describePolicy says in one line what stays.
func describePolicy(p retention.Policy) string {
	words := []string{fmt.Sprintf("the last %d turns", p.KeepLast)}
	if p.KeepLast == 1 {
		words[0] = "the last turn"
	}
	if p.KeepWithin > 0 {
		words = append(words, "those of the last "+settings.DurationText(p.KeepWithin))
	}
	if p.KeepHourly > 0 {
		words = append(words, fmt.Sprintf("one of each of %d hours", p.KeepHourly))
	}
	if p.KeepDaily > 0 {
		words = append(words, fmt.Sprintf("one of each of %d days", p.KeepDaily))
	}
	return strings.Join(words, ", ")
}

// pruneProject plans the pruning of a project, and does it unless that is a preview.
func (pr *Pruner) pruneProject(ctx context.Context, c choice, result *missions.PruneResult) error {
	if result.Preview {
		return pr.planAndPrune(ctx, c, result)
	}
	c.said = &sync.Once{}
	return c.alone(ctx, pr.Desk, func() error { return pr.planAndPrune(ctx, c, result) })
}

func (pr *Pruner) planAndPrune(ctx context.Context, c choice, result *missions.PruneResult) error {
	refused := func(err error) error {
		if known := (*missions.Error)(nil); errors.As(err, &known) || ctx.Err() != nil {
			return err
		}
		return missions.Errorf(missions.KindDamaged, "umbra doctor", "nothing was pruned: %w", err)
	}
	w := newWork(c)
	m, plan, err := pr.plan(ctx, w)
	if err != nil {
		return refused(err)
	}
	list, bytes, err := pr.weigh(ctx, w, m, plan)
	if err != nil {
		return refused(err)
	}
	// What was begun and cut off is marked to its end.
	marks := !result.Preview && (len(plan.Kept) < len(m.Snapshots) || shadow.Owes(c.project.Store))
	if c.begin != nil && marks {
		if begins, err := c.begin(len(m.Snapshots)-len(plan.Kept), bytes); err != nil || !begins {
			return err
		}
	}
	if marks {
		if err := upkeep.CheckWhole(ctx, c.project.Store); err != nil { // else nothing could be given back
			return refused(err)
		}
		if err := pr.mark(ctx, w, m, plan); err != nil {
			return refused(err)
		}
	}
	result.Lost += len(m.lost)
	result.Missions = append(result.Missions, list...)
	owed := marks || shadow.Owes(c.project.Store) // who gave back meanwhile may have packed it before
	if owed && !result.Preview {
		if bytes, err = pr.giveBack(ctx, c); err != nil {
			return err
		}
	}
	result.Owed, result.Bytes = result.Owed || owed && result.Preview, result.Bytes+bytes
	return nil
}

// weigh counts for each mission what of its own snapshots goes and stays, and what that
// gives back.
func (pr *Pruner) weigh(ctx context.Context, w work, m material, plan retention.Plan) (list []missions.PrunedMission, bytes int64, err error) {
	at := map[string]int{}
	for _, mission := range m.missions {
		if w.includes(mission.ID) {
			at[mission.ID] = len(list)
			list = append(list, missions.PrunedMission{
				ID: mission.ID, Mission: mission.Name, Project: w.project.Name, Removed: mission.InTrash, Why: map[string]int{},
				Moments: w.makers.moments(mission, plan.Kept), SharedWith: m.sharers(w.choice, mission.ID),
			})
		}
	}
	var kept []gitstore.ID
	dropped := make([][]gitstore.ID, len(list)+1) // the last are of missions that are not chosen
	for id, s := range m.Snapshots {
		n, listed := at[s.Mission]
		if !listed {
			n = len(list)
		}
		why := plan.Kept[id]
		if why == nil {
			dropped[n] = append(dropped[n], id)
		} else {
			kept = append(kept, id)
		}
		if !listed {
			continue
		}
		if why == nil {
			list[n].Pruned++
			continue
		}
		list[n].Kept++
		for _, reason := range why {
			list[n].Why[string(reason)]++
		}
	}
	for n := range dropped {
		slices.SortFunc(dropped[n], gitstore.ID.Compare)
	}
	freed, err := upkeep.Freed(ctx, w.project.Store, kept, dropped)
	for n, size := range freed {
		bytes += size
		if n < len(list) {
			list[n].Bytes = size
		}
	}
	return list, bytes, err
}
