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

// Recover finishes what killed processes left undone: operations cut off in the middle,
// and requests for snapshots. A process calls it once when it begins to serve, never
// while a hook waits. Errors do not stop it; it returns them all.
func (e *Examiner) Recover(ctx context.Context) error {
	var errs []error
	operations, damaged, err := e.Journal.List()
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
		if err := e.recoverOperation(ctx, op); err != nil {
			errs = append(errs, fmt.Errorf("%s %s: %w", op.Kind(), op.ID(), err))
		}
	}
	if err := e.recoverRequests(ctx); err != nil {
		errs = append(errs, err)
	}
	if err := e.rooms.Handovers.ResumeHandovers(ctx); err != nil {
		errs = append(errs, err)
	}
	if _, err := e.Journal.Sweep(); err != nil {
		errs = append(errs, err)
	}
	if err := e.SweepTemporaries(); err != nil {
		errs = append(errs, err)
	}
	if err := e.rooms.Remotes.SweepTransfers(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// recoverOperation finishes one operation or takes it back. It leaves an operation alone
// whose process still runs and holds the lock.
func (e *Examiner) recoverOperation(ctx context.Context, op *journal.Operation) error {
	if op.Kind() == projects.ForkKind {
		return e.rooms.Forks.RecoverFork(ctx, op)
	}
	return e.rooms.Restores.RecoverRestore(ctx, op)
}

// recoverReloadedOperation recovers an operation that may have ended meanwhile.
func (e *Examiner) recoverReloadedOperation(ctx context.Context, op *journal.Operation) error {
	fresh, err := e.Journal.Load(op.ID())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return e.recoverOperation(ctx, fresh)
}

// recoverRequests takes, late, the snapshots that were asked for and not taken.
func (e *Examiner) recoverRequests(ctx context.Context) error {
	ids, err := e.Journal.QueuedMissions()
	if err != nil {
		return fmt.Errorf("read the queue: %w", err)
	}
	var errs []error
	for _, id := range ids {
		errs = append(errs, e.recoverQueuedRequests(ctx, id))
	}
	return errors.Join(errs...)
}

// recoverQueuedRequests answers all requests of a mission by one snapshot: only what is on
// disk now can still be kept.
func (e *Examiner) recoverQueuedRequests(ctx context.Context, id string) error {
	all, _, err := e.Journal.Requests(id)
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
	m, err := e.MissionByID(id)
	if err != nil {
		return e.forgetRequests(id, list)
	}
	if _, err := e.rooms.Snapshots.SubmitRequest(ctx, m.Project, m.ID, &snapshots.Request{Take: &take, Ids: ids}); err != nil {
		return fmt.Errorf("mission %s: %w", m.Name, err)
	}
	return e.forgetRequests(id, list)
}

func (e *Examiner) forgetRequests(id string, list []journal.Request) error {
	var errs []error
	for _, r := range list {
		errs = append(errs, e.Journal.Finish(id, r.Sequence, journal.Canceled))
	}
	return errors.Join(errs...)
}
