package missions

import (
	"context"
	"fmt"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
)

// mendRecords makes the commits of lost records again, where their trees and the
// records before them are there, and reports whether there was any. It comes before
// the chains of records are kept in the pieces that they are in.
func (d *examination) mendRecords(ctx context.Context, p *project, lost []gitstore.Loss) bool {
	back, err := regainRecords(ctx, p.store, lost)
	if err != nil {
		d.l.log.Warn("make lost records again", "project", p.Name, "error", err)
	}
	if back == 0 {
		return false
	}
	d.found(Problem{
		Invariant: "I1", Project: p.Name,
		Message: fmt.Sprintf("records whose commits were missing or damaged: %d were made again as they were", back),
	}, func() error { return nil })
	return true
}

// regainRecords writes what it can make again, durably, and counts it.
func regainRecords(ctx context.Context, store *gitstore.Store, lost []gitstore.Loss) (int, error) {
	var of []*gitstore.Snapshot
	for _, loss := range lost {
		for _, id := range loss.Snapshots {
			if s, err := store.Snapshot(id); err == nil && s.Record == loss.ID {
				of = append(of, s)
				store.Distrust(loss.ID)
			}
		}
	}
	if len(of) == 0 {
		return 0, nil
	}
	slices.Reverse(of) // the newest were listed first
	batch := store.NewBatch()
	defer batch.Discard()
	back, err := store.RegainRecords(ctx, batch, of, missionDoc)
	if err != nil {
		return 0, err
	}
	return len(back), batch.Flush(ctx)
}
