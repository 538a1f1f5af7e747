package prunes

import (
	"context"
	"fmt"

	"github.com/umbra-vcs/umbra/missions"
)

// Prunable says of each project what its old snapshots take that the policy in force would
// not keep. A project that can't be read is a problem: nothing of it could be pruned.
func (pr *Pruner) Prunable(ctx context.Context, caller missions.Caller) (items []missions.UsageItem, problems []missions.Problem) {
	config, err := pr.CallerConfig(caller)
	if err != nil {
		return nil, []missions.Problem{{Message: fmt.Sprintf("what pruning would give back can't be told: %v", err)}}
	}
	all, _ := pr.AllProjects() // what is wrong with others is said by who lists them
	for _, p := range all {
		c := choice{project: p, at: pr.Now()}
		if c.policy, err = policyOf(missions.PrunePolicy{}, config.Retention); err == nil {
			items, err = pr.addPrunable(ctx, c, items)
		}
		if err != nil && ctx.Err() == nil {
			problems = append(problems, missions.Problem{Project: p.Name, Message: fmt.Sprintf("what pruning %s would give back can't be told: %v", p.Name, err), Fix: "umbra doctor"})
		}
	}
	return items, problems
}

func (pr *Pruner) addPrunable(ctx context.Context, c choice, items []missions.UsageItem) ([]missions.UsageItem, error) {
	w := newWork(c)
	m, plan, err := pr.plan(ctx, w)
	if err != nil || len(plan.Kept) == len(m.Snapshots) {
		return items, err
	}
	list, bytes, err := pr.weigh(ctx, w, m, plan)
	if err != nil {
		return items, err
	}
	n := missions.PruneResult{Missions: list}.Pruned()
	return append(items, missions.UsageItem{
		What: fmt.Sprintf("%d old snapshots of %s; what stays: %s, and what others need", n, c.project.Name, describePolicy(c.policy)),
		Path: c.project.ShadowRepo(), Bytes: bytes, Fix: "umbra prune --all",
	}), nil
}
