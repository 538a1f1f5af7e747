package projects

import (
	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
)

// ReadSnapshotInfo reads the snapshot's own document in its record.
func (p *Project) ReadSnapshotInfo(s *gitstore.Snapshot) (SnapshotInfo, error) {
	var info SnapshotInfo
	doc, err := p.ReadRecordDoc(s, SnapshotDoc)
	if err != nil {
		return info, err
	}
	return info, ParseDoc(SnapshotDoc, doc, &info)
}

// ReadRecordDoc reads a document of a snapshot's record. The error wraps
// gitstore.ErrNoEntry if the record has none of that name.
func (p *Project) ReadRecordDoc(s *gitstore.Snapshot, name string) ([]byte, error) {
	doc, err := p.Store.RecordFile(s.Record, name)
	if err != nil {
		return nil, missions.Errorf(missions.KindDamaged, "umbra doctor", "record of snapshot %s: %w", s.ID.Short(), err)
	}
	return doc, nil
}

// PinsBySnapshot lists the pins of each snapshot.
func (p *Project) PinsBySnapshot() map[gitstore.ID][]string {
	pins := map[gitstore.ID][]string{}
	list, err := p.Store.Refs(gitstore.RefPin)
	if err != nil {
		return pins
	}
	for _, ref := range list.Refs {
		pins[ref.ID] = append(pins[ref.ID], ref.Name.Arg())
	}
	return pins
}
