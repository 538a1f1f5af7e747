package missions

import (
	"context"
	"errors"
	"fmt"
)

// asked is a restore, undo or redo that somebody has asked for: exactly one
// member is set. It is kept in a mission's live state while it waits for the end
// of a turn or of the agent.
type asked struct {
	Restore *RestoreRequest `json:"restore,omitempty"` // its moment is the id of a snapshot
	Undo    *UndoRequest    `json:"undo,omitempty"`
	Redo    *UndoRequest    `json:"redo,omitempty"`
}

// String is how the user would say it.
func (a asked) String() string {
	if a.Restore != nil {
		return fmt.Sprintf("restore %.10s", a.Restore.Moment)
	}
	return a.kind()
}

func (a asked) kind() string {
	switch {
	case a.Restore != nil:
		return "restore"
	case a.Undo != nil:
		return "undo"
	}
	return "redo"
}

// steps is the request of an undo or redo.
func (a asked) steps() UndoRequest {
	if a.Undo != nil {
		return *a.Undo
	}
	return *a.Redo
}

func (a asked) force() bool {
	if a.Restore != nil {
		return a.Restore.Force
	}
	return a.steps().Force
}

// waits reports whether it is left for the end of the mission's turn: where that
// was asked for, or it comes from inside the turn and is not forced.
func (a asked) waits(m *loaded) bool {
	whenIdle := a.Restore != nil && a.Restore.WhenIdle || a.Restore == nil && a.steps().WhenIdle
	return InTurn(m.life) && (whenIdle || a.inside(m) && !a.force())
}

// inside reports whether it comes from the mission's own agent, or from what that
// has started.
func (a asked) inside(m *loaded) bool {
	if a.Restore != nil {
		return a.Restore.Caller.Mission == m.ID
	}
	return a.steps().Caller.Mission == m.ID
}

// do carries out what was asked for: at the end of the turn, with a handover, or
// at once, as it has to be. The mission's result says which.
func (l *Local) do(ctx context.Context, m *loaded, a asked) (RestoreResult, error) {
	for {
		if a.careful(m) {
			var err error
			if m, err = l.surely(ctx, m); err != nil {
				return RestoreResult{}, err
			}
		}
		result, err := l.doOnce(ctx, m, a)
		if !errors.Is(err, errUnsettled) {
			return result, err
		}
		if err := pause(ctx, pollEvery); err != nil {
			return RestoreResult{}, err
		}
		if m, err = l.load(m.project, m.ID); err != nil {
			return RestoreResult{}, err
		}
	}
}

// errUnsettled says that a turn has ended since it was looked at whether it runs, and
// may go on.
var errUnsettled = errors.New("the turn has just ended")

// careful reports whether an agent must be known to be at rest for what was asked.
// Who asks inside, between turns, does so by a hook.
func (a asked) careful(m *loaded) bool { return !a.preview() && !a.force() && !a.inside(m) }

// doOnce is do where it is known whether the agent is at work: errUnsettled if it is
// not any more.
func (l *Local) doOnce(ctx context.Context, m *loaded, a asked) (RestoreResult, error) {
	hold := l.holding
	if a.Restore != nil {
		hold = l.locked
	}
	if a.preview() {
		seen, done, err := l.glimpse(m)
		if err != nil {
			return RestoreResult{}, err
		}
		defer done()
		m, hold = seen, l.looking(hold)
	}
	var result RestoreResult
	var begun *handover
	err := hold(ctx, m, func(m *loaded) (err error) {
		switch {
		case a.preview():
		case l.owned(m.live.Handover):
			return Errorf(KindBusy, "wait a moment and try again", "the agent of %s is being ended for another: %s", m.Name, m.live.Handover.Asked)
		case a.waits(m):
			result, err = l.queue(ctx, m, a)
			return err
		case InTurn(m.life) && !a.force():
			return inTurn(m)
		case a.careful(m) && l.afterTurn(m) != atRest:
			return errUnsettled
		default:
			if begun, err = l.beginHandover(ctx, m, a, false); begun != nil || err != nil {
				return err
			}
		}
		result, err = l.carry(ctx, m, a)
		return err
	})
	switch {
	case begun == nil:
		return result, err
	case err != nil:
		l.letGo(begun)
		return result, err
	}
	if a.inside(m) && l.handOverBeside(m, begun) {
		result = m.queued()
		result.Handover = &Handover{How: "relaunched"}
		return result, nil
	}
	ctx = context.WithoutCancel(ctx) // the agent is to be back, whoever has left
	result, ended, err := l.handOver(ctx, m, begun)
	if ended {
		l.awaitRelaunch(ctx, m, begun, &result)
	}
	return result, err
}

func (a asked) preview() bool {
	if a.Restore != nil {
		return a.Restore.Preview
	}
	return a.steps().Preview
}

// queued is the result of what is left for later.
func (m *loaded) queued() RestoreResult {
	return RestoreResult{Mission: m.ID, Name: m.Name, Workspace: m.bind.Workspace, Queued: true}.filled()
}

// queue leaves what was asked for to the end of the turn. The caller holds the
// workspace.
func (l *Local) queue(ctx context.Context, m *loaded, a asked) (result RestoreResult, err error) {
	result = RestoreResult{Mission: m.ID, Name: m.Name, Workspace: m.bind.Workspace}.filled()
	if a.Restore != nil {
		result.Target = a.Restore.Moment
	} else if a, err = l.foreknow(m, a); err != nil {
		return result, err
	}
	if _, err := l.switches(ctx, m, a); err != nil {
		return result, err
	}
	if before := m.live.Pending; before != nil {
		result.Notes = append(result.Notes, fmt.Sprintf("it takes the place of what was to happen then: %s", before))
	}
	m.live.Pending, m.live.NotRestored, result.Queued = &a, "", true
	l.saveLive(m)
	return result, nil
}

// switches reports whether the conversation would become another one, where it is
// now, and why it would be refused if it were done now. It changes nothing. The
// caller holds the workspace.
func (l *Local) switches(ctx context.Context, m *loaded, a asked) (bool, error) {
	if a.Restore == nil {
		return l.stepSwitches(ctx, m, a.steps(), a.kind())
	}
	if err := l.neighbourInTurn(m); err != nil && !a.force() {
		return false, err
	}
	target, err := m.project.snapshotNamed(a.Restore.Moment)
	if err != nil {
		return false, err
	}
	r := *a.Restore
	r.Preview = true
	job, err := l.planRestore(ctx, m, target, r)
	if err != nil {
		return false, err
	}
	return job.talk != nil, job.refusal(r)
}

// carry carries it out now, whatever the agent does. The caller holds the
// workspace.
func (l *Local) carry(ctx context.Context, m *loaded, a asked) (RestoreResult, error) {
	if a.Restore != nil {
		return l.restoreLocked(ctx, m, *a.Restore)
	}
	return l.stepLocked(ctx, m, a.steps(), a.kind())
}
