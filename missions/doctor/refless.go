package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/upkeep"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// checkRefless looks among all snapshots of a project for missions that no ref leads to any
// more, and gives each the ref of its newest snapshot again.
func (x *Examination) checkRefless(ctx context.Context, p *projects.Project) error {
	list, err := upkeep.StoredSnapshots(ctx, p.Store)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		x.Examiner.Logger.Warn("list all snapshots", "project", p.Name, "error", err)
		return nil
	}
	fetched, err := p.FetchedBefore()
	if err != nil {
		x.Examiner.Logger.Warn("read which missions were fetched", "project", p.Name, "error", err)
		return nil // a stranger's mission would become one of this home
	}
	stored := map[string]int{}
	for _, s := range list {
		stored[s.Mission]++
	}
	for _, id := range slices.Sorted(maps.Keys(stored)) {
		if hasRefs(p, id) || isInTrash(p, id) || (stored[id] < 2 || fetched[id]) && !x.Examiner.wasPublished(id) {
			continue
		}
		newest := upkeep.Newest(p.Store, list, gitstore.ID{}, id, p.TakenAt)
		if newest == nil {
			continue
		}
		name := id
		if then, err := p.ReadStored(newest.Record); err == nil {
			name = then.Name
		}
		if x.refless == nil {
			x.refless = map[string]bool{}
		}
		x.refless[id] = true
		x.report(missions.Problem{
			Invariant: "I1", Project: p.Name, Mission: name,
			Message: fmt.Sprintf("no ref leads to it any more: %d of its snapshots are there, the newest is %s", stored[id], newest.ID.Short()),
		}, func() error {
			if err := p.Store.UpdateRef(ctx, gitstore.AgentRef(id), gitstore.ID{}, newest.ID, gitstore.Durable); err != nil {
				return err
			}
			_, err := p.Store.RepairRecords(ctx)
			return err
		})
	}
	return nil
}

func isInTrash(p *projects.Project, id string) bool {
	_, err := p.Store.Ref(gitstore.TrashAgentRef(id))
	return !errors.Is(err, gitstore.ErrRefNotFound)
}

// wasPublished reports whether a mission is known to have had a ref in this home: one with
// one snapshot may have none, as a headless session, or a mission which could not be made;
// and one that was fetched has none.
func (e *Examiner) wasPublished(id string) bool {
	raw, err := e.Journal.Live(id)
	if err != nil {
		return false
	}
	var state projects.Live
	return json.Unmarshal(raw, &state) == nil && state.ProvisionalSnapshot == "" && state.BaseRecord != ""
}
