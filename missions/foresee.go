package missions

import (
	"context"
	"fmt"

	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/sessions"
)

// foresee adds to a plan what the user decides by: what would refuse it now, and
// how the agent would go on.
func (l *Local) foresee(m *loaded, j *job, a asked) RestoreResult {
	r := j.result
	refuse := func(err error) { r.Refused = append(r.Refused, AsError(err)) }
	if InTurn(m.life) && !a.force() && !a.waits(m) {
		refuse(inTurn(m))
	}
	if !a.force() {
		if err := l.neighbourInTurn(m); err != nil {
			refuse(err)
		}
		for _, err := range j.refusals {
			refuse(err)
		}
	}
	if a.Restore != nil {
		if e := j.contested(*a.Restore); e != nil {
			refuse(e)
		}
	}
	r.Handover = l.foreseeHandover(m, j)
	return r.filled()
}

// foreseeHandover says how the agent would go on, nil where its conversation
// stays.
func (l *Local) foreseeHandover(m *loaded, j *job) *Handover {
	if j.talk == nil {
		return nil
	}
	if m.relievable() {
		return &Handover{How: "relaunched"}
	}
	if m.live.isIn(j.talk.session) {
		return nil
	}
	if _, alive := m.live.process(); alive && !m.live.orphaned() {
		if _, ok := l.adapter(m.Agent).(sessions.Switcher); ok {
			return &Handover{How: "type"}
		}
	}
	return &Handover{How: "resume"}
}

// foreseeStep is the plan of an undo or redo. It changes nothing. The caller holds
// the workspace.
func (l *Local) foreseeStep(ctx context.Context, m *loaded, r UndoRequest, kind string) (RestoreResult, error) {
	if r.Steps > 1 {
		return RestoreResult{}, Errorf(KindUsage, "umbra "+kind+" "+m.Name+" --preview plans the next one", "a plan is of one step, since each begins where the one before it ends")
	}
	cut, err := l.eachCutOff(m, func(*journal.Operation, journal.Phase) error { return nil })
	if err != nil {
		return RestoreResult{}, err
	}
	if cut {
		does := map[string]string{"undo": "takes it back", "redo": "finishes it"}[kind]
		result := RestoreResult{Mission: m.ID, Name: m.Name, Workspace: m.bind.Workspace}.filled()
		result.Notes = []string{fmt.Sprintf("a restore here was cut off: %s %s; paths changed since stay as they are", kind, does)}
		return result, nil
	}
	list, err := m.stepsBack(kind, 1)
	if err != nil {
		return RestoreResult{}, err
	}
	a := asked{Undo: &r}
	if kind == "redo" {
		a = asked{Redo: &r}
	}
	if a.waits(m) {
		r.Known = m.knows(list)
	}
	j, later, err := m.stepJob(list[0], r, kind)
	if err != nil {
		return RestoreResult{}, err
	}
	if later != nil {
		j.refusals = append(j.refusals, later)
	}
	if err := l.planStep(ctx, m, j, list[0], true); err != nil {
		return RestoreResult{}, err
	}
	if err := l.planGit(ctx, m, j, list[0].snapshot); err != nil {
		return RestoreResult{}, err
	}
	return l.foresee(m, j, a), nil
}
