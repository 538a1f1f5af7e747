package prunes

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/retention"
)

// Every is how long after a look at a project the next is due.
const Every = 24 * time.Hour

// Warning is how long before the first snapshots of a project go by themselves it is said.
const Warning = 7 * 24 * time.Hour

// Rest is how long after a pruning that did not come to its end the next is begun: it packs
// all that stays anew.
const Rest = time.Hour

// worthwhile is which part of its packs a pruning must give back, for the rest of them to be
// packed anew.
const worthwhile = 20

// automatic is what a project remembers of being pruned by itself. A file that is lost or
// damaged says nothing: then it is said once more what will go.
type automatic struct {
	Home     string    `json:"home,omitempty"`    // where that was
	Policy   string    `json:"policy,omitempty"`  // what was said to stay
	ToldAt   time.Time `json:"told,omitzero"`     // when it was said first what will go
	Waiting  int       `json:"waiting,omitempty"` // how many snapshots that were
	LookedAt time.Time `json:"looked,omitzero"`
	TriedAt  time.Time `json:"tried,omitzero"`    // when it was begun last: it may not have come to its end
	Marking  int       `json:"marking,omitempty"` // how many snapshots were about to go then
	PrunedAt time.Time `json:"pruned,omitzero"`   // when snapshots went last
	Dropped  int       `json:"dropped,omitempty"`
	Bytes    int64     `json:"bytes,omitempty"` // what that gave back
	Problem  string    `json:"problem,omitempty"`
	Fix      string    `json:"fix,omitempty"`
}

func automaticFile(p *projects.Project) string { return filepath.Join(p.Dir, "pruning.json") }

// readAutomatic reads what a project remembers. A copy of a home, such as a backup, remembers
// nothing: somebody may be about to look there for what has gone elsewhere. A copy that has
// kept its time was changed after it.
func (pr *Pruner) readAutomatic(p *projects.Project) (a automatic) {
	info, err := os.Stat(automaticFile(p))
	if err != nil || home.ChangeTime(info)-info.ModTime().UnixNano() > int64(time.Minute) {
		return automatic{}
	}
	text, err := disk.ReadFile(automaticFile(p))
	if err != nil || json.Unmarshal(text, &a) != nil || a.Home != pr.Home.Dir {
		return automatic{}
	}
	return a
}

func (pr *Pruner) writeAutomatic(p *projects.Project, a automatic) error {
	a.Home = pr.Home.Dir
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return journal.WriteVolatile(pr.Home.Dir, automaticFile(p), 0o600, append(text, '\n'))
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
	if rest := a.TriedAt.Add(Rest); a.TriedAt.After(a.LookedAt) && !a.TriedAt.After(now) && rest.After(now) {
		return rest
	}
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
	return policy, !pr.readAutomatic(p).next(now).After(now)
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
	a, now := pr.readAutomatic(p), pr.Now()
	c := choice{project: p, policy: policy, at: a.believed(now), still: func() error { return pr.checkStill(p, policy) }}
	err := c.still()
	if err == nil {
		a.TriedAt = now
		if err = pr.writeAutomatic(p, a); err == nil {
			err = pr.pruneOrTell(ctx, c, &a)
		}
	}
	if err == nil {
		a.LookedAt, a.Problem, a.Fix = now, "", ""
	} else if said := missions.AsError(err); ctx.Err() == nil && said.Kind != missions.KindBusy { // else it is tried again soon
		a.LookedAt, a.Problem, a.Fix = now, said.Message, said.Hint
	}
	return cmp.Or(err, pr.writeAutomatic(p, a))
}

// believed is the time that ages go by: where the clock was set ahead since it was looked
// last, it is not believed for more than two days.
func (a automatic) believed(now time.Time) time.Time {
	if most := a.LookedAt.Add(2 * Every); !a.LookedAt.IsZero() && most.Before(now) {
		return most
	}
	return now
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
	now, owes := a.TriedAt, shadow.Owes(c.project.Store)
	went := a.Marking > 0 && owes // the process was killed before it could be noted
	if went {
		a.PrunedAt, a.Dropped, a.Bytes = now, a.Marking, 0
	}
	a.Marking = 0
	if a.forget(describePolicy(c.policy), now); a.ToldAt.IsZero() || now.Before(a.ToldAt.Add(Warning)) {
		return pr.tell(ctx, c, a)
	}
	c.begin = func(snapshots int, bytes int64) (bool, error) {
		packs, err := pr.packsToWrite(c.project)
		if err != nil || !owes && bytes < packs/worthwhile {
			return false, err
		}
		if err := pr.checkRoomToPack(packs); err != nil {
			return false, err
		}
		begun := *a
		begun.Marking = snapshots
		return true, pr.writeAutomatic(c.project, begun)
	}
	var result missions.PruneResult
	err := pr.pruneProject(ctx, c, &result)
	if n := result.Pruned(); n > 0 {
		a.PrunedAt, a.Dropped, a.Bytes = now, n, 0
		pr.Logger.Info("pruned", "project", c.project.Name, "snapshots", n)
	}
	a.Waiting, a.Bytes = 0, a.Bytes+result.Bytes // of what was dropped before, too
	return err
}

// tell notes what is to go. What was dropped before is given back all the same, and first: the
// week begins when it is said.
func (pr *Pruner) tell(ctx context.Context, c choice, a *automatic) error {
	if shadow.Owes(c.project.Store) && !a.PrunedAt.IsZero() { // a copy of a home gives nothing back unasked
		if err := pr.giveBackInRoom(ctx, c); err != nil {
			return err
		}
	}
	m, plan, err := pr.plan(ctx, newWork(c))
	if err != nil {
		return err
	}
	a.Waiting = len(m.Snapshots) - len(plan.Kept)
	switch {
	case a.Waiting == 0:
		a.ToldAt = time.Time{}
	case a.ToldAt.IsZero():
		a.ToldAt = a.TriedAt
	}
	return nil
}

// giveBackInRoom gives back what was dropped before, if the disk has the room that it takes.
func (pr *Pruner) giveBackInRoom(ctx context.Context, c choice) error {
	packs, err := pr.packsToWrite(c.project)
	if err == nil {
		err = pr.checkRoomToPack(packs)
	}
	if err != nil {
		return err
	}
	c.said = &sync.Once{}
	return c.alone(ctx, pr.Desk, func() error {
		_, err := pr.giveBack(ctx, c)
		return err
	})
}

// packsToWrite is how many bytes of packs are there that giving back writes anew.
func (pr *Pruner) packsToWrite(p *projects.Project) (bytes int64, err error) {
	if err := p.Store.Rescan(); err != nil {
		return 0, err
	}
	for _, pack := range p.Store.Own().Packs {
		if info, err := os.Stat(pack.Base + ".pack"); err == nil && !pack.Kept() {
			bytes += info.Size()
		}
	}
	return bytes, nil
}

// checkRoomToPack refuses to fill the disk: what stays is there twice, until what was there
// before is removed. Nobody has asked for it just now who would see the disk fill.
func (pr *Pruner) checkRoomToPack(bytes int64) error {
	free, err := pr.Space.FreeBytes(pr.Home.Dir)
	if err != nil {
		return err
	}
	if need := bytes + max(home.MinFreeBytes, pr.Space.Limits.KeepFree); free < uint64(need) {
		return missions.Errorf(missions.KindFailed, "umbra du shows what takes room",
			"to give room back takes %d MiB for a while, and %d MiB are free", need>>20, free>>20)
	}
	return nil
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
		a := pr.readAutomatic(p)
		if a.LookedAt.IsZero() {
			continue
		}
		said := missions.Pruning{
			Project: p.Name, ProjectID: p.ID, Policy: describePolicy(policy), NextAt: a.next(pr.Now()), Waiting: a.Waiting,
			PrunedAt: a.PrunedAt, Dropped: a.Dropped, Bytes: a.Bytes, Problem: a.Problem, Fix: a.Fix,
		}
		if said.Policy != a.Policy { // nobody has looked yet what that one would drop
			said.NextAt, said.Waiting = time.Time{}, 0
		}
		list = append(list, said)
	}
	return list
}
