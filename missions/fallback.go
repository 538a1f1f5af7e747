package missions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
)

// newestOf finds a mission's newest snapshot that can be read, whatever its ref says,
// among all objects, reachable or not. A fork that has taken none has its fork point.
func (p *project) newestOf(ctx context.Context, mission string) (gitstore.ID, error) {
	list, err := p.store.StoredSnapshots(ctx)
	if err != nil {
		return gitstore.ID{}, err
	}
	head, err := p.store.Ref(gitstore.RecordRef(mission))
	newest := p.store.Newest(list, head, mission, p.takenAt)
	if newest == nil {
		return gitstore.ID{}, errors.Join(errors.New("none of its snapshots is left"), err)
	}
	return newest.ID, nil
}

// takenAt is when a snapshot was taken, to the nanosecond if its record can be read.
func (p *project) takenAt(s *gitstore.Snapshot) time.Time {
	if info, err := p.snapshotInfo(s); err == nil {
		return info.At
	}
	return s.At
}

// goOn lets the missions whose newest snapshot, or its record, is lost go on from the
// newest that is there. What the workspace holds is captured again, and called
// partial. What is lost was looked for everywhere before.
func (d *examination) goOn(ctx context.Context, p *project) {
	refs, err := p.store.Refs(gitstore.RefAgent)
	if err != nil {
		return
	}
	for _, ref := range refs.Refs {
		mission := ref.Name.Mission()
		if _, err := d.l.load(p, mission); !objectLost(err) {
			continue
		}
		said, err := d.l.goOnFrom(ctx, p, mission, ref.ID)
		if err != nil {
			d.l.log.Warn("go on from what is whole", "project", p.Name, "mission", mission, "error", err)
			continue
		}
		d.mended(p, mission, said)
	}
}

// goOnFrom mends the mission whose ref names a snapshot that is lost, or its record.
func (l *Local) goOnFrom(ctx context.Context, p *project, mission string, ref gitstore.ID) (said string, err error) {
	said = fmt.Sprintf("what was recorded with its newest snapshot, %s, is lost, such as the conversation: its files are whole", ref.Short())
	tip, err := p.store.Snapshot(ref)
	if err != nil {
		to, err := p.newestOf(ctx, mission)
		if err != nil {
			return "", err
		}
		said = fmt.Sprintf("its newest snapshot, %s, is lost: it goes on from %s, the newest that is whole", ref.Short(), to.Short())
		if head, err := p.store.Ref(gitstore.RecordRef(mission)); err == nil { // what was recorded with the lost one
			if err := p.store.UpdateRef(ctx, gitstore.KeepRef(ref), gitstore.ID{}, head, gitstore.Durable); err != nil && !objectLost(err) && !errors.Is(err, gitstore.ErrRefMoved) {
				return "", err
			}
		}
		if err := p.store.UpdateRef(ctx, gitstore.AgentRef(mission), ref, to, gitstore.Durable); err != nil {
			return "", err
		}
		if tip, err = p.store.Snapshot(to); err != nil {
			return "", err
		}
	}
	if _, err := p.storedAt(tip.Record); err != nil {
		if tip, err = p.recordAgain(ctx, mission, tip); err != nil {
			return "", err
		}
	}
	if _, err := p.store.RepairRecords(ctx); err != nil {
		return "", err
	}
	m, err := l.load(p, mission)
	if err != nil {
		return "", err
	}
	err = l.holding(ctx, m, func(m *loaded) error {
		_, err := l.commit(ctx, m, &wanted{
			Take:     Take{Trigger: TriggerWatch, Of: m.life, What: "captured again: snapshots before were lost", Partial: true},
			triggers: Triggers{TriggerWatch},
		})
		return err
	})
	if err != nil {
		l.log.Warn("capture a workspace again", "mission", m.Name, "error", err)
		return said, nil
	}
	return said + "; what its workspace holds was captured again", nil
}

// recordAgain puts a snapshot on top of one whose record is lost: of the same files,
// with what the newest record says that is whole.
func (p *project) recordAgain(ctx context.Context, mission string, tip *gitstore.Snapshot) (*gitstore.Snapshot, error) {
	donor, then, err := p.recordedBefore(mission, tip)
	if err != nil {
		return nil, err
	}
	below := tip.Record
	if _, err := p.store.Record(below); err != nil {
		below = donor.ID
	}
	top := *tip
	top.Parents, top.Partial, top.Message = parents(tip.ID), true, "what was recorded with the snapshot before is lost"
	then.Step = nil // not known any more
	t := p.store.NewRecordTree(donor.Tree)
	info := snapshotInfo{Format: recordFormat, At: tip.At, Triggers: tip.Triggers, Turn: tip.Turn, Partial: true}
	if err := errors.Join(writeDoc(t, missionDoc, then), writeDoc(t, snapshotDoc, info)); err != nil {
		return nil, err
	}
	batch := p.store.NewBatch()
	defer batch.Discard()
	tree, err := t.Write(batch)
	if err != nil {
		return nil, err
	}
	if top.Record, err = p.store.WriteRecord(batch, &gitstore.Record{
		Tree: tree, Parents: parents(below), Author: tip.Author, At: tip.At,
		Kind: gitstore.KindSnapshot, Mission: mission, Message: top.Message,
	}); err != nil {
		return nil, err
	}
	if top.ID, err = batch.Commit(gitstore.FormatSnapshot(&top)); err != nil {
		return nil, err
	}
	if err := batch.Flush(ctx); err != nil {
		return nil, err
	}
	return &top, p.store.UpdateRef(ctx, gitstore.AgentRef(mission), tip.ID, top.ID, gitstore.Durable)
}

// recordedBefore is the newest record of a mission that can be read, of the snapshots
// before one, with the mission as it has it.
func (p *project) recordedBefore(mission string, tip *gitstore.Snapshot) (*gitstore.Record, stored, error) {
	for s, err := range p.store.Snapshots(tip.Parent(), gitstore.HistoryOptions{}) {
		if err != nil || s.Mission != mission {
			break
		}
		if then, err := p.storedAt(s.Record); err == nil {
			r, err := p.store.Record(s.Record)
			return r, then, err
		}
	}
	return nil, stored{}, fmt.Errorf("no snapshot before %s has a record that can be read", tip.ID.Short())
}
