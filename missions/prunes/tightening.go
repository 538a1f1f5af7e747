package prunes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/retention"
)

// Notice is for how long it is said that the policy is tightened once storage.max_bytes is
// reached, before it may be: from when the home took most of that.
const Notice = 24 * time.Hour

// tightening is what is remembered of that. A file that is lost or damaged says nothing: then it
// is said for a day again.
type tightening struct {
	Home     string    `json:"home"`
	SaidAt   time.Time `json:"said,omitzero"`  // since when it could be said
	TriedAt  time.Time `json:"tried,omitzero"` // when it was begun last
	PrunedAt time.Time `json:"pruned,omitzero"`
	Policy   string    `json:"policy,omitempty"` // what stayed then
	Dropped  int       `json:"dropped,omitempty"`
	Bytes    int64     `json:"bytes,omitempty"` // what that gave back
	Problem  string    `json:"problem,omitempty"`
	Fix      string    `json:"fix,omitempty"`
}

func (pr *Pruner) tighteningFile() string { return pr.Home.Path("tightening.json") }

// readTightening reads what is remembered. A copy of a home remembers nothing, as of automatic.
func (pr *Pruner) readTightening() (t tightening) {
	info, err := os.Stat(pr.tighteningFile())
	if err != nil || home.ChangeTime(info)-info.ModTime().UnixNano() > int64(time.Minute) {
		return tightening{}
	}
	text, err := disk.ReadFile(pr.tighteningFile())
	if err != nil || json.Unmarshal(text, &t) != nil || t.Home != pr.Home.Dir {
		return tightening{}
	}
	return t
}

func (pr *Pruner) writeTightening(t tightening) error {
	t.Home = pr.Home.Dir
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return journal.WriteVolatile(pr.Home.Dir, pr.tighteningFile(), 0o600, append(text, '\n'))
}

// budget is the budget of the home as the file of the configuration has it, once that is nearly
// used up; nil before. A variable of a shell that says less is nobody's wish that anything goes.
func (pr *Pruner) budget() *missions.Budget {
	b := pr.Space.Budget()
	config, broken, err := pr.Home.ReadConfig()
	if b == nil || err != nil || broken != nil || config.Storage.MaxBytes <= 0 {
		return nil
	}
	if b.MaxBytes = max(b.MaxBytes, config.Storage.MaxBytes); b.Bytes < b.MaxBytes/10*8 {
		return nil
	}
	return b
}

// isSaid reports whether it could be said for long enough.
func (t tightening) isSaid(now time.Time) bool {
	return !t.SaidAt.IsZero() && now.Sub(t.SaidAt) >= Notice
}

// IsTighteningDue reports whether a process is to be started that calls TightenWhenFull. It is
// cheap enough for each idle point.
func (pr *Pruner) IsTighteningDue() bool {
	b := pr.budget()
	if b == nil {
		return false
	}
	if _, asked := pr.askedPolicy(); !asked {
		return false
	}
	t, now := pr.readTightening(), pr.Now()
	if t.SaidAt.IsZero() || t.SaidAt.After(now) {
		return true // from now on it is said
	}
	return b.IsReached() && t.isSaid(now) && now.Sub(t.TriedAt).Abs() >= Rest
}

// tightened are the policies that are tried one after the other, the configured one first. None
// keeps less than the last turns that the configured one keeps.
func tightened(p retention.Policy) []retention.Policy {
	list := []retention.Policy{p}
	add := func(next retention.Policy) {
		if next != list[len(list)-1] {
			list = append(list, next)
		}
	}
	for _, within := range []time.Duration{7 * 24 * time.Hour, 24 * time.Hour, 0} {
		p.KeepWithin = min(p.KeepWithin, within)
		add(p)
	}
	p.KeepHourly = 0
	add(p)
	p.KeepDaily = 0
	add(p)
	return list
}

// TightenWhenFull prunes all projects by a tighter policy than the configured one, once the home
// takes more than storage.max_bytes and that could be said for a day, where retention.auto asks
// for pruning by itself. It goes no further than it takes for a twentieth to be free, and never
// beyond the last turns. A project that has an agent in a turn stays as it is, and the others go
// no further for that. The home was measured just now.
func (pr *Pruner) TightenWhenFull(ctx context.Context) error {
	policy, asked := pr.askedPolicy()
	if !asked {
		return nil
	}
	held, err := lock.Try(pr.Home.Path("locks", "tightening"), lock.Exclusive, pr.Self)
	if errors.Is(err, lock.ErrHeld) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = held.Release() }()
	t, b, now := pr.readTightening(), pr.budget(), pr.Now()
	switch {
	case b == nil && t.SaidAt.IsZero():
		return nil
	case b == nil: // what is said begins anew
		t.SaidAt, t.Problem, t.Fix = time.Time{}, "", ""
		return pr.writeTightening(t)
	case t.SaidAt.IsZero() || t.SaidAt.After(now):
		t.SaidAt = now
		return pr.writeTightening(t)
	case !b.IsReached() || !t.isSaid(now) || now.Sub(t.TriedAt).Abs() < Rest:
		return nil
	}
	t.TriedAt = now
	if err := pr.writeTightening(t); err != nil {
		return err
	}
	failed := pr.tighten(ctx, policy, &t)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if t.Problem, t.Fix = "", ""; failed != nil {
		said := missions.AsError(failed)
		t.Problem, t.Fix = said.Message, said.Hint
	}
	return errors.Join(failed, pr.writeTightening(t))
}

// tighten prunes by the first policy that gives back what it takes, else by the tightest.
func (pr *Pruner) tighten(ctx context.Context, policy retention.Policy, t *tightening) (failed error) {
	all, problems := pr.AllProjects()
	if len(problems) > 0 {
		failed = missions.Errorf(missions.KindDamaged, cmp.Or(problems[0].Fix, "umbra doctor"), "%s", problems[0].Message)
	}
	for _, p := range all { // what was dropped before a process was killed may be enough
		if c := pr.tightChoice(p, policy, policy); shadow.Owes(p.Store) && c.still() == nil {
			failed = errors.Join(failed, pr.giveBackOwed(ctx, c))
		}
	}
	if err := pr.Space.Measure(); err != nil {
		return errors.Join(failed, err)
	}
	steps := tightened(policy)
	for n, step := range steps {
		b := pr.budget()
		if b == nil || !b.IsReached() || ctx.Err() != nil {
			break
		}
		need := b.Bytes - (b.MaxBytes - b.MaxBytes/worthwhile)
		if n+1 < len(steps) && pr.givenBack(ctx, all, policy, step) < need {
			continue
		}
		busy, err := pr.pruneAll(ctx, all, policy, step, t)
		if failed = errors.Join(failed, err, pr.Space.Measure()); busy || ctx.Err() != nil {
			break
		}
	}
	return failed
}

// tightChoice is all of a project, by a policy of tighten.
func (pr *Pruner) tightChoice(p *projects.Project, configured, policy retention.Policy) choice {
	return choice{project: p, policy: policy, at: pr.Now(), still: func() error { return pr.checkStill(p, configured) }}
}

// giveBackOwed gives back what was dropped before, or leaves it for another time.
func (pr *Pruner) giveBackOwed(ctx context.Context, c choice) error {
	err := pr.giveBackInRoom(ctx, c)
	if err != nil && missions.AsError(err).Kind == missions.KindBusy {
		return nil
	}
	return err
}

// givenBack is what a policy gives back. What is wrong with a project is said when it is pruned.
func (pr *Pruner) givenBack(ctx context.Context, all []*projects.Project, configured, policy retention.Policy) (bytes int64) {
	for _, p := range all {
		preview := missions.PruneResult{Preview: true}
		if err := pr.pruneProject(ctx, pr.tightChoice(p, configured, policy), &preview); err == nil {
			bytes += preview.Bytes
		}
	}
	return bytes
}

// pruneAll prunes projects by a policy. What goes is noted before it does. Busy says that not all
// could be pruned now.
func (pr *Pruner) pruneAll(ctx context.Context, all []*projects.Project, configured, policy retention.Policy, t *tightening) (busy bool, failed error) {
	for _, p := range all {
		c := pr.tightChoice(p, configured, policy)
		if c.still() != nil {
			busy = true
			continue
		}
		before := *t
		c.begin = func(snapshots int, _ int64) (bool, error) {
			packs, err := pr.packsToWrite(p)
			if err == nil {
				err = pr.checkRoomToPack(packs)
			}
			if err != nil {
				return false, err
			}
			if !t.PrunedAt.Equal(t.TriedAt) {
				t.PrunedAt, t.Dropped, t.Bytes = t.TriedAt, 0, 0
			}
			t.Policy, t.Dropped = describePolicy(policy), t.Dropped+snapshots
			return true, pr.writeTightening(*t)
		}
		var result missions.PruneResult
		err := pr.pruneProject(ctx, c, &result)
		if err != nil && missions.AsError(err).Kind == missions.KindBusy {
			busy, err = true, nil
		}
		if failed = errors.Join(failed, err); result.Pruned() == 0 {
			*t = before
		}
		t.Bytes += result.Bytes
		if n := result.Pruned(); n > 0 {
			pr.Logger.Info("pruned, since storage.max_bytes is reached", "project", p.Name, "snapshots", n)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return busy, failed
}

// Tightening says what becomes of old snapshots by itself once storage.max_bytes is reached, nil
// where nothing does or did, or the home is far from that.
func (pr *Pruner) Tightening() *missions.Tightening {
	b := pr.budget()
	t := pr.readTightening()
	policy, asked := pr.askedPolicy()
	if !asked || b == nil && t.PrunedAt.IsZero() {
		return nil
	}
	said := missions.Tightening{
		Policy:   describePolicy(retention.Policy{KeepLast: policy.KeepLast}),
		PrunedAt: t.PrunedAt, Kept: t.Policy, Dropped: t.Dropped, Bytes: t.Bytes, Problem: t.Problem, Fix: t.Fix,
	}
	if b != nil && !t.SaidAt.IsZero() {
		said.From = t.SaidAt.Add(Notice)
	}
	if said.From.IsZero() && said.PrunedAt.IsZero() && said.Problem == "" {
		return nil
	}
	return &said
}
