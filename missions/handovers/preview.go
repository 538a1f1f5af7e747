package handovers

import (
	"context"
	"fmt"

	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/restores"
	"github.com/umbra-vcs/umbra/sessions"
)

// previewResult adds to a plan what the user decides by: what would refuse the action
// now, and how the agent would go on.
func (s *Scheduler) previewResult(m *projects.Mission, j *restores.Job, a projects.Action) missions.RestoreResult {
	r := j.Result
	refuse := func(err error) { r.Refused = append(r.Refused, missions.AsError(err)) }
	if missions.InTurn(m.Lifecycle) && !isActionForced(a) && !waitsForTurnEnd(a, m) {
		refuse(restores.InTurnError(m))
	}
	if err := s.Space.CheckRoom(); err != nil {
		refuse(err) // what is on disk is to be kept first
	}
	if !isActionForced(a) {
		if err := s.restores.CheckNeighbours(m); err != nil {
			refuse(err)
		}
		for _, err := range j.Refusals {
			refuse(err)
		}
	}
	if a.Restore != nil {
		if e := j.ContestedError(*a.Restore); e != nil {
			refuse(e)
		}
	}
	r.Handover = s.previewHandover(m, j)
	return r.WithEmptyLists()
}

// previewHandover says how the agent would go on, nil where its conversation stays.
func (s *Scheduler) previewHandover(m *projects.Mission, j *restores.Job) *missions.Handover {
	if j.Conversation == nil {
		return nil
	}
	if presence.CanRelaunchAgent(m) {
		return handoverEnd(m)
	}
	if m.Live.IsInSession(j.Conversation.ReturnSession) {
		return nil
	}
	if _, alive := m.Live.LivingProcess(); alive && !m.Live.IsOrphaned() {
		if _, ok := s.Adapter(m.Agent).(sessions.Switcher); ok {
			return &missions.Handover{How: "type"}
		}
	}
	return &missions.Handover{How: "resume"}
}

// previewUndoOrRedo is the plan of an undo or redo. It changes nothing. The caller
// holds the workspace.
func (s *Scheduler) previewUndoOrRedo(ctx context.Context, m *projects.Mission, r missions.UndoRequest, kind string) (missions.RestoreResult, error) {
	if r.Steps > 1 {
		return missions.RestoreResult{}, missions.Errorf(missions.KindUsage, "umbra "+kind+" "+m.Name+" --preview plans the next one", "a plan is of one step, since each begins where the one before it ends")
	}
	cut, err := s.restores.EachUnfinishedRestore(m, func(*journal.Operation, journal.Phase) error { return nil })
	if err != nil {
		return missions.RestoreResult{}, err
	}
	if cut {
		does := map[string]string{"undo": "takes it back", "redo": "finishes it"}[kind]
		result := missions.RestoreResult{Mission: m.ID, MissionName: m.Name, Workspace: m.Binding.Workspace}.WithEmptyLists()
		result.Notes = []string{fmt.Sprintf("a restore here was cut off: %s %s; paths changed since stay as they are", kind, does)}
		return result, nil
	}
	if err := s.LentError(m); err != nil {
		return missions.RestoreResult{}, err
	}
	list, err := restores.RequireUndoableOperations(m, kind, 1)
	if err != nil {
		return missions.RestoreResult{}, err
	}
	a := projects.Action{Undo: &r}
	if kind == "redo" {
		a = projects.Action{Redo: &r}
	}
	if waitsForTurnEnd(a, m) {
		r.Known = currentKnowledge(m, list)
	}
	j, later, err := restores.NewStepJob(m, list[0], r, kind)
	if err != nil {
		return missions.RestoreResult{}, err
	}
	if later != nil {
		j.Refusals = append(j.Refusals, later)
	}
	if err := s.restores.PlanStep(ctx, m, j, list[0], true); err != nil {
		return missions.RestoreResult{}, err
	}
	if err := s.restores.PlanGit(ctx, m, j, list[0].Snapshot); err != nil {
		return missions.RestoreResult{}, err
	}
	return s.previewResult(m, j, a), nil
}
