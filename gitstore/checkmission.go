package gitstore

import (
	"errors"
	"fmt"
)

// mission checks I2 and I3 for the snapshots of one mission that are its own.
func (c *checker) mission(ref Ref, recordRef RefName) {
	mission := ref.Name.Mission()
	add := func(invariant, fix, format string, args ...any) {
		c.add(Problem{Invariant: invariant, Ref: string(ref.Name), Message: fmt.Sprintf(format, args...), Fix: fix})
	}
	records, err := c.recordChain(recordRef)
	if err != nil && !c.isLost(err) {
		add("I3", fixCommand, "records: %v", err)
	}
	child := (*Snapshot)(nil)
	for commit, err := range c.store.History(ref.ID, HistoryOptions{}) {
		if err != nil {
			if !c.isLost(err) {
				add("I2", "", "history: %v", err)
			}
			return
		}
		snap := ParseSnapshot(commit)
		if snap.Mission == "" {
			add("I2", "", "commit %s in its history is no snapshot", snap.ID)
			return
		}
		if snap.Mission != mission {
			// The rest belongs to the source of a fork. A fork's ref starts
			// there, and only its record says so until its own first snapshot.
			if child == nil && len(records) == 0 || child != nil && child.ForkedFrom != snap.ID {
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

// recordChain gives the records from a ref on, as a set, and those that are kept where
// it is broken.
func (c *checker) recordChain(ref RefName) (map[ID]bool, error) {
	tip, err := c.store.Ref(ref)
	if err != nil {
		return nil, err
	}
	chain := map[ID]bool{}
	if err := c.store.addRecords(chain, tip); err != nil {
		return chain, errors.Join(err, c.store.addKept(chain)) // what it cuts off is kept apart
	}
	return chain, c.ctx.Err()
}

func (c *checker) snapshotRecord(snap *Snapshot, records map[ID]bool, add func(invariant, fix, format string, args ...any)) {
	if snap.Record.IsZero() {
		add("I3", "", "snapshot %s names no record", snap.ID)
		return
	}
	if _, err := c.store.Record(snap.Record); err != nil {
		if !c.isLost(err) {
			add("I3", "", "record of snapshot %s: %v", snap.ID, err)
		}
		return
	}
	if !records[snap.Record] {
		add("I3", fixCommand, "record %s of snapshot %s is not reachable from the records ref", snap.Record, snap.ID)
		return
	}
	if err := c.session(snap.Record); err != nil && !c.isLost(err) {
		add("I3", "", "session of snapshot %s: %v", snap.ID, err)
	}
}

// session reads the chunks of a record that no earlier record had.
func (c *checker) session(record ID) error {
	r, err := c.store.OpenSession(record)
	if errors.Is(err, ErrNoEntry) {
		return nil
	}
	if err != nil {
		return err
	}
	if in := r.Meta.Inherited; in != nil {
		if _, err := c.store.Record(in.Record); err != nil {
			return fmt.Errorf("its inherited part: %w", err)
		}
	}
	for _, part := range r.chunks {
		if c.chunks[part] {
			continue
		}
		data, err := c.store.Blob(part.id)
		if err != nil {
			return err
		}
		if int64(len(data)) != part.size {
			return damaged("chunk at %d has %d bytes, not %d", part.offset, len(data), part.size)
		}
		c.chunks[part] = true
	}
	return nil
}

// pin checks that a pinned snapshot's record is kept.
func (c *checker) pin(ref Ref) {
	snap, err := c.store.Snapshot(ref.ID)
	if err != nil {
		c.add(Problem{Invariant: "I1", Ref: string(ref.Name), Message: err.Error()})
		return
	}
	if snap.Record.IsZero() {
		return
	}
	kept, err := c.store.Ref(KeepRef(snap.ID))
	switch {
	case err != nil:
		c.add(Problem{Invariant: "I3", Ref: string(ref.Name), Message: fmt.Sprintf("the record of the pinned snapshot is not kept: %v", err)})
	case kept != snap.Record:
		c.add(Problem{Invariant: "I3", Ref: string(KeepRef(snap.ID)), Message: fmt.Sprintf("it keeps %s, not the record %s of the pinned snapshot", kept, snap.Record)})
	}
}
