package doctor

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/forks"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/restores"
)

// checkOperations checks that nothing outlives the process that owned it.
func (x *Examination) checkOperations(ctx context.Context) error {
	operations, damaged, err := x.Examiner.Journal.List()
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	for _, entry := range damaged {
		x.report(missions.Problem{Invariant: "I6", Message: entry.Error() + halfDoneAdvice(entry.Operation)}, func() error {
			_, err := x.Examiner.Journal.MoveAside(entry)
			return err
		})
	}
	register, unread := x.Examiner.ReadRegister() // checkRegister reports why
	for _, op := range operations {
		phase, _ := op.Phase()
		if phase == journal.Done {
			x.checkSetAsideFiles(ctx, op)
			if unread == nil {
				x.checkForgotten(op, register)
			}
		}
		if phase == journal.Done || phase != journal.Interrupted && !forks.IsAbandoned(op) {
			continue // finished, and what it took away is kept until the next idle point; or at work
		}
		message := fmt.Sprintf("a %s that began at %s was not finished", op.Kind(), op.Began().Format("2006-01-02 15:04:05"))
		p := missions.Problem{Invariant: "I6", Message: message}
		if x.request.Fix && phase != journal.Interrupted && x.Examiner.recoverOperation(ctx, op) != nil {
			x.stuck = append(x.stuck, stuck{op, p}) // what it needs may be mended first
			continue
		}
		x.report(p, func() error { return x.Examiner.recoverReloadedOperation(ctx, op) })
	}
	return nil
}

// checkSetAsideFiles reports files that a finished restore has set aside in the workspace
// itself (I5): a program may still write to them.
func (x *Examination) checkSetAsideFiles(ctx context.Context, op *journal.Operation) {
	var doc restores.JournalDoc
	if op.Kind() != restores.JournalKind || op.Document(&doc) != nil || doc.Files == nil {
		return
	}
	left := doc.Files.LeftBeside(op.ID())
	if len(left) == 0 {
		return
	}
	x.report(missions.Problem{
		Invariant: "I5",
		Message:   fmt.Sprintf("%d files that a %s took away are still in the workspace, as %s: they may be open for writing, and a later snapshot removes them", len(left), doc.Operation.Kind, left[0]),
	}, func() error {
		m, err := x.Examiner.MissionByID(doc.Mission)
		if err == nil {
			err = x.Examiner.WithWorkspaceLock(ctx, m, func(m *projects.Mission) error { return x.Examiner.rooms.Restores.SettleRestores(ctx, m) })
		}
		if left := doc.Files.LeftBeside(op.ID()); err == nil && len(left) > 0 {
			err = missions.Errorf(missions.KindBusy, "", "a program has it open: fuser -v %s names it", left[0])
		}
		return err
	})
}

// halfDoneAdvice says what to type for a workspace whose restore can be neither finished
// nor taken back. op is nil if the journal does not say which operation it was.
func halfDoneAdvice(op *journal.Operation) string {
	if op == nil {
		return "; a restore that it was about may be half done: umbra log shows the snapshot taken before it"
	}
	var doc restores.JournalDoc
	if op.Kind() != restores.JournalKind || op.Document(&doc) != nil || doc.Files == nil || doc.Operation.SafetySnapshot == "" {
		return ""
	}
	return fmt.Sprintf("; %s may be half restored: umbra restore %s --mission %s --all gives back what it held before", doc.Files.Workspace, doc.Operation.SafetySnapshot[:12], doc.Mission)
}

// stuck is an operation that could not be recovered.
type stuck struct {
	op      *journal.Operation
	problem missions.Problem
}

// retryStuck tries again to recover operations, after other things were mended. An
// operation on damaged data can be neither finished nor taken back: its journal entry is
// moved away with all the files it has set aside, so that it blocks nobody. Nothing is
// deleted.
func (x *Examination) retryStuck(ctx context.Context) {
	for _, s := range x.stuck {
		err := x.Examiner.recoverReloadedOperation(ctx, s.op)
		p := s.problem
		if err != nil && missions.AsError(err).Kind == missions.KindDamaged {
			var to string
			cause := err
			if to, err = x.Examiner.Journal.MoveAside(&journal.DamagedError{Path: filepath.Dir(s.op.DisplacedDir()), Err: cause}); err == nil {
				p.Message += fmt.Sprintf(", and can't be: %v; what it had set aside is in %s", cause, to) + halfDoneAdvice(s.op)
			}
		}
		x.report(p, func() error { return err })
	}
}
