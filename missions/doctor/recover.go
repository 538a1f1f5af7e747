package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// Recover makes up for what processes that died left undone: operations cut
// off in the middle, and requests for snapshots that nobody carried out. It is
// called once when a process begins to serve, never inside a hook's wait. What
// it could not do is in the error; the rest is done.
func (l *Examiner) Recover(ctx context.Context) error {
	var errs []error
	operations, damaged, err := l.Journal.List()
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	for _, d := range damaged {
		errs = append(errs, d)
	}
	for _, op := range operations {
		if phase, _ := op.Phase(); phase == journal.Interrupted {
			continue // people have gone on working: theirs to decide
		}
		if err := l.recoverOperation(ctx, op); err != nil {
			errs = append(errs, fmt.Errorf("%s %s: %w", op.Kind(), op.ID(), err))
		}
	}
	if err := l.recoverRequests(ctx); err != nil {
		errs = append(errs, err)
	}
	if err := l.handovers.ResumeHandovers(ctx); err != nil {
		errs = append(errs, err)
	}
	if _, err := l.Journal.Sweep(); err != nil {
		errs = append(errs, err)
	}
	if err := l.SweepTemporaries(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// recoverOperation finishes one operation or takes it back. One whose process
// is still at it is left alone: it holds the lock that this one needs.
func (l *Examiner) recoverOperation(ctx context.Context, op *journal.Operation) error {
	if op.Kind() == projects.ForkKind {
		return l.forks.RecoverFork(ctx, op)
	}
	return l.restores.RecoverRestore(ctx, op)
}

// recoverReloadedOperation is recoverOperation for one that may have ended meanwhile.
func (l *Examiner) recoverReloadedOperation(ctx context.Context, op *journal.Operation) error {
	fresh, err := l.Journal.Load(op.ID())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return l.recoverOperation(ctx, fresh)
}

// recoverRequests takes, late, the snapshots that were asked for and not taken.
func (l *Examiner) recoverRequests(ctx context.Context) error {
	ids, err := l.Journal.QueuedMissions()
	if err != nil {
		return fmt.Errorf("read the queue: %w", err)
	}
	var errs []error
	for _, id := range ids {
		errs = append(errs, l.recoverQueuedRequests(ctx, id))
	}
	return errors.Join(errs...)
}

// recoverQueuedRequests answers all that waits for a mission by one snapshot: whatever
// they asked for, only what is on disk now can still be kept.
func (l *Examiner) recoverQueuedRequests(ctx context.Context, id string) error {
	all, _, err := l.Journal.Requests(id)
	if err != nil {
		return err
	}
	take := missions.TakeSnapshot{Trigger: missions.TriggerWatch, Message: "asked for by a process that died", OnlyIfChanged: true, Late: true}
	var list []journal.Request
	var ids []string
	for _, r := range all {
		var doc snapshots.JournaledRequest
		if json.Unmarshal(r.Payload, &doc) == nil && doc.Owner.Liveness() == lock.Alive {
			continue // its process will answer it
		}
		list, ids = append(list, r), append(ids, doc.IDs...)
		if !r.Status.Final() && doc.Trigger != "" && take.Trigger == missions.TriggerWatch {
			take.Trigger, take.Message = doc.Trigger, doc.What
		}
	}
	if len(list) == 0 {
		return nil
	}
	m, err := l.MissionByID(id)
	if err != nil {
		return l.forgetRequests(id, list)
	}
	if _, err := l.snapshots.SubmitRequest(ctx, m.Project, m.ID, &snapshots.Request{Take: &take, Ids: ids}); err != nil {
		return fmt.Errorf("mission %s: %w", m.Name, err)
	}
	return l.forgetRequests(id, list)
}

func (l *Examiner) forgetRequests(id string, list []journal.Request) error {
	var errs []error
	for _, r := range list {
		errs = append(errs, l.Journal.Finish(id, r.Sequence, journal.Canceled))
	}
	return errors.Join(errs...)
}
