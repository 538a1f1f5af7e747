package restores

import (
	"context"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/gitstore/restore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// planDisplaced plans to put back what other programs lost to restores: the workspace as
// it is, with these files in it.
func planDisplaced(ctx context.Context, rs *Restorer, m *projects.Mission, j *Job, present restore.Side, r missions.RestoreRequest) error {
	j.Result.OfDisplaced = true
	list, err := displacedAt(m, r)
	if err != nil {
		return err
	}
	batch := m.Project.Store.NewBatch()
	defer batch.Discard()
	t := records.NewTree(m.Project.Store, present.Tree)
	for _, d := range list {
		if err := t.PutEntry(d.Path, d.Mode, d.ID); err != nil {
			return planError(j.target, err)
		}
	}
	to := present
	if to.Tree, err = t.Write(batch); err != nil {
		return planError(j.target, err)
	}
	if err := batch.Flush(ctx); err != nil {
		return err
	}
	j.Files, err = rs.planPaths(m, j.target, sides{present, to}, nil, nil)
	return err
}

// displacedAt lists the displaced files that are asked for.
func displacedAt(m *projects.Mission, r missions.RestoreRequest) ([]snapshots.StoredDisplaced, error) {
	all, err := snapshots.DisplacedFiles(m)
	if err != nil {
		return nil, missions.Errorf(missions.KindDamaged, "umbra doctor", "what restores of %s displaced: %w", m.Name, err)
	}
	if len(all) == 0 {
		return nil, missions.Errorf(missions.KindNotFound, "umbra show MOMENT lists what the restore of that moment displaced",
			"no restore of %s displaced what is not in its newest snapshot; nothing was changed", m.Name)
	}
	if len(r.Paths) == 0 {
		return all, nil
	}
	var list []snapshots.StoredDisplaced
	for _, typed := range r.Paths {
		path, err := m.WorkspacePath(r.Caller, typed)
		if err != nil {
			return nil, err
		}
		before := len(list)
		for _, d := range all {
			if (path == "" || home.IsWithin(path, d.Path)) && !slices.Contains(list, d) {
				list = append(list, d)
			}
		}
		if len(list) == before {
			return nil, missions.Errorf(missions.KindNotFound, "umbra status lists what was", "no restore of %s displaced %s; nothing was changed", m.Name, path)
		}
	}
	return list, nil
}
