package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/gitstore/objects"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/upkeep"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// mendLost regains lost objects of snapshots, bridges histories over those lost for good,
// reports both, and returns the problems that remain.
func (x *Examination) mendLost(ctx context.Context, p *projects.Project, problems []upkeep.Problem) ([]upkeep.Problem, error) {
	was := lossesIn(problems)
	if len(was) == 0 {
		return problems, nil
	}
	// What comes back may lead to objects that a prune is about to remove.
	held, err := lock.Wait(ctx, lock.ProjectFile(x.Examiner.Home.Dir, p.ID), lock.Shared, x.Examiner.Self)
	if err != nil {
		return nil, home.LockError(err)
	}
	defer func() { _ = held.Release() }()
	if err := x.Examiner.regain(ctx, p, was); err != nil {
		x.Examiner.Logger.Warn("read again what is lost", "project", p.Name, "error", err)
	}
	if problems, err = x.repositoryProblems(ctx, p); err != nil {
		return nil, err
	}
	had, left := countObjects(was), countObjects(lossesIn(problems))
	if back := had - left; back > 0 {
		x.reportMended(p, "", fmt.Sprintf("%d of %d objects that snapshots hold and that were missing or damaged were read again", back, had))
	}
	if len(ownLosses(lossesIn(problems))) == 0 {
		return problems, nil
	}
	x.continueMissions(ctx, p)
	if err := x.bridgeHistories(ctx, p); err != nil {
		x.Examiner.Logger.Warn("let histories go on over what is lost", "project", p.Name, "error", err)
	}
	if problems, err = x.repositoryProblems(ctx, p); err != nil {
		return nil, err
	}
	return problems, upkeep.AcceptLost(ctx, p.Store, ownLosses(lossesIn(problems)))
}

// bridgeHistories lets histories go on over commits that are lost in the middle of them.
func (x *Examination) bridgeHistories(ctx context.Context, p *projects.Project) error {
	roots, err := x.Examiner.unpublished(p)
	if err != nil {
		return err
	}
	made, err := upkeep.Bound(ctx, p.Store, p.TakenAt, roots...)
	for _, b := range made {
		what, rest := "snapshot", ", and nothing before it is left"
		if b.Record {
			what = "record"
		}
		if !b.Before.IsZero() {
			rest = fmt.Sprintf(": the %ss before it, from %s back, are whole, and are part of the history again", what, b.Before.Short())
		}
		x.reportMended(p, b.Mission, fmt.Sprintf("%s %s is lost for good%s", what, b.Lost.Short(), rest))
	}
	return err
}

// reportMended says what was mended of a project, or of a mission.
func (x *Examination) reportMended(p *projects.Project, mission, message string) {
	if m, err := x.Examiner.LoadMissionOrRemoved(p, mission); err == nil {
		mission = m.Name
	}
	x.report(missions.Problem{Invariant: "I1", Project: p.Name, Mission: mission, Message: message}, func() error { return nil })
}

// regain stores lost objects of snapshots again: from the user's repository, from the
// agent's conversation files, and from the workspaces, which it reads again whole.
func (e *Examiner) regain(ctx context.Context, p *projects.Project, lost []upkeep.Loss) error {
	if _, err := upkeep.Sweep(ctx, p.Store); err != nil { // what was written lately stands in a segment too
		return err
	}
	ids := map[gitstore.ID]bool{}
	for _, loss := range lost {
		if _, _, err := p.Store.Object(loss.ID); err != nil {
			ids[loss.ID] = true
		}
	}
	if len(ids) == 0 {
		return nil
	}
	list := slices.Collect(maps.Keys(ids))
	p.Store.Distrust(list...)
	missions, _ := e.ProjectMissions(p)
	seen := map[string]bool{}
	for _, m := range missions {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := e.regainSession(ctx, m, lost, ids); err != nil {
			e.Logger.Warn("read a conversation again", "mission", m.ID, "error", err)
		}
		repo, err := usergit.Discover(m.Binding.Workspace)
		if err != nil || repo.CommonDir == "" || repo.Format != usergit.SHA1 || seen[repo.CommonDir] {
			continue
		}
		seen[repo.CommonDir] = true
		if err := importLost(ctx, p.Store, repo.CommonDir, list); err != nil {
			e.Logger.Warn("look for what is lost in the user's repository", "repository", repo.CommonDir, "error", err)
		}
	}
	e.recapture(ctx, p)
	return nil
}

// importLost copies those of the objects that a repository of the user's holds.
func importLost(ctx context.Context, store *shadow.Store, commonDir string, ids []gitstore.ID) error {
	from, err := objects.Open(commonDir)
	if err != nil {
		return err
	}
	defer from.Close()
	batch := store.NewBatch()
	defer batch.Discard()
	for _, id := range ids {
		if has, err := from.Has(id); err != nil || !has {
			continue
		}
		if _, _, err := from.Object(id); err != nil {
			continue // as damaged there: it may be the same file
		}
		if err := batch.Import(from, id); err != nil {
			return err
		}
	}
	return batch.Flush(ctx)
}

// regainSession stores parts of a mission's records again that the agent's conversation
// file still holds.
func (e *Examiner) regainSession(ctx context.Context, m *projects.Mission, lost []upkeep.Loss, ids map[gitstore.ID]bool) error {
	if m.Binding.SessionPath == "" {
		return nil
	}
	holders := map[gitstore.ID]bool{}
	for _, loss := range lost {
		if loss.Mission != m.ID || !loss.Record {
			continue
		}
		for _, id := range loss.Snapshots {
			if s, err := m.Project.Store.Snapshot(id); err == nil {
				holders[s.Record] = true
			}
		}
	}
	if len(holders) == 0 {
		return nil
	}
	f, _, err := disk.OpenRegular(m.Binding.SessionPath)
	if err != nil {
		return err
	}
	defer f.Close()
	batch := m.Project.Store.NewBatch()
	defer batch.Discard()
	for record := range holders {
		if err := records.Regain(m.Project.Store, batch, record, f, ids); err != nil {
			return err
		}
	}
	return batch.Flush(ctx)
}

// recapture reads the project's workspaces again, whole. Damaged and missing objects are
// distrusted, so that it stores them anew where a workspace holds them.
func (e *Examiner) recapture(ctx context.Context, p *projects.Project) {
	missions, _ := e.ProjectMissions(p)
	seen := map[home.DirectoryIdentity]bool{}
	for _, m := range missions {
		if seen[m.Binding.Identity] || m.CheckMachine() != nil {
			continue
		}
		seen[m.Binding.Identity] = true
		err := e.WithWorkspaceLock(ctx, m, func(m *projects.Mission) error {
			ws, err := e.rooms.Snapshots.RefreshWorkspace(ctx, m)
			if err != nil {
				return err
			}
			ws.Scanner.Suspect()
			captured, err := e.rooms.Snapshots.CaptureWorkspace(ctx, m)
			if err != nil {
				return err
			}
			return storeDocs(ctx, p.Store, captured)
		})
		if err != nil {
			e.Logger.Warn("read again what was damaged", "mission", m.ID, "workspace", m.Binding.Workspace, "error", err)
		}
	}
}

// storeDocs stores the documents that records keep of a capture: most snapshots of a
// workspace share them, and none can be restored without them.
func storeDocs(ctx context.Context, store *shadow.Store, c *capture.Result) error {
	batch := store.NewBatch()
	defer batch.Discard()
	for _, doc := range snapshots.CaptureDocs(c) {
		if _, err := batch.Write(gitstore.TypeBlob, doc.Content); err != nil {
			return err
		}
	}
	return batch.Flush(ctx)
}
