package missions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
)

// Recover makes up for what processes that died left undone: operations cut
// off in the middle, and requests for snapshots that nobody carried out. It is
// called once when a process begins to serve, never inside a hook's wait. What
// it could not do is in the error; the rest is done.
func (l *Local) Recover(ctx context.Context) error {
	var errs []error
	operations, damaged, err := l.journal.List()
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
	if _, err := l.journal.Sweep(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// recoverRequests takes, late, the snapshots that were asked for and not taken.
func (l *Local) recoverRequests(ctx context.Context) error {
	ids, err := l.journal.QueuedMissions()
	if err != nil {
		return fmt.Errorf("read the queue: %w", err)
	}
	var errs []error
	for _, id := range ids {
		errs = append(errs, l.recoverQueue(ctx, id))
	}
	return errors.Join(errs...)
}

// recoverQueue answers all that waits for a mission by one snapshot: whatever
// they asked for, only what is on disk now can still be kept.
func (l *Local) recoverQueue(ctx context.Context, id string) error {
	all, _, err := l.journal.Requests(id)
	if err != nil {
		return err
	}
	take := Take{Trigger: TriggerWatch, What: "asked for by a process that died", OnlyIfChanged: true, Late: true}
	var list []journal.Request
	for _, r := range all {
		var doc queued
		if json.Unmarshal(r.Payload, &doc) == nil && doc.Owner.Liveness() == lock.Alive {
			continue // its process will answer it
		}
		list = append(list, r)
		if !r.Status.Final() && doc.Trigger != "" && take.Trigger == TriggerWatch {
			take.Trigger, take.What = doc.Trigger, doc.What
		}
	}
	if len(list) == 0 {
		return nil
	}
	m, err := l.missionByID(id)
	if err != nil {
		return l.forgetRequests(id, list)
	}
	if _, err := l.submit(ctx, m.project, m.ID, &request{take: &take}); err != nil {
		return fmt.Errorf("mission %s: %w", m.Name, err)
	}
	return l.forgetRequests(id, list)
}

func (l *Local) forgetRequests(id string, list []journal.Request) error {
	var errs []error
	for _, r := range list {
		if !r.Status.Final() {
			if _, err := l.journal.SetStatus(id, r.Sequence, journal.InProgress, nil); err != nil && !errors.Is(err, journal.ErrStatus) {
				errs = append(errs, err)
				continue
			}
			if _, err := l.journal.SetStatus(id, r.Sequence, journal.Canceled, nil); err != nil {
				errs = append(errs, err)
				continue
			}
		}
		errs = append(errs, l.journal.Forget(id, r.Sequence))
	}
	return errors.Join(errs...)
}
