package gitstore

import (
	"context"
	"errors"
)

// KeepRecords has refs lead again to the records of a mission, given by the ref of
// its snapshots, that a lost one in the middle of their chain has cut off: a run of
// them is kept under the newest snapshot that has one of it. Where the history of the
// snapshots breaks off itself, what is before is left.
func (s *Store) KeepRecords(ctx context.Context, agent RefName) error {
	records := RecordRef(agent.Mission())
	if agent.Kind() == RefTrashAgent {
		records = TrashRecordRef(agent.Mission())
	}
	tip, err := s.Ref(agent)
	if err != nil {
		return err
	}
	chain := map[ID]bool{}
	if head, err := s.Ref(records); err == nil {
		_ = s.addRecords(chain, head) // where it ends, the rest is looked for
	}
	if err := s.addKept(chain); err != nil {
		return err
	}
	for snap, err := range s.Snapshots(tip, HistoryOptions{}) {
		if err != nil || snap.Mission != agent.Mission() {
			return ctx.Err()
		}
		if chain[snap.Record] {
			continue
		}
		if _, err := s.Record(snap.Record); err != nil {
			continue // lost: the one that cuts off
		}
		if err := s.UpdateRef(ctx, KeepRef(snap.ID), ID{}, snap.Record, Durable); err != nil && !errors.Is(err, ErrRefMoved) {
			return err
		}
		_ = s.addRecords(chain, snap.Record)
	}
	return ctx.Err()
}

// addKept adds what the refs of kept records lead to.
func (s *Store) addKept(chain map[ID]bool) error {
	kept, err := s.Refs(RefKeep)
	if err != nil {
		return err
	}
	for _, ref := range kept.Refs {
		_ = s.addRecords(chain, ref.ID)
	}
	return nil
}

// addRecords adds a record and those before it, as far as they can be read and are
// not there yet. It returns why it ends, if that is not their beginning.
func (s *Store) addRecords(chain map[ID]bool, tip ID) error {
	for commit, err := range s.History(tip, HistoryOptions{}) {
		if err != nil {
			return err
		}
		if chain[commit.ID] {
			return nil
		}
		chain[commit.ID] = true
	}
	return nil
}
