package missions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/fork"
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
	if err := l.TakeUp(ctx); err != nil {
		errs = append(errs, err)
	}
	if _, err := l.journal.Sweep(); err != nil {
		errs = append(errs, err)
	}
	if err := l.sweepTemporaries(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// recoverOperation finishes one operation or takes it back. One whose process
// is still at it is left alone: it holds the lock that this one needs.
func (l *Local) recoverOperation(ctx context.Context, op *journal.Operation) error {
	if op.Kind() == forkKind {
		return l.recoverFork(ctx, op)
	}
	return l.recoverRestore(ctx, op)
}

// recoverAnew is recoverOperation for one that may have ended meanwhile.
func (l *Local) recoverAnew(ctx context.Context, op *journal.Operation) error {
	fresh, err := l.journal.Load(op.ID())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return l.recoverOperation(ctx, fresh)
}

// recoverForks takes away what is left of a project's forks whose process died,
// before others are made there. One that can't be taken away keeps its name.
func (l *Local) recoverForks(ctx context.Context, p *project) {
	operations, _, err := l.journal.List()
	if err != nil {
		return // whoever needs the journal says it
	}
	for _, op := range operations {
		var doc forkDoc
		if op.Kind() != forkKind || op.Document(&doc) != nil || doc.Project != p.Dir || !abandoned(op) {
			continue
		}
		if err := l.recoverFork(ctx, op); err != nil {
			l.log.Warn("take an unfinished fork away", "operation", op.ID(), "error", err)
		}
	}
}

// recoverFork takes a fork away that was not published, and keeps one that was.
func (l *Local) recoverFork(ctx context.Context, op *journal.Operation) error {
	var doc forkDoc
	if err := op.Document(&doc); err != nil {
		return err
	}
	p, err := l.openProject(doc.Project)
	if err != nil {
		return err
	}
	if doc.Owner.Liveness() == lock.Alive {
		return nil // it is still being made
	}
	naming, err := l.naming(ctx, p)
	if err != nil {
		return err
	}
	defer naming.Release()
	if op, err = l.journal.Load(op.ID()); errors.Is(err, fs.ErrNotExist) {
		return nil // another process has recovered it
	}
	if err != nil {
		return err
	}
	if err := op.Document(&doc); err != nil {
		return err
	}
	if doc.Again {
		return l.recoverAgain(ctx, p, op, doc)
	}
	if err := l.dropFork(ctx, p, doc); err != nil {
		if _, known := p.store.Ref(gitstore.AgentRef(doc.Mission)); errors.Is(err, errPublished) && known == nil {
			return op.Finish()
		}
		return err
	}
	return l.takeForkAway(ctx, op, doc)
}

// recoverAgain keeps a workspace that was made again if its mission is bound to
// it, and takes it away otherwise.
func (l *Local) recoverAgain(ctx context.Context, p *project, op *journal.Operation, doc forkDoc) error {
	m, err := l.load(p, doc.Mission)
	if err != nil {
		return err
	}
	if m.bind.Fork != nil && m.bind.Fork.Operation == op.ID() {
		return op.Finish()
	}
	return l.takeForkAway(ctx, op, doc)
}

// takeForkAway moves what an unfinished fork has made into the trash.
func (l *Local) takeForkAway(ctx context.Context, op *journal.Operation, doc forkDoc) error {
	trash := l.home.path("trash", doc.Mission)
	if err := disk.MakeDirs(l.home.Dir, trash); err != nil {
		return err
	}
	for _, file := range doc.Session {
		if _, err := journal.Sweep(filepath.Dir(file)); err != nil {
			return err
		}
	}
	err := errors.Join(intoTrash(doc.Session, trash), fork.UndoDocument(ctx, doc.Workspace, trash))
	if err != nil {
		return err
	}
	failpoint.Hit("fork.taken.away")
	_ = os.Remove(trash) // stays if something was moved there
	return op.Finish()
}

// intoTrash moves files that may be gone already. On another file system they
// stay where they are: under names that nobody uses, they harm nobody.
func intoTrash(files []string, trash string) error {
	for _, file := range files {
		err := os.Rename(file, filepath.Join(trash, filepath.Base(file)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.EXDEV) {
			return err
		}
	}
	return nil
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
	var ids []string
	for _, r := range all {
		var doc queued
		if json.Unmarshal(r.Payload, &doc) == nil && doc.Owner.Liveness() == lock.Alive {
			continue // its process will answer it
		}
		list, ids = append(list, r), append(ids, doc.IDs...)
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
	if _, err := l.submit(ctx, m.project, m.ID, &request{take: &take, ids: ids}); err != nil {
		return fmt.Errorf("mission %s: %w", m.Name, err)
	}
	return l.forgetRequests(id, list)
}

func (l *Local) forgetRequests(id string, list []journal.Request) error {
	var errs []error
	for _, r := range list {
		errs = append(errs, l.journal.Finish(id, r.Sequence, journal.Canceled))
	}
	return errors.Join(errs...)
}
