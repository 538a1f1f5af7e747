package restores

import (
	"context"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// ReturnFiles puts back the files of a parked mission that has lent its workspace, by an
// ordinary restore. Its agent is told nothing: the files are as it has left them. The
// mission has its workspace again with the snapshot that says so. The caller holds it.
func ReturnFiles(ctx context.Context, rs *Restorer, m *projects.Mission, c missions.Caller) (missions.RestoreResult, error) {
	lent := m.LentTo()
	target, err := addresses.SnapshotByID(m.Project, lent.Snapshot)
	if err != nil {
		return missions.RestoreResult{}, err
	}
	if err := rs.CheckNeighbours(m); err != nil {
		return missions.RestoreResult{}, err
	}
	if err := rs.RequireRestoresEnded(ctx, m); err != nil {
		return missions.RestoreResult{}, err
	}
	if m.LentTo() == nil { // one that was cut off has done it
		return missions.RestoreResult{}, nil
	}
	r := missions.RestoreRequest{Caller: c, Moment: lent.Snapshot, Mission: m.ID, FilesOnly: true, All: true}
	job, err := rs.PlanRestore(ctx, m, target, r)
	if err != nil {
		return missions.RestoreResult{}, err
	}
	if err := job.Refusal(r); err != nil {
		e := missions.AsError(err)
		return job.Result, missions.Errorf(e.Kind, strings.TrimSuffix(e.Hint, "; or --force")+", then umbra mission resume "+m.Name, "the files of %s are not put back: %s", m.Name, e.Message)
	}
	job.returns = true
	result, err := rs.RunRestore(ctx, m, job, c)
	if err != nil || m.Lent == nil {
		return result, err
	}
	m.Lent = nil // nothing differed
	return result, rs.snapshots.WriteMetaRecord(ctx, m, "has its workspace again")
}

// CheckReturn is why ReturnFiles would be refused, as far as that is known before any file is
// looked at. The caller holds the workspace.
func CheckReturn(ctx context.Context, rs *Restorer, m *projects.Mission) error {
	target, err := addresses.SnapshotByID(m.Project, m.LentTo().Snapshot)
	if err != nil {
		return err
	}
	if err := rs.Space.CheckRoom(); err != nil {
		return err
	}
	job := &Job{Kind: "restore", target: target, Files: &FilesPlan{}}
	if err := rs.PlanGit(ctx, m, job, target); err != nil || len(job.Refusals) == 0 {
		return err
	}
	e := missions.AsError(joinRefusals(job.Refusals))
	return missions.Errorf(e.Kind, strings.TrimSuffix(e.Hint, "; or --force"), "%s", e.Message)
}

// endLending notes that a mission which has lent its workspace has its files again.
func endLending(m *projects.Mission, op projects.Operation) {
	if lent := m.LentTo(); lent != nil && op.Kind == string(missions.TriggerRestore) && op.Target == lent.Snapshot && len(op.Paths) == 0 {
		m.Lent = nil
	}
}

// HasPromotion reports whether a mission has been promoted to since one of its snapshots.
func HasPromotion(m *projects.Mission, since *gitstore.Snapshot) bool {
	for s, err := range m.Project.Store.Snapshots(m.Tip.ID, shadow.HistoryOptions{}) {
		if err != nil || s.ID == since.ID {
			break
		}
		if projects.TriggersOf(s).Has(missions.TriggerPromote) {
			return true
		}
	}
	return false
}
