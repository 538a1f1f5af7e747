package upkeep

import (
	"errors"
	"fmt"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// mission checks I2 and I3 for the snapshots of one mission that are its own.
func (c *checker) mission(ref gitstore.Ref, recordRef gitstore.RefName) {
	mission := ref.Name.Mission()
	add := func(invariant, fix, format string, args ...any) {
		c.add(Problem{Invariant: invariant, Ref: string(ref.Name), Message: fmt.Sprintf(format, args...), Fix: fix})
	}
	records, err := c.recordChain(recordRef)
	if err != nil && !c.isLost(err) {
		add("I3", fixCommand, "records: %v", err)
	}
	child := (*gitstore.Snapshot)(nil)
	for commit, err := range c.store.History(ref.ID, shadow.HistoryOptions{}) {
		if err != nil {
			if !c.isLost(err) {
				add("I2", "", "history: %v", err)
			}
			return
		}
		snap := gitstore.ParseSnapshot(commit)
		if snap.Mission == "" {
			add("I2", "", "commit %s in its history is no snapshot", snap.ID)
			return
		}
		if snap.Mission != mission {
			// The rest belongs to the source of a fork. A fork's ref starts
			// there, and only its record says so until its own first snapshot.
			if child == nil && len(records) == 0 || child != nil && child.ForkedFrom != snap.ID && child.Lost.IsZero() {
				add("I2", "", "snapshot %s of mission %s is in its history, without a trailer that says so", snap.ID, snap.Mission)
			}
			return
		}
		if child != nil && !child.ForkedFrom.IsZero() && child.ForkedFrom == snap.ID {
			add("I2", "", "snapshot %s says it is forked from %s, which is of the same mission", child.ID, snap.ID)
		}
		if records != nil {
			c.snapshotRecord(snap, records, add)
		}
		child = snap
	}
}

// recordChain gives the records from a ref on, as a set.
func (c *checker) recordChain(ref gitstore.RefName) (map[gitstore.ID]bool, error) {
	tip, err := c.store.Ref(ref)
	if err != nil {
		return nil, err
	}
	chain := map[gitstore.ID]bool{}
	for record, err := range c.store.History(tip, shadow.HistoryOptions{}) {
		if err != nil {
			return nil, err
		}
		chain[record.ID] = true
	}
	return chain, c.ctx.Err()
}

func (c *checker) snapshotRecord(snap *gitstore.Snapshot, records map[gitstore.ID]bool, add func(invariant, fix, format string, args ...any)) {
	if snap.Record.IsZero() {
		add("I3", "", "snapshot %s names no record", snap.ID)
		return
	}
	_, err := c.store.Record(snap.Record)
	switch {
	case errors.Is(err, gitstore.ErrMissing), errors.Is(err, gitstore.ErrDamaged):
		c.unrecorded = true
	case err != nil:
		add("I3", "", "record of snapshot %s: %v", snap.ID, err)
	case !records[snap.Record]:
		add("I3", fixCommand, "record %s of snapshot %s is not reachable from the records ref", snap.Record, snap.ID)
	}
}

// pin checks that a pinned snapshot's record is kept.
func (c *checker) pin(ref gitstore.Ref) {
	snap, err := c.store.Snapshot(ref.ID)
	if err != nil {
		c.add(Problem{Invariant: "I1", Ref: string(ref.Name), Message: err.Error()})
		return
	}
	if snap.Record.IsZero() {
		return
	}
	kept, err := c.store.Ref(gitstore.KeepRef(snap.ID))
	switch {
	case err != nil:
		c.add(Problem{Invariant: "I3", Ref: string(ref.Name), Message: fmt.Sprintf("the record of the pinned snapshot is not kept: %v", err)})
	case kept != snap.Record:
		c.add(Problem{Invariant: "I3", Ref: string(gitstore.KeepRef(snap.ID)),
			Message: fmt.Sprintf("it keeps %s, not the record %s of the pinned snapshot", kept, snap.Record)})
	}
}
