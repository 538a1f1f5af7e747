package sideforks

import (
	"context"
	"encoding/json"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// LeaveByPromotion promotes a side fork at the end of its turn, and leaves it then. What
// would refuse the promotion refuses it at once, while somebody is there to be asked.
func (x *Exchanger) LeaveByPromotion(ctx context.Context, fork, parent *projects.Mission, r missions.PromoteRequest) (missions.PromoteResult, error) {
	plan, err := x.preview(ctx, fork, parent, r)
	if err != nil {
		return plan, err
	}
	r.Fork, r.WhenIdle, r.Keep = fork.ID, false, true
	leave := missions.LeaveForkRequest{Caller: r.Caller, Fork: fork.ID, Parent: parent.ID, Promote: &r}
	done, err := x.handovers.RunAction(ctx, fork, projects.Action{Leave: &leave})
	if err != nil {
		return missions.PromoteResult{}, err
	}
	plan.Done, plan.Queued, plan.Refused, plan.Notes = done.Done, done.Queued, nil, append(plan.Notes, done.Notes...)
	if plan.Handover = nil; done.Done || done.Handover != nil {
		plan.Handover = &missions.Handover{How: "relaunched"}
	}
	if plan.Queued {
		plan.MissionName = fork.Name // whose turn it waits for
		plan.Notes = append(plan.Notes, parent.Name+" has its terminal again then")
	} else if now, err := x.LoadMission(parent.Project, parent.ID); err == nil && now.Tip.ID != parent.Tip.ID {
		plan.Snapshot = now.Tip.ID.String()
	}
	return plan, nil
}

// preview is the plan of a promotion. Its error is what would refuse it even when the turn
// of the fork has ended.
func (x *Exchanger) preview(ctx context.Context, fork, parent *projects.Mission, r missions.PromoteRequest) (missions.PromoteResult, error) {
	r.Preview, r.WhenIdle = true, false
	plan, err := x.promotes.PromoteFork(ctx, fork, parent, r)
	if err != nil {
		return plan, err
	}
	for _, refused := range plan.Refused {
		if refused.Kind == missions.KindBusy {
			continue
		}
		if len(plan.Foreign) > 0 {
			refused.Details, _ = json.Marshal(plan.RestoreResult) // what the user decides by
		}
		return plan, refused
	}
	return plan, nil
}

// promote promotes a side fork that is being left, if that was asked for.
func (x *Exchanger) promote(ctx context.Context, fork *projects.Mission, r missions.LeaveForkRequest) error {
	if r.Promote == nil {
		return nil
	}
	parent, err := x.LoadMission(fork.Project, r.Parent)
	if err != nil {
		return err
	}
	_, err = x.promotes.PromoteFork(ctx, fork, parent, *r.Promote)
	return err
}
