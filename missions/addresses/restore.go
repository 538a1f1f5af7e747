package addresses

import (
	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// SnapshotByID reads a snapshot by its id.
func SnapshotByID(p *projects.Project, text string) (*gitstore.Snapshot, error) {
	id, err := gitstore.ParseID(text)
	if err != nil {
		return nil, err
	}
	s, err := p.Store.Snapshot(id)
	if err != nil {
		return nil, missions.Errorf(missions.KindDamaged, "umbra doctor", "snapshot %s: %w", id.Short(), err)
	}
	return s, nil
}
