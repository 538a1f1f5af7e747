// Package retires moves forks to the trash by themselves, once their agents have ended and their
// work is elsewhere: on a branch, or their parent's. It removes nothing, and what it can't tell
// it takes for work that is nowhere else.
package retires

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/commits"
	"github.com/umbra-vcs/umbra/missions/expiry"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/restores"
	"github.com/umbra-vcs/umbra/missions/settings"
	"github.com/umbra-vcs/umbra/missions/trash"
)

// Retirer moves forks to the trash by themselves, where the configuration asks for it.
type Retirer struct {
	*projects.Desk
	presence *presence.Observer
	bin      *trash.Bin
	looker   commits.Looker
	ages     trash.Ages
}

// New makes a Retirer. The looker says what a mission's work is.
func New(d *projects.Desk, p *presence.Observer, b *trash.Bin, looker commits.Looker) *Retirer {
	return &Retirer{d, p, b, looker, trash.Ages{
		Desk: d, File: "forks.json", Lock: "retiring", Keep: func(r settings.Retention) settings.Duration { return r.Forks },
	}}
}

// AreForksDue reports whether a process is to be started that calls RetireWhenDue.
func (rt *Retirer) AreForksDue() bool { return rt.ages.IsDue() }

// NoteForksBegun notes that such a process is about to be started.
func (rt *Retirer) NoteForksBegun() error { return rt.ages.NoteBegun() }

// RetireWhenDue counts on for how long forks have been over, and moves those to the trash that
// were for as long as the configuration says, if that is due and no other process is at it.
// Where any mission can't be read, nothing goes: it may need a fork.
func (rt *Retirer) RetireWhenDue(ctx context.Context) error {
	return rt.ages.LookWhenDue(ctx, func(keep time.Duration, a *trash.Aged) error { return rt.retire(ctx, keep, a) })
}

func (rt *Retirer) retire(ctx context.Context, keep time.Duration, a *trash.Aged) (failed error) {
	all, err := rt.everyMission()
	if err = cmp.Or(err, rt.checkNothingInFlight()); err != nil {
		return err // all ages stay, and it is looked again soon
	}
	over, since := map[string]*projects.Mission{}, map[string]time.Time{}
	for _, m := range all.list {
		is, err := rt.isOver(ctx, m, all)
		if err != nil {
			rt.Logger.Info("whether a fork is over can't be told", "mission", m.Name, "error", err)
		}
		if is && err == nil {
			over[m.ID], since[m.ID] = m, restsSince(m)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err() // else a look that was cut short would forget ages
	}
	due, went := a.Look(rt.Now(), keep, since), 0
	slices.Sort(due)
	for _, id := range due {
		if ctx.Err() != nil {
			break
		}
		err := rt.retireOne(ctx, over[id], since[id], keep)
		if err == nil {
			went++
			delete(a.Of, id)
		} else if missions.AsError(err).Kind != missions.KindBusy { // else it is tried again
			failed = errors.Join(failed, fmt.Errorf("%s stays: %w", over[id].Name, err))
		}
	}
	if went > 0 {
		a.WentAt, a.Went = rt.Now(), went
		rt.Logger.Info("moved forks to the trash", "forks", went)
	}
	return failed
}

// retireOne moves a fork to the trash, unless anything is not as it was a moment ago.
func (rt *Retirer) retireOne(ctx context.Context, m *projects.Mission, since time.Time, keep time.Duration) error {
	busy := func(why string) error { return missions.Errorf(missions.KindBusy, "", "%s", why) }
	if rt.ages.Asked() != keep {
		return busy("the configuration was changed meanwhile")
	}
	all, err := rt.everyMission()
	if err = cmp.Or(err, rt.checkNothingInFlight()); err != nil {
		return err
	}
	at := slices.IndexFunc(all.list, func(o *projects.Mission) bool { return o.ID == m.ID })
	if at < 0 {
		return busy("it is gone")
	}
	now := all.list[at]
	if is, err := rt.isOver(ctx, now, all); err != nil || !is || !restsSince(now).Equal(since) || now.Tip.ID != m.Tip.ID {
		return cmp.Or(err, busy("it is not what it was a moment ago"))
	}
	return rt.bin.Retire(ctx, now)
}

// restsSince is when the last thing happened in a mission.
func restsSince(m *projects.Mission) time.Time {
	if m.Tip.At.After(m.StateSince) {
		return m.Tip.At
	}
	return m.StateSince
}

// everything are all missions of a home.
type everything struct {
	list   []*projects.Mission
	pinned map[string]bool // by the id of the mission that has the snapshot
}

// everyMission reads all missions, and fails where any can't be read.
func (rt *Retirer) everyMission() (all everything, err error) {
	all.pinned = map[string]bool{}
	list, problems := rt.AllProjects()
	for _, p := range list {
		own, bad := rt.ProjectMissions(p)
		all.list, problems = append(all.list, own...), append(problems, bad...)
		refs, err := p.Store.Refs(gitstore.RefPin)
		if err != nil {
			return all, err
		}
		if len(refs.Bad) > 0 {
			return all, &refs.Bad[0]
		}
		for _, ref := range refs.Refs {
			s, err := p.Store.Snapshot(ref.ID)
			if err != nil {
				return all, err
			}
			all.pinned[s.Mission] = true
		}
	}
	if len(problems) > 0 {
		return all, missions.Errorf(missions.KindDamaged, cmp.Or(problems[0].Fix, "umbra doctor"), "no fork goes while not all missions can be read: %s", problems[0].Message)
	}
	return all, nil
}

// isOver reports whether a mission is a fork that nobody works in, that nothing needs, and whose
// work is elsewhere.
func (rt *Retirer) isOver(ctx context.Context, m *projects.Mission, all everything) (bool, error) {
	if m.Parent == nil || m.Remote != "" || m.InTrash || m.Binding.Fork == nil || !m.Binding.MadeByUmbra ||
		m.CheckMachine() != nil || m.IsWorkspaceGone() || m.IsWorkspaceReplaced() || all.pinned[m.ID] || all.need(m) {
		return false, nil
	}
	if !rt.hasEnded(m) {
		return false, nil
	}
	if named, err := rt.isNamed(m); named || err != nil {
		return false, err
	}
	if is, err := rt.isElsewhere(ctx, m); !is || err != nil {
		return false, err
	}
	if err := rt.bin.CheckRetirable(ctx, m); err != nil && missions.AsError(err).Kind == missions.KindBusy {
		return false, nil
	} else if err != nil {
		return false, err
	}
	return true, nil
}

// hasEnded reports whether no agent works in a mission, nor is about to.
func (rt *Retirer) hasEnded(m *projects.Mission) bool {
	_, closed := m.Lifecycle.(missions.Closed)
	_, alive := m.Live.LivingProcess()
	waits := m.Live.QueuedRestore != nil || m.Live.Handover != nil || m.Live.SideFork != nil || m.Live.OwedSnapshot != nil
	return closed && !alive && !waits && !rt.presence.IsAgentHidden(m) && rt.presence.MissionView(m).IsUnmanned()
}

// need reports whether a mission that is there was forked from this one, waits for it, or is in a
// contest with it.
func (all everything) need(m *projects.Mission) bool {
	return slices.ContainsFunc(all.list, func(o *projects.Mission) bool {
		return o.ID != m.ID && (o.Parent != nil && o.Parent.Mission == m.ID || waitsFor(o, m.ID) ||
			m.Contest != nil && o.Contest != nil && o.Contest.ID == m.Contest.ID)
	})
}

// waitsFor reports whether what waits to be done in a mission has another's id.
func waitsFor(m *projects.Mission, id string) bool {
	text, err := json.Marshal(m.Live.WaitingState)
	return err != nil || bytes.Contains(text, []byte(id))
}

// isElsewhere reports whether all work of a fork is on branches or stands in its parent, and its
// workspace is as in its newest snapshot.
func (rt *Retirer) isElsewhere(ctx context.Context, m *projects.Mission) (bool, error) {
	caller := missions.Caller{Cwd: m.Binding.Workspace}
	promoted, err := rt.isPromoted(m)
	if err != nil {
		return false, err
	}
	if promoted {
		changed, err := commits.ChangedSince(ctx, rt.looker, caller, m.ID)
		return len(changed) == 0, err
	}
	landed, err := commits.ReadLanded(rt.Home.LandedFile(m.ID))
	if err != nil || len(landed.Landings) == 0 {
		return false, err
	}
	plan, err := rt.looker.PlanLanding(ctx, missions.LandingRequest{Caller: caller, Mission: m.ID})
	if err != nil {
		return false, err
	}
	onBranches := landed.StepsOnBranches(ctx, plan.Mission, os.Environ())
	left, err := commits.WorkNotLanded(ctx, rt.looker, caller, plan, onBranches)
	return err == nil && len(left) == 0 && len(onBranches) > 0 && landed.IsWhole(plan, onBranches), err
}

func (rt *Retirer) isPromoted(m *projects.Mission) (bool, error) {
	parent, err := rt.LoadPublishedMission(m.Project, m.Parent.Mission)
	if parent == nil || err != nil {
		return false, err
	}
	return restores.IsPromoted(parent, m)
}

// ForkExpiry says what becomes of forks by themselves, nil where nothing does.
func (rt *Retirer) ForkExpiry() *missions.ForkExpiry {
	keep, a := rt.ages.Asked(), rt.ages.Read()
	if keep <= 0 {
		return nil
	}
	said := missions.ForkExpiry{Keep: settings.DurationText(keep), WentAt: a.WentAt, Went: a.Went, Problem: a.Problem, Fix: a.Fix}
	if a.LookedAt.IsZero() || a.Keep != keep { // nobody has looked yet what goes
		return &said
	}
	said.NextAt = a.LookedAt.Add(expiry.Every)
	all, _ := rt.AllProjects() // what is wrong with others is said by who lists them
	for _, id := range a.Said() {
		for _, p := range all {
			m, err := rt.LoadPublishedMission(p, id)
			if m == nil || err != nil {
				continue // another's, or the user was faster
			}
			said.Waiting = append(said.Waiting, m.Name)
			if at := a.GoesAt(rt.Now(), keep, id, a.Of[id].Since); said.GoesAt.IsZero() || at.Before(said.GoesAt) {
				said.GoesAt = at
			}
		}
	}
	slices.Sort(said.Waiting)
	return &said
}
