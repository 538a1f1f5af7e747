package doctor

import (
	"context"
	"errors"
	"fmt"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/upkeep"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// newestSnapshot finds a mission's newest snapshot that can be read among all objects,
// whatever its ref says. For a fork without snapshots it is the fork point.
func newestSnapshot(ctx context.Context, p *projects.Project, mission string) (gitstore.ID, error) {
	list, err := upkeep.StoredSnapshots(ctx, p.Store)
	if err != nil {
		return gitstore.ID{}, err
	}
	head, err := p.Store.Ref(gitstore.RecordRef(mission))
	newest := upkeep.Newest(p.Store, list, head, mission, p.TakenAt)
	if newest == nil {
		return gitstore.ID{}, errors.Join(errors.New("none of its snapshots is left"), err)
	}
	return newest.ID, nil
}

// continueMissions moves each mission whose newest snapshot, or its record, is lost to the
// newest that is whole. Then it captures the workspace again, in a snapshot marked as
// partial. It is called after the lost objects were looked for everywhere.
func (x *Examination) continueMissions(ctx context.Context, p *projects.Project) {
	refs, err := p.Store.Refs(gitstore.RefAgent)
	if err != nil {
		return
	}
	for _, ref := range refs.Refs {
		mission := ref.Name.Mission()
		if _, err := x.Examiner.LoadMission(p, mission); !projects.IsObjectLost(err) {
			continue
		}
		said, err := x.Examiner.continueMission(ctx, p, mission, ref.ID)
		if err != nil {
			x.Examiner.Logger.Warn("go on from what is whole", "project", p.Name, "mission", mission, "error", err)
			continue
		}
		x.reportMended(p, mission, said)
	}
}

// continueMission does so for one mission, whose ref is ref.
func (e *Examiner) continueMission(ctx context.Context, p *projects.Project, mission string, ref gitstore.ID) (said string, err error) {
	said = fmt.Sprintf("what was recorded with its newest snapshot, %s, is lost, such as the conversation: its files are whole", ref.Short())
	tip, err := p.Store.Snapshot(ref)
	if err != nil {
		to, err := newestSnapshot(ctx, p, mission)
		if err != nil {
			return "", err
		}
		said = fmt.Sprintf("its newest snapshot, %s, is lost: it goes on from %s, the newest that is whole", ref.Short(), to.Short())
		if head, err := p.Store.Ref(gitstore.RecordRef(mission)); err == nil { // what was recorded with the lost one
			if err := p.Store.UpdateRef(ctx, gitstore.KeepRef(ref), gitstore.ID{}, head, gitstore.Durable); err != nil && !projects.IsObjectLost(err) && !errors.Is(err, gitstore.ErrRefMoved) {
				return "", err
			}
		}
		if err := p.Store.UpdateRef(ctx, gitstore.AgentRef(mission), ref, to, gitstore.Durable); err != nil {
			return "", err
		}
		if tip, err = p.Store.Snapshot(to); err != nil {
			return "", err
		}
	}
	if _, err := p.ReadStored(tip.Record); err != nil {
		if err := writeRecordAgain(ctx, p, mission, tip); err != nil {
			return "", err
		}
	}
	if _, err := p.Store.RepairRecords(ctx); err != nil {
		return "", err
	}
	m, err := e.LoadMission(p, mission)
	if err != nil {
		return "", err
	}
	err = e.WithWorkspaceLock(ctx, m, func(m *projects.Mission) error {
		_, err := e.rooms.Snapshots.TakeSnapshot(ctx, m, &snapshots.WantedSnapshot{
			TakeSnapshot: missions.TakeSnapshot{Trigger: missions.TriggerWatch, Lifecycle: m.Lifecycle, Message: "captured again: snapshots before were lost", Partial: true},
			Triggers:     missions.Triggers{missions.TriggerWatch},
		})
		return err
	})
	if err != nil {
		e.Logger.Warn("capture a workspace again", "mission", m.Name, "error", err)
		return said, nil
	}
	return said + "; what its workspace holds was captured again", nil
}

// writeRecordAgain puts a snapshot of the same files on top of one whose record is lost.
// Its own record repeats the newest one that is whole.
func writeRecordAgain(ctx context.Context, p *projects.Project, mission string, tip *gitstore.Snapshot) error {
	donor, then, err := lastRecordBefore(p, mission, tip)
	if err != nil {
		return err
	}
	below := tip.Record
	if _, err := p.Store.Record(below); err != nil {
		below = donor.ID
	}
	top := *tip
	top.Parents, top.Partial, top.Message = snapshots.ParentList(tip.ID), true, "what was recorded with the snapshot before is lost"
	then.TurnPosition = nil // not known any more
	t := records.NewTree(p.Store, donor.Tree)
	info := projects.SnapshotInfo{Format: projects.RecordFormat, At: tip.At, Triggers: tip.Triggers, Turn: tip.Turn, Partial: true}
	if err := errors.Join(projects.WriteDoc(t, projects.MissionDoc, then), projects.WriteDoc(t, projects.SnapshotDoc, info)); err != nil {
		return err
	}
	batch := p.Store.NewBatch()
	defer batch.Discard()
	tree, err := t.Write(batch)
	if err != nil {
		return err
	}
	if top.Record, err = p.Store.WriteRecord(batch, &gitstore.Record{
		Tree: tree, Parents: snapshots.ParentList(below), Author: tip.Author, At: tip.At,
		Kind: gitstore.KindSnapshot, Mission: mission, Message: top.Message,
	}); err != nil {
		return err
	}
	if top.ID, err = batch.Commit(gitstore.FormatSnapshot(&top)); err != nil {
		return err
	}
	if err := batch.Flush(ctx); err != nil {
		return err
	}
	return p.Store.UpdateRef(ctx, gitstore.AgentRef(mission), tip.ID, top.ID, gitstore.Durable)
}

// lastRecordBefore is the newest record that can be read before a snapshot of a mission,
// and the mission as stored in it.
func lastRecordBefore(p *projects.Project, mission string, tip *gitstore.Snapshot) (*gitstore.Record, projects.Stored, error) {
	for s, err := range p.Store.Snapshots(tip.Parent(), shadow.HistoryOptions{}) {
		if err != nil || s.Mission != mission {
			break
		}
		if then, err := p.ReadStored(s.Record); err == nil {
			r, err := p.Store.Record(s.Record)
			return r, then, err
		}
	}
	return nil, projects.Stored{}, fmt.Errorf("no snapshot before %s has a record that can be read", tip.ID.Short())
}
