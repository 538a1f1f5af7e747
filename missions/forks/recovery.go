package forks

import (
	"context"
	"errors"
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
	"github.com/umbra-vcs/umbra/missions/projects"
)

// recoverForks removes what is left of a project's forks whose process died, before
// other forks are made there. A fork that can't be removed keeps its name.
func (f *Forker) recoverForks(ctx context.Context, p *projects.Project) {
	operations, _, err := f.Journal.List()
	if err != nil {
		return // whoever needs the journal says it
	}
	for _, op := range operations {
		var doc projects.ForkDoc
		if op.Kind() != projects.ForkKind || op.Document(&doc) != nil || doc.Project != p.Dir || !IsAbandoned(op) {
			continue
		}
		if err := f.RecoverFork(ctx, op); err != nil {
			f.Logger.Warn("take an unfinished fork away", "operation", op.ID(), "error", err)
		}
	}
}

// RecoverFork removes a fork that was not published, and keeps a published one.
func (f *Forker) RecoverFork(ctx context.Context, op *journal.Operation) error {
	var doc projects.ForkDoc
	if err := op.Document(&doc); err != nil {
		return err
	}
	p, err := f.OpenProject(doc.Project)
	if err != nil {
		return err
	}
	if doc.Owner.Liveness() == lock.Alive {
		return nil // it is still being made
	}
	naming, err := f.addresses.LockNames(ctx, p)
	if err != nil {
		return err
	}
	defer naming.Release()
	if op, err = f.Journal.Load(op.ID()); errors.Is(err, fs.ErrNotExist) {
		return nil // another process has recovered it
	}
	if err != nil {
		return err
	}
	if err := op.Document(&doc); err != nil {
		return err
	}
	if doc.Recreated {
		return f.recoverRecreation(ctx, p, op, doc)
	}
	if err := f.dropForkRefs(ctx, p, doc); err != nil {
		if _, known := p.Store.Ref(gitstore.AgentRef(doc.Mission)); errors.Is(err, errForkPublished) && known == nil {
			f.nameFork(ctx, p, doc)
			return op.Finish()
		}
		return err
	}
	if err := f.updates.Discard(p, doc.Mission); err != nil {
		return err
	}
	return f.trashUnfinishedFork(ctx, op, doc)
}

// nameFork makes the name of a published fork lead to it, if its process died before that.
// If this fails, doctor does it.
func (f *Forker) nameFork(ctx context.Context, p *projects.Project, doc projects.ForkDoc) {
	m, err := f.LoadMission(p, doc.Mission)
	if err == nil {
		err = f.snapshots.PublishName(ctx, m)
	}
	if err != nil && !errors.Is(err, gitstore.ErrRefMoved) { // moved: a name leads to it, or to another mission
		f.Logger.Warn("make the name lead to its fork", "mission", doc.Mission, "name", doc.Name, "error", err)
	}
}

// recoverRecreation keeps a recreated workspace if its mission is bound to it, and
// removes it otherwise.
func (f *Forker) recoverRecreation(ctx context.Context, p *projects.Project, op *journal.Operation, doc projects.ForkDoc) error {
	m, err := f.LoadMission(p, doc.Mission)
	if err != nil {
		return err
	}
	if m.Binding.Fork != nil && m.Binding.Fork.Operation == op.ID() {
		return op.Finish()
	}
	return f.trashUnfinishedFork(ctx, op, doc)
}

// trashUnfinishedFork moves what an unfinished fork has made into the trash.
func (f *Forker) trashUnfinishedFork(ctx context.Context, op *journal.Operation, doc projects.ForkDoc) error {
	trash := f.Home.Path("trash", doc.Mission)
	if err := disk.MakeDirs(f.Home.Dir, trash); err != nil {
		return err
	}
	for _, file := range doc.SessionFiles {
		if _, err := journal.Sweep(filepath.Dir(file)); err != nil {
			return err
		}
	}
	err := errors.Join(moveFilesToTrash(doc.SessionFiles, trash), fork.UndoDocument(ctx, doc.Workspace, trash))
	if err != nil {
		return err
	}
	failpoint.Hit("fork.taken.away")
	_ = os.Remove(trash) // stays if something was moved there
	return op.Finish()
}

// moveFilesToTrash moves files that may be gone already. If they are on another file
// system they stay where they are: nobody uses their names.
func moveFilesToTrash(files []string, trash string) error {
	for _, file := range files {
		err := os.Rename(file, filepath.Join(trash, filepath.Base(file)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.EXDEV) {
			return err
		}
	}
	return nil
}

// IsAbandoned reports whether the process of an operation in flight is not known to be
// alive.
func IsAbandoned(op *journal.Operation) bool {
	var doc struct {
		Owner lock.Owner `json:"owner"`
	}
	return op.Document(&doc) != nil || doc.Owner.Liveness() != lock.Alive
}
