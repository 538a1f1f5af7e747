package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/missions/restores"
)

// findStrays looks for what an operation has left in a workspace (I5): staged names
// of a restore that is over.
func (d *Examination) findStrays(m *projects.Mission) {
	dirs := []string{""}
	err := m.Project.Store.WalkTree(m.Tip.Tree, func(path string, e gitstore.TreeEntry) error {
		if e.Mode.IsDir() {
			dirs = append(dirs, path)
		}
		return nil
	})
	if err != nil {
		return // reported by the store's own check
	}
	for _, dir := range dirs {
		entries, err := os.ReadDir(filepath.Join(m.Binding.Workspace, dir))
		if err != nil {
			continue // not there now, or not readable: no name of ours was left in it that we could see
		}
		for _, e := range entries {
			if operation, _, ok := beneath.ParseScratch(e.Name()); ok && !d.isOperationInFlight(operation) {
				stray := filepath.Join(m.Binding.Workspace, dir, e.Name())
				d.reportStray(m, stray, operation)
			}
		}
	}
}

// checkSetAsideFiles reports what a restore that is over has left in the workspace (I5),
// where it had to set things aside there: somebody may write to it.
func (d *Examination) checkSetAsideFiles(ctx context.Context, op *journal.Operation) {
	var doc restores.JournalDoc
	if op.Kind() != restores.JournalKind || op.Document(&doc) != nil || doc.Files == nil {
		return
	}
	left := doc.Files.LeftBeside(op.ID())
	if len(left) == 0 {
		return
	}
	d.found(missions.Problem{
		Invariant: "I5",
		Message:   fmt.Sprintf("%d files that a %s took away are still in the workspace, as %s: they may be open for writing, and a later snapshot removes them", len(left), doc.Operation.Kind, left[0]),
	}, func() error {
		m, err := d.L.MissionByID(doc.Mission)
		if err == nil {
			err = d.L.WithWorkspaceLock(ctx, m, func(m *projects.Mission) error { return d.L.restores.SettleRestores(ctx, m) })
		}
		if left := doc.Files.LeftBeside(op.ID()); err == nil && len(left) > 0 {
			err = missions.Errorf(missions.KindBusy, "", "a program has it open: fuser -v %s names it", left[0])
		}
		return err
	})
}

// reportStray reports a file, and removes it if what it holds is stored.
func (d *Examination) reportStray(m *projects.Mission, file, operation string) {
	p := missions.Problem{
		Invariant: "I5", Project: m.Project.Name, Mission: m.Name,
		Message: fmt.Sprintf("%s was left by operation %s, which is over", file, operation),
		Fix:     "look at the file; what it holds may be in no snapshot",
	}
	if stored, err := d.isStored(m, file); err != nil || !stored {
		d.found(p, nil)
		return
	}
	d.found(p, func() error { return os.Remove(file) })
}

// isStored reports whether a regular file's content is in the project's store.
func (d *Examination) isStored(m *projects.Mission, file string) (bool, error) {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	f, err := os.Open(file)
	if err != nil {
		return false, err
	}
	defer f.Close()
	id, err := gitstore.HashBlob(f, info.Size())
	if err != nil {
		return false, err
	}
	return m.Project.Store.Has(id)
}

// isOperationInFlight reports whether the journal still has an operation: what is its own
// is settled or recovered with it. Only "not there" is over.
func (d *Examination) isOperationInFlight(operation string) bool {
	_, err := d.L.Journal.Load(operation)
	return !errors.Is(err, fs.ErrNotExist)
}

// checkRestorable proves that a snapshot's record says all that a restore needs:
// its rules, what was left out, and modes (I7).
func (d *Examination) checkRestorable(m *projects.Mission, s *gitstore.Snapshot) error {
	side, err := snapshots.RecordedSide(m.Project, s)
	if err != nil {
		return err
	}
	if side.Modes == nil || side.Rules == nil || side.Skipped == nil {
		return errors.New("its record is not whole")
	}
	return nil
}

// noteSetAside notes what was set aside in a project, now or ever before.
func (d *Examination) noteSetAside(p *projects.Project) {
	dir := p.Store.DamagedDir()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) == 0 {
		return
	}
	bytes, err := home.DiskUsage(dir)
	if err != nil {
		d.L.Logger.Warn("measure what was set aside", "project", p.Name, "error", err)
	}
	d.Result.SetAside = append(d.Result.SetAside, missions.SetAside{Project: p.Name, Path: dir, Bytes: bytes})
}
