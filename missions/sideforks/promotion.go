package sideforks

import (
	"context"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/promotes"
	"github.com/umbra-vcs/umbra/missions/restores"
)

// LeaveByPromotion promotes a side fork at the end of its turn, and leaves it then. What
// would refuse the promotion refuses it at once, while somebody is there to be asked.
func (x *Exchanger) LeaveByPromotion(ctx context.Context, fork, parent *projects.Mission, r missions.PromoteRequest) (missions.PromoteResult, error) {
	inTerminal := fork.IsBeside() || x.ParkedParent(fork) != nil
	if !inTerminal && !r.Preview { // its parent has lent it its workspace, and its terminal is gone
		_, _, err := x.takeBackLater(ctx, parent, r.Caller)
		if err == nil {
			fork, err = x.LoadMission(fork.Project, fork.ID)
		}
		if err != nil {
			return missions.PromoteResult{}, err
		}
		return x.promotes.PromoteFork(ctx, fork, parent, r)
	}
	if inTerminal {
		if err := x.mayReturn(ctx, fork, missions.LeaveForkRequest{Caller: r.Caller, Parent: parent.ID}); err != nil {
			return missions.PromoteResult{}, err
		}
	}
	planned, beside := r, fork.IsBeside()
	planned.Preview, planned.WhenIdle = true, false
	plan, err := x.promotes.PromoteFork(ctx, fork, parent, planned)
	if err != nil {
		return plan, err
	}
	if beside && missions.InTurn(parent.Lifecycle) && !r.WhenIdle && !r.Force && !r.Preview {
		return plan, restores.InTurnError(parent) // that turn is not the fork's
	}
	plan.Refused = slices.DeleteFunc(plan.Refused, func(e *missions.Error) bool { return e.Kind == missions.KindBusy }) // it waits for the turn's end
	if r.Preview {
		if inTerminal && !beside {
			plan.Handover = &missions.Handover{How: "relaunched"}
		}
		return plan, nil
	}
	if len(plan.Refused) > 0 {
		refused := plan.Refused[0]
		if !r.KeepOthers && !r.All {
			refused = plan.Explain(refused)
		}
		return plan, refused
	}
	r.Fork, r.WhenIdle, r.Keep = fork.ID, r.WhenIdle && beside, true
	leave := missions.LeaveForkRequest{Caller: r.Caller, Fork: fork.ID, Parent: parent.ID, Beside: beside, Promote: &r}
	done, err := x.handovers.RunAction(ctx, fork, projects.Action{Leave: &leave})
	if err != nil {
		return missions.PromoteResult{}, err
	}
	plan.Done, plan.Queued, plan.Refused, plan.Notes = done.Done, done.Queued, nil, append(plan.Notes, done.Notes...)
	switch {
	case beside: // the plan says how the parent goes on
	case done.Done && done.Handover == nil:
		plan.Handover = &missions.Handover{How: "relaunched"}
	default:
		plan.Handover = done.Handover
	}
	if !plan.Queued {
		x.promotes.ConfirmBranch(parent, &plan)
	}
	if plan.Queued {
		plan.MissionName = fork.Name // whose turn it waits for
		if !beside {
			plan.Notes = append(plan.Notes, parent.Name+" has its terminal again then")
		}
	} else if now, err := x.LoadMission(parent.Project, parent.ID); err == nil && fork.IsLodger() && !restores.HasPromotion(now, parent.Tip) {
		if plan.Handover != nil && plan.Handover.How == "relaunched" && now.LentTo() != nil { // large trees take their time
			plan.Done, plan.Queued = false, true
			return plan, nil
		}
		return plan, missions.Errorf(missions.KindFailed, "umbra promote "+fork.Name+" promotes it", "%s was left, and not promoted: its terminal may say why", fork.Name)
	} else if err == nil && now.Tip.ID != parent.Tip.ID {
		plan.Snapshot = now.Tip.ID.String()
	} else if err == nil && now.Live.QueuedRestore != nil {
		plan.Done, plan.Queued = false, true // for the end of the parent's turn
	}
	return plan, nil
}

// promote promotes a side fork that is being left, if that was asked for.
func (x *Exchanger) promote(ctx context.Context, fork *projects.Mission, r missions.LeaveForkRequest) error {
	if r.Promote == nil || fork.IsLodger() { // its parent gets its files back first
		return nil
	}
	parent, err := x.LoadMission(fork.Project, r.Parent)
	if err != nil {
		return err
	}
	done, err := x.isPromoted(ctx, fork, parent, *r.Promote)
	if err != nil {
		return err
	}
	if done && r.Promote.Commits && !r.Promote.ConversationOnly { // a kill may have left the branch where it was
		if err := x.promotes.MoveBranch(ctx, fork, parent); err != nil {
			x.Logger.Warn("move the branch to the commits of a fork", "mission", parent.ID, "fork", fork.ID, "error", err)
		}
	}
	if done {
		return nil
	}
	_, err = x.promotes.PromoteFork(ctx, fork, parent, *r.Promote)
	return err
}

// isPromoted reports whether the newest thing that was done to a parent is this promotion of
// its fork as it is now, whole, and the parent has not gone on since. Whoever did it was killed
// before that was noted: done again it would be there twice, and an undo would take back the
// second, in which nothing changed.
func (x *Exchanger) isPromoted(ctx context.Context, fork, parent *projects.Mission, r missions.PromoteRequest) (promoted bool, err error) {
	if fork, _, err = x.promotes.SettleFork(ctx, fork, promotes.Settling{Verb: "promote", Force: r.Force}); err != nil {
		return false, err
	}
	return promoted, x.WithRecoveredWorkspace(ctx, parent, func(parent *projects.Mission) error {
		for s, err := range parent.Project.Store.Snapshots(parent.Tip.ID, shadow.HistoryOptions{}) {
			if err != nil || s.Mission != parent.ID {
				return err
			}
			last, ok, err := restores.ReadOperation(parent, s)
			switch {
			case err != nil:
				return err
			case !ok:
				continue
			case last.Kind != string(missions.TriggerPromote) || last.Target != fork.Tip.ID.String(),
				last.Part != r.Part() || len(last.Kept)+len(last.Paths) > 0:
				return nil
			}
			since, err := restores.ActivitySince(parent, last, nil)
			promoted = err == nil && since == ""
			return err
		}
		return nil
	})
}
