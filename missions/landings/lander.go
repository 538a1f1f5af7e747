// Package landings lists the work of missions, turn by turn, for whoever makes commits of
// it. It makes none: that is done by the user's own git, in the process of the command.
package landings

import (
	"context"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// Lander lists the work of missions.
type Lander struct {
	*projects.Desk
	addresses *addresses.Finder
	presence  *presence.Observer
}

// New makes a Lander.
func New(d *projects.Desk, a *addresses.Finder, p *presence.Observer) *Lander {
	return &Lander{Desk: d, addresses: a, presence: p}
}

// PlanLanding lists the work of a mission that is not in a turn.
func (l *Lander) PlanLanding(ctx context.Context, r missions.LandingRequest) (plan missions.LandingPlan, err error) {
	m, err := l.addresses.FindMission(ctx, r.Caller, r.Mission, addresses.InAnyProject)
	if err != nil {
		return plan, err
	}
	if err := m.CheckMachine(); err != nil {
		return plan, err
	}
	if moved := m.Whereabouts(r.Caller.Cwd); moved != "" {
		return plan, m.MovedError(moved)
	}
	if m.IsWorkspaceGone() && !m.IsWorkspaceCopied() {
		return plan, missions.Errorf(missions.KindNotFound, "umbra mission resume "+m.Name+" makes it again", "the workspace of %s is not there", m.Name)
	}
	if m, err = l.presence.ReloadMission(ctx, m); err != nil {
		return plan, err
	}
	if !r.Force {
		if m, err = l.presence.WaitUntilSettled(ctx, m); err != nil {
			return plan, err
		}
	}
	if missions.InTurn(m.Lifecycle) && !r.Force {
		return plan, missions.Errorf(missions.KindBusy, "umbra mission wait "+m.Name+" waits for it; --force lands what is in its newest snapshot",
			"%s is at work, in turn %d", m.Name, m.Lifecycle.LastTurn())
	}
	plan = missions.LandingPlan{Mission: l.presence.MissionView(m), Snapshot: m.Tip.ID.String(), Steps: []missions.LandingStep{}}
	h, err := readHistory(m)
	if err != nil {
		return plan, err
	}
	steps, err := h.steps()
	if err != nil {
		return plan, err
	}
	if r.All {
		h.takeOver(steps)
	}
	plan.Branch = branchOf(steps)
	plan.Steps, err = listChanges(ctx, m.Project, steps, r.All)
	return plan, err
}

// listChanges says which paths the steps change, of those that the mission has changed in
// any of them; with all, of those that others have changed too.
func listChanges(ctx context.Context, p *projects.Project, steps []step, all bool) ([]missions.LandingStep, error) {
	list, own := []missions.LandingStep{}, map[string]bool{}
	for _, s := range steps {
		if s.own() {
			err := p.Store.DiffTrees(s.from, s.to, func(c gitstore.Change) error {
				if all || s.making.Path(c.Path) {
					own[c.Path] = true
				}
				return ctx.Err()
			})
			if err != nil {
				return nil, err
			}
		}
	}
	for _, s := range steps {
		listed := missions.LandingStep{Key: s.key, Turn: s.turn, Title: s.title, From: s.from.String(), To: s.to.String()}
		err := p.Store.DiffTrees(s.from, s.to, func(c gitstore.Change) error {
			if own[c.Path] {
				listed.Changes = append(listed.Changes, missions.LandingChange{Path: c.Path, From: landingFile(c.From), To: landingFile(c.To)})
			}
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
		if len(listed.Changes) > 0 {
			list = append(list, listed)
		}
	}
	return list, nil
}

func landingFile(e gitstore.TreeEntry) missions.LandingFile {
	if e.ID.IsZero() {
		return missions.LandingFile{}
	}
	return missions.LandingFile{Mode: e.Mode.String(), Blob: e.ID.String()}
}
