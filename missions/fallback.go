package missions

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
)

// newestOf finds a mission's newest snapshot that can be read, whatever its ref
// says: the one whose record is the newest on the chain of its records or, if
// that chain is broken, the youngest of those among all objects, reachable or not,
// whose records can be read. A fork that has taken none has its fork point.
func (p *project) newestOf(ctx context.Context, mission string) (gitstore.ID, error) {
	snaps, err := p.store.SnapshotsOf(ctx, mission)
	if err != nil {
		return gitstore.ID{}, err
	}
	of := map[gitstore.ID]gitstore.ID{}
	for _, s := range snaps {
		of[s.Record] = s.ID
	}
	head, broken := p.store.Ref(gitstore.RecordRef(mission))
	if broken == nil {
		for c, err := range p.store.History(head, gitstore.HistoryOptions{}) {
			if broken = err; broken != nil {
				break
			}
			if id, ok := of[c.ID]; ok {
				return id, nil
			}
		}
	}
	if newest := p.newestRecorded(snaps); newest != nil {
		return newest.ID, nil
	}
	if broken != nil {
		return gitstore.ID{}, fmt.Errorf("its records: %w", broken)
	}
	m := &loaded{project: p, record: head}
	if err := m.readRecord(""); err != nil {
		return gitstore.ID{}, err
	}
	if m.Parent == nil {
		return gitstore.ID{}, errors.New("none of its snapshots is left")
	}
	return gitstore.ParseID(m.Parent.Snapshot)
}

// newestRecorded is the youngest of some snapshots whose records can be read, of
// those that none of the others follows; nil if there is none.
func (p *project) newestRecorded(snaps []*gitstore.Snapshot) *gitstore.Snapshot {
	followed := map[gitstore.ID]bool{}
	snaps = slices.DeleteFunc(snaps, func(s *gitstore.Snapshot) bool {
		_, err := p.storedAt(s.Record)
		followed[s.Parent()] = followed[s.Parent()] || err == nil
		return err != nil
	})
	var newest *gitstore.Snapshot
	for _, s := range snaps {
		if !followed[s.ID] && (newest == nil || s.At.After(newest.At)) {
			newest = s
		}
	}
	return newest
}

// fallBack lets the missions whose newest snapshot, or its record, is lost go on
// from what is whole, and reports whether there was any. What is lost was looked
// for everywhere before.
func (d *examination) fallBack(ctx context.Context, p *project) (any bool) {
	refs, err := p.store.Refs(gitstore.RefAgent)
	if err != nil {
		return false
	}
	for _, ref := range refs.Refs {
		mission := ref.Name.Mission()
		_, err := d.l.load(p, mission)
		if !errors.Is(err, gitstore.ErrMissing) && !errors.Is(err, gitstore.ErrDamaged) {
			continue
		}
		var said string
		snap, err := p.store.Snapshot(ref.ID)
		if err != nil {
			said, err = p.fallBackFrom(ctx, mission, ref.ID)
		} else {
			said, err = p.recordAnew(ctx, snap)
		}
		if err != nil {
			d.l.log.Warn("go on from what is whole", "project", p.Name, "mission", mission, "error", err)
			continue
		}
		any = true
		name := mission
		if m, err := d.l.load(p, mission); err == nil {
			name = m.Name
		}
		d.found(Problem{Invariant: "I1", Project: p.Name, Mission: name, Message: said}, func() error { return nil })
	}
	return any
}

// fallBackFrom sets the ref of a mission, whose newest snapshot is lost, to the
// newest that is there. What was recorded with the lost one is kept.
func (p *project) fallBackFrom(ctx context.Context, mission string, lost gitstore.ID) (said string, err error) {
	to, err := p.newestOf(ctx, mission)
	if err != nil {
		return "", err
	}
	said = fmt.Sprintf("its newest snapshot, %s, is lost: it goes on from %s, the newest that is whole", lost.Short(), to.Short())
	if head, err := p.store.Ref(gitstore.RecordRef(mission)); err == nil {
		keep := gitstore.KeepRef(lost)
		switch err := p.store.UpdateRef(ctx, keep, gitstore.ID{}, head, gitstore.Durable); {
		case err == nil:
			said += fmt.Sprintf("; what was recorded with it, such as the conversation, is kept as %s", keep)
		case errors.Is(err, gitstore.ErrRefMoved): // it was kept before
		case !errors.Is(err, gitstore.ErrMissing) && !errors.Is(err, gitstore.ErrDamaged):
			return "", err
		}
	}
	if err := p.store.UpdateRef(ctx, gitstore.AgentRef(mission), lost, to, gitstore.Durable); err != nil {
		return "", err
	}
	_, err = p.store.RepairRecords(ctx)
	return said, err
}

// recordAnew puts a snapshot in the place of a mission's newest one, whose record
// is lost: the same files, with what the newest record says that is whole.
func (p *project) recordAnew(ctx context.Context, lost *gitstore.Snapshot) (said string, err error) {
	donor, err := p.recordedBefore(lost)
	if err != nil {
		return "", err
	}
	record, err := p.store.Commit(donor.Record)
	if err != nil {
		return "", err
	}
	batch := p.store.NewBatch()
	defer batch.Discard()
	snap := *lost
	snap.Partial = true
	if snap.Record, err = p.store.WriteRecord(batch, &gitstore.Record{
		Tree: record.Tree, Parents: parents(donor.Record), Author: lost.Author, At: lost.At,
		Kind: gitstore.KindSnapshot, Mission: lost.Mission, Message: "the record of " + lost.ID.Short() + " is lost",
	}); err != nil {
		return "", err
	}
	if snap.ID, err = batch.Commit(gitstore.FormatSnapshot(&snap)); err != nil {
		return "", err
	}
	if err := batch.Flush(ctx); err != nil {
		return "", err
	}
	if err := batch.Prove(snap.ID, snap.Record); err != nil {
		return "", err
	}
	if err := p.store.UpdateRef(ctx, gitstore.AgentRef(lost.Mission), lost.ID, snap.ID, gitstore.Durable); err != nil {
		return "", err
	}
	if _, err := p.store.RepairRecords(ctx); err != nil {
		return "", err
	}
	return fmt.Sprintf("what was recorded with its newest snapshot, %s, is lost, such as the conversation since %s: its files are whole, and %s has them",
		lost.ID.Short(), donor.ID.Short(), snap.ID.Short()), nil
}

// recordedBefore is the newest snapshot of the same mission before one whose
// record can be read.
func (p *project) recordedBefore(lost *gitstore.Snapshot) (*gitstore.Snapshot, error) {
	for s, err := range p.store.Snapshots(lost.Parent(), gitstore.HistoryOptions{}) {
		if err != nil {
			return nil, err
		}
		if s.Mission != lost.Mission {
			break
		}
		if _, err := p.storedAt(s.Record); err == nil {
			return s, nil
		}
	}
	return nil, fmt.Errorf("no snapshot before %s has a record that can be read", lost.ID.Short())
}
