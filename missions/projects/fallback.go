package projects

import (
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
)

// TakenAt is when a snapshot was taken, to the nanosecond if its record can be read.
func (p *Project) TakenAt(s *gitstore.Snapshot) time.Time {
	if info, err := p.ReadSnapshotInfo(s); err == nil {
		return info.At
	}
	return s.At
}
