package upkeep

import (
	"context"
	"errors"
	"fmt"

	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// SweepStats says what Sweep removed.
type SweepStats struct {
	// Temporary counts tmp_* files and packs half borrowed, Bytes their size.
	Temporary int
	Bytes     int64
	// Locks counts lock files of processes that are gone.
	Locks int
	// Segments counts segments whose objects are durable by themselves now.
	Segments int
}

// Sweep removes what killed processes left: temporary files and locks whose
// owner is gone, and segments, this Store's own too, after their objects were
// synced. A pack that has no index gets one. It deletes no object. It may take as long as the disk needs to write
// what is outstanding, so it belongs at starts in the background and at idle
// times, not on the path of a snapshot.
func Sweep(ctx context.Context, s *shadow.Store) (SweepStats, error) {
	var stats SweepStats
	var locks, segments error
	stats.Locks, locks = s.SweepLocks()
	quarantines, temps, unindexed := sweepQuarantines(s), sweepTemps(ctx, s, &stats), sweepUnindexed(ctx, s)
	stats.Segments, segments = s.RetireSegments(ctx)
	err := errors.Join(locks, quarantines, temps, unindexed, segments)
	if err != nil {
		err = fmt.Errorf("sweep %s: %w", s.Dir(), err)
	}
	return stats, err
}
