package prunes

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/retention"
)

// Every is how long after a look at a project the next is due.
const Every = 24 * time.Hour

// Warning is how long before the first snapshots of a project go by themselves it is said.
const Warning = 7 * 24 * time.Hour

// automatic is what a project remembers of being pruned by itself. A file that is lost or
// damaged says nothing: then it is said once more what will go.
type automatic struct {
	Policy   string    `json:"policy,omitempty"`  // what was said to stay
	ToldAt   time.Time `json:"told,omitzero"`     // when it was said first what will go
	Waiting  int       `json:"waiting,omitempty"` // how many snapshots that were
	LookedAt time.Time `json:"looked,omitzero"`
	PrunedAt time.Time `json:"pruned,omitzero"` // when snapshots went last
	Dropped  int       `json:"dropped,omitempty"`
	Bytes    int64     `json:"bytes,omitempty"` // what that gave back
	Problem  string    `json:"problem,omitempty"`
	Fix      string    `json:"fix,omitempty"`
}

func automaticFile(p *projects.Project) string { return filepath.Join(p.Dir, "pruning.json") }

func readAutomatic(p *projects.Project) (a automatic) {
	text, err := disk.ReadFile(automaticFile(p))
	if err != nil || json.Unmarshal(text, &a) != nil {
		return automatic{}
	}
	return a
}

// forget takes back what was said, if it was of another policy, or if for more than a week
// nobody has looked whom it could have been said to: then the clock may have been set ahead, or
// the home may come from a backup.
func (a *automatic) forget(policy string, now time.Time) {
	last := a.LookedAt
	if first := a.ToldAt.Add(Warning); last.Before(first) {
		last = first
	}
	if a.Policy != policy || now.Sub(last) > Warning || a.ToldAt.After(now) {
		a.Policy, a.ToldAt = policy, time.Time{}
	}
}

// next is when a project is looked at next, zero for at once.
func (a automatic) next(now time.Time) time.Time {
	if a.LookedAt.IsZero() || a.LookedAt.After(now) { // the clock was set back
		return time.Time{}
	}
	if first := a.ToldAt.Add(Warning); a.LookedAt.Before(first) {
		return first
	}
	return a.LookedAt.Add(Every)
}

// IsDue reports whether a project is to be pruned by itself now. It is cheap enough for each
// idle point: a repository that is younger than the policy's age is not looked into.
func (pr *Pruner) IsDue(p *projects.Project) bool {
	_, due := pr.duePolicy(p)
	return due
}

func (pr *Pruner) duePolicy(p *projects.Project) (policy retention.Policy, due bool) {
	policy, asked := pr.askedPolicy()
	if !asked {
		return policy, false
	}
	now := pr.Now()
	made, err := os.Stat(filepath.Join(p.ShadowRepo(), "HEAD")) // nobody ever writes it again
	if err != nil || now.Sub(made.ModTime()) < policy.KeepWithin {
		return policy, false
	}
	return policy, !readAutomatic(p).next(now).After(now)
}

// askedPolicy is the policy by which projects are pruned by themselves. The file of the
// configuration says so, as it is now: a process that prunes may have begun hours ago, and
// sees no variables of a shell. A file that is broken or gone asks for nothing.
func (pr *Pruner) askedPolicy() (retention.Policy, bool) {
	if !pr.Config.Retention.Auto {
		return retention.Policy{}, false
	}
	config, broken, err := pr.Home.ReadConfig()
	if err != nil || broken != nil || !config.Retention.Auto {
		return retention.Policy{}, false
	}
	policy, err := policyOf(missions.PrunePolicy{}, config.Retention)
	return policy, err == nil
}

// PruneWhenDue prunes a project by the policy that is configured, if that is due and none of
// its agents is in a turn. The first time nothing goes: what would is noted, for status and du
// to say it, and goes a week later. Whoever calls it keeps other processes from doing so.
func (pr *Pruner) PruneWhenDue(ctx context.Context, p *projects.Project) error {
	policy, due := pr.duePolicy(p)
	if !due {
		return nil
	}
	a, now := readAutomatic(p), pr.Now()
	c := choice{project: p, policy: policy, at: now, still: func() error { return pr.checkStill(p, policy) }}
	err := c.still()
	if err == nil {
		err = pr.pruneOrTell(ctx, c, &a)
	}
	if err == nil {
		a.LookedAt, a.Problem, a.Fix = now, "", ""
	} else if said := missions.AsError(err); ctx.Err() == nil && said.Kind != missions.KindBusy { // else it is tried again soon
		a.LookedAt, a.Problem, a.Fix = now, said.Message, said.Hint
	}
	text, werr := json.Marshal(a)
	if werr == nil {
		werr = journal.WriteVolatile(pr.Home.Dir, automaticFile(p), 0o600, append(text, '\n'))
	}
	return cmp.Or(err, werr)
}

// checkStill refuses to prune by itself while something is under way in a project, which would
// have to wait for it, and once the configuration asks for something else.
func (pr *Pruner) checkStill(p *projects.Project, policy retention.Policy) error {
	if now, asked := pr.askedPolicy(); !asked || now != policy {
		return missions.Errorf(missions.KindBusy, "", "the configuration was changed meanwhile")
	}
	list, problems := pr.ProjectMissions(p)
	if len(problems) > 0 { // its agent may be in a turn
		return missions.Errorf(missions.KindDamaged, problems[0].Fix, "%s", problems[0].Message)
	}
	for _, m := range list {
		if missions.InTurn(m.Lifecycle) && !pr.presence.IsAgentGone(m) {
			return missions.Errorf(missions.KindBusy, "", "%s is in a turn", m.Name)
		}
	}
	return pr.checkNothingInFlight()
}

// pruneOrTell prunes a project, or notes what is to go where nobody was told yet.
func (pr *Pruner) pruneOrTell(ctx context.Context, c choice, a *automatic) error {
	if a.forget(describePolicy(c.policy), c.at); a.ToldAt.IsZero() || c.at.Before(a.ToldAt.Add(Warning)) {
		return pr.tell(ctx, c, a)
	}
	var result missions.PruneResult
	err := pr.pruneProject(ctx, c, &result)
	if n := result.Pruned(); n > 0 {
		a.PrunedAt, a.Dropped, a.Bytes = c.at, n, 0
		pr.Logger.Info("pruned", "project", c.project.Name, "snapshots", n)
	}
	a.Waiting, a.Bytes = 0, a.Bytes+result.Bytes // of what was dropped before, too
	return err
}

// tell notes what is to go. What was dropped before is given back all the same.
func (pr *Pruner) tell(ctx context.Context, c choice, a *automatic) error {
	m, plan, err := pr.plan(ctx, newWork(c))
	if err != nil {
		return err
	}
	a.Waiting = len(m.Snapshots) - len(plan.Kept)
	switch {
	case a.Waiting == 0:
		a.ToldAt = time.Time{}
	case a.ToldAt.IsZero():
		a.ToldAt = c.at
	}
	if shadow.Owes(c.project.Store) {
		_, err = pr.giveBack(ctx, c)
	}
	return err
}

// Prunings says of each project what was dropped by itself, and what will be; none where it is
// switched off.
func (pr *Pruner) Prunings() (list []missions.Pruning) {
	policy, asked := pr.askedPolicy()
	if !asked {
		return nil
	}
	all, _ := pr.AllProjects() // what is wrong with others is said by who lists them
	for _, p := range all {
		a := readAutomatic(p)
		if a.LookedAt.IsZero() {
			continue
		}
		list = append(list, missions.Pruning{
			Project: p.Name, ProjectID: p.ID, Policy: describePolicy(policy), NextAt: a.next(pr.Now()), Waiting: a.Waiting,
			PrunedAt: a.PrunedAt, Dropped: a.Dropped, Bytes: a.Bytes, Problem: a.Problem, Fix: a.Fix,
		})
	}
	return list
}
