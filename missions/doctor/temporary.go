package doctor

import (
	"fmt"
	"path/filepath"

	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/missions"
)

// checkTemporaries reports what killed processes left, and removes it.
func (d *Examination) checkTemporaries() error {
	var left []string
	for _, dir := range d.L.TemporaryDirs() {
		names, err := journal.Leftovers(dir)
		if err != nil {
			return fmt.Errorf("look for temporary files: %w", err)
		}
		for _, name := range names {
			left = append(left, filepath.Join(dir, name))
		}
	}
	if len(left) > 0 {
		d.found(missions.Problem{
			Invariant: "I6", Message: fmt.Sprintf("%d temporary files of processes that are gone, as %s", len(left), left[0]),
		}, d.L.SweepTemporaries)
	}
	return nil
}
