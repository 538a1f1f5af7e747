package history

import (
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// newlyDisplaced lists the files that a snapshot's record is the first to hold of what
// other programs wrote while a restore ran.
func newlyDisplaced(p *projects.Project, s *gitstore.Snapshot) ([]string, error) {
	list, err := snapshots.RecordedDisplaced(p, s.Record)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	var before []snapshots.StoredDisplaced
	if !s.Parent().IsZero() {
		parent, err := p.Store.Snapshot(s.Parent())
		if err != nil {
			return nil, err
		}
		if before, err = snapshots.RecordedDisplaced(p, parent.Record); err != nil {
			return nil, err
		}
	}
	var paths []string
	for _, d := range list {
		if !slices.Contains(before, d) {
			paths = append(paths, d.Path)
		}
	}
	return paths, nil
}

// catDisplaced gives what another program wrote at a path while a restore ran, and a
// snapshot's record holds.
func catDisplaced(at addresses.ResolvedMoment, path string) ([]byte, error) {
	list, err := snapshots.RecordedDisplaced(at.Project, at.Snapshot.Record)
	if err != nil {
		return nil, missions.Errorf(missions.KindDamaged, "umbra doctor", "record of snapshot %s: %w", at.Snapshot.ID.Short(), err)
	}
	for _, d := range list {
		if d.Path == path {
			return at.Project.Store.Blob(d.ID)
		}
	}
	return nil, missions.Errorf(missions.KindNotFound, "umbra show "+at.Snapshot.ID.Short()+" lists what it holds",
		"%s is not among the displaced files of snapshot %s", path, at.Snapshot.ID.Short())
}
