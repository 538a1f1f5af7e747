package restores

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/restore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

func displacedFiles(list []restore.Displaced) []snapshots.DisplacedFile {
	var out []snapshots.DisplacedFile
	for _, d := range list {
		out = append(out, snapshots.DisplacedFile{Path: d.Path, Mode: d.Mode, Open: func() (io.ReadCloser, int64, error) { return d.Open() }})
	}
	return out
}

// SettleRestores drops from quarantine what is stored elsewhere, for the restores
// that are over in this workspace, and keeps what was written there since in a
// snapshot's record first (I8). The caller holds the workspace.
func (rs *Restorer) SettleRestores(ctx context.Context, m *projects.Mission) error {
	entries, _, err := rs.Journal.List()
	if err != nil {
		return err
	}
	var errs []error
	for _, entry := range entries {
		phase, _ := entry.Phase()
		work, err := rs.openRestoreWork(m, entry)
		if err != nil || work == nil {
			errs = append(errs, err)
			continue
		}
		if phase == journal.Done && work.Document != nil {
			errs = append(errs, rs.settleRestore(ctx, m, work))
		}
		work.Close()
	}
	return errors.Join(errs...)
}

func (rs *Restorer) settleRestore(ctx context.Context, m *projects.Mission, work *RestoreWork) error {
	return rs.settleWith(ctx, m, work, work.Settle)
}

// settleFunc is Settle or Tidy.
type settleFunc func(recorded func(restore.Displaced) (bool, error)) (*restore.Settled, error)

func (rs *Restorer) settleWith(ctx context.Context, m *projects.Mission, work *RestoreWork, how settleFunc) error {
	settled, err := settleRecorded(m, work, how)
	if err == nil && len(settled.Displaced) > 0 {
		_, err = rs.snapshots.TakeSnapshot(ctx, m, &snapshots.WantedSnapshot{
			TakeSnapshot: missions.TakeSnapshot{Trigger: missions.TriggerWatch, Lifecycle: m.Lifecycle, Message: "bytes written to files that a restore had taken away"},
			Triggers:     missions.Triggers{missions.TriggerWatch}, Displaced: displacedFiles(settled.Displaced),
		})
		if err == nil {
			settled, err = settleRecorded(m, work, how)
		}
	}
	if err != nil {
		return fmt.Errorf("quarantine of restore %s: %w", work.Doc.Operation.ID, err)
	}
	if settled.Empty {
		failpoint.Hit("restore.settled")
		return work.Entry.Drop()
	}
	return nil
}

// settleRecorded drops what is in a record of the mission's since the restore.
func settleRecorded(m *projects.Mission, work *RestoreWork, how settleFunc) (*restore.Settled, error) {
	var known snapshots.DisplacedSet
	return how(func(d restore.Displaced) (_ bool, err error) {
		if known == nil {
			known, err = snapshots.DisplacedSince(m, work.Doc.TipBefore)
		}
		return known.Holds(d.Path, d.Blob), err
	})
}

// endRestore ends a restore's entry. What was set aside in the workspace itself
// goes at once, as far as nobody writes to it (I5); the rest, and where that fails,
// waits for the next idle point.
func (rs *Restorer) endRestore(ctx context.Context, m *projects.Mission, work *RestoreWork) error {
	if err := work.Finish(); err != nil {
		return err
	}
	if !work.Entry.Dropped() && work.Document != nil && len(work.Document.Beside) > 0 {
		if err := rs.settleWith(ctx, m, work, work.Tidy); err != nil {
			rs.Logger.Warn("tidy the workspace", "mission", m.ID, "error", err)
		}
	}
	return nil
}
