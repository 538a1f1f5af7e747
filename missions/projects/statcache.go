package projects

import (
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/missions/home"
)

// SaveStatCache writes what a scanner knows into the stat cache of a workspace.
func (d *Desk) SaveStatCache(s *capture.Scanner, place home.FileIdentity, generation uint64) error {
	file := d.Home.StatCacheFile(place)
	return s.Save(generation, func(data []byte) error { return journal.WriteVolatile(d.Home.Dir, file, 0o600, data) })
}
