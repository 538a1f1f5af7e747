package projects

import (
	"log/slog"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// Base is what all parts of a Desk are built on: it is the same for each of them.
type Base struct {
	Home     home.Home
	Clock    func() time.Time
	Uptime   func() time.Duration // of the system
	Logger   *slog.Logger
	Journal  *journal.Journal
	Self     lock.Owner        // this process
	Watching missions.Watching // nil: every capture is a stat walk
	Index    missions.Index    // nil: no cache
	Space    *home.Space
}

func (b *Base) NewID() string { return missions.NewRequestID() }

// SaveStatCache writes what a scanner knows into the stat cache of a workspace.
func (b *Base) SaveStatCache(s *capture.Scanner, place home.FileIdentity, generation uint64) error {
	file := b.Home.StatCacheFile(place)
	return s.Save(generation, func(data []byte) error { return journal.WriteVolatile(b.Home.Dir, file, 0o600, data) })
}
