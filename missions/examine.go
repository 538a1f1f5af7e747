package missions

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
)

// strays looks for what an operation has left in a workspace (I5): staged names
// of a restore that is over.
func (d *examination) strays(m *loaded) {
	dirs := []string{""}
	err := m.project.store.WalkTree(m.tip.Tree, func(path string, e gitstore.TreeEntry) error {
		if e.Mode.IsDir() {
			dirs = append(dirs, path)
		}
		return nil
	})
	if err != nil {
		return // reported by the store's own check
	}
	for _, dir := range dirs {
		entries, err := os.ReadDir(filepath.Join(m.bind.Workspace, dir))
		if err != nil {
			continue // not there now, or not readable: no name of ours was left in it that we could see
		}
		for _, e := range entries {
			if operation, _, ok := beneath.ParseScratch(e.Name()); ok && !d.inFlight(operation) {
				stray := filepath.Join(m.bind.Workspace, dir, e.Name())
				d.stray(m, stray, operation)
			}
		}
	}
}

// setAsideBeside reports what a restore that is over has left in the workspace (I5),
// where it had to set things aside there: somebody may write to it.
func (d *examination) setAsideBeside(ctx context.Context, op *journal.Operation) {
	var doc restoreDoc
	if op.Kind() != restoreKind || op.Document(&doc) != nil || doc.Files == nil {
		return
	}
	left := doc.Files.LeftBeside(op.ID())
	if len(left) == 0 {
		return
	}
	d.found(Problem{
		Invariant: "I5",
		Message:   fmt.Sprintf("%d files that a %s took away are still in the workspace, as %s: they may be open for writing, and a later snapshot removes them", len(left), doc.Operation.Kind, left[0]),
	}, func() error {
		m, err := d.l.missionByID(doc.Mission)
		if err == nil {
			err = d.l.holding(ctx, m, func(m *loaded) error { return d.l.settleAll(ctx, m) })
		}
		if left := doc.Files.LeftBeside(op.ID()); err == nil && len(left) > 0 {
			err = Errorf(KindBusy, "", "a program has it open: fuser -v %s names it", left[0])
		}
		return err
	})
}

// stray reports a file, and removes it if what it holds is stored.
func (d *examination) stray(m *loaded, file, operation string) {
	p := Problem{
		Invariant: "I5", Project: m.project.Name, Mission: m.Name,
		Message: fmt.Sprintf("%s was left by operation %s, which is over", file, operation),
		Fix:     "look at the file; what it holds may be in no snapshot",
	}
	if stored, err := d.stored(m, file); err != nil || !stored {
		d.found(p, nil)
		return
	}
	d.found(p, func() error { return os.Remove(file) })
}

// stored reports whether a regular file's content is in the project's store.
func (d *examination) stored(m *loaded, file string) (bool, error) {
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
	return m.project.store.Has(id)
}

// inFlight reports whether the journal still has an operation: what is its own
// is settled or recovered with it. Only "not there" is over.
func (d *examination) inFlight(operation string) bool {
	_, err := d.l.journal.Load(operation)
	return !errors.Is(err, fs.ErrNotExist)
}

// restorable proves that a snapshot's record says all that a restore needs:
// its rules, what was left out, and modes (I7).
func (d *examination) restorable(m *loaded, s *gitstore.Snapshot) error {
	side, err := d.l.recordedSide(m.project, s)
	if err != nil {
		return err
	}
	if side.Modes == nil || side.Rules == nil || side.Skipped == nil {
		return errors.New("its record is not whole")
	}
	return nil
}

// setAside notes what was set aside in a project, now or ever before.
func (d *examination) setAside(p *project) {
	dir := p.store.DamagedDir()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) == 0 {
		return
	}
	bytes, err := diskUsage(dir)
	if err != nil {
		d.l.log.Warn("measure what was set aside", "project", p.Name, "error", err)
	}
	d.result.SetAside = append(d.result.SetAside, SetAside{p.Name, dir, bytes})
}
