package snapshots

import (
	"context"
	"errors"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// publishProvisional publishes the first snapshot of a mission, which waited until
// something changed. Another mission may have taken the name meanwhile.
func (tk *Taker) publishProvisional(ctx context.Context, m *projects.Mission) error {
	naming, err := tk.addresses.LockNames(ctx, m.Project)
	if err != nil {
		return err
	}
	defer naming.Release()
	first := m.Tip
	if err := proveWholeSnapshot(m.Project, first); err != nil {
		return missions.Errorf(missions.KindDamaged, "umbra doctor", "the first snapshot of %s is not published: %w", m.Name, err)
	}
	m.Tip, m.Record = nil, gitstore.ID{}
	if m.Unnamed && m.Live.PendingName != "" {
		m.Name, m.Unnamed = m.Live.PendingName, false
	}
	if m.Name, err = tk.addresses.TakenNamesOf(m.Project).FreeName(m.Name); err != nil {
		return err
	}
	if err := tk.publishSnapshot(ctx, m, first); err != nil {
		return err
	}
	m.Live.ProvisionalSnapshot, m.Live.ProvisionalPrompt, m.Live.PendingName = "", nil, ""
	return nil
}

// publishSnapshot moves the mission's ref, which is the commit point, and then the ref
// of its records. With the first snapshot the mission's name begins to lead to it.
func (tk *Taker) publishSnapshot(ctx context.Context, m *projects.Mission, snap *gitstore.Snapshot) error {
	var old gitstore.ID
	if m.Tip != nil {
		old = m.Tip.ID
	}
	if err := m.Project.Store.UpdateRef(ctx, gitstore.AgentRef(m.ID), old, snap.ID, gitstore.Durable); err != nil {
		return missions.Errorf(missions.KindFailed, "", "snapshot of %s not taken: %w", m.Name, err)
	}
	failpoint.Hit("snapshot.published")
	first := m.Tip == nil
	before := m.Record
	m.Tip, m.Record = snap, snap.Record
	if first {
		before = gitstore.ID{}
		if err := tk.PublishName(ctx, m); err != nil {
			// The snapshot stands; doctor makes the name lead to it.
			tk.Logger.Warn("make the name lead to its mission", "mission", m.ID, "name", m.Name, "error", err)
		}
	}
	failpoint.Hit("snapshot.named")
	if err := m.Project.Store.UpdateRef(ctx, gitstore.RecordRef(m.ID), before, snap.Record, gitstore.Derived); err != nil {
		// The snapshot stands, and the ref follows from it.
		if _, repair := m.Project.Store.RepairRecords(ctx); repair != nil {
			tk.Logger.Warn("move the records ref", "mission", m.ID, "error", errors.Join(err, repair))
		}
	}
	return nil
}

// PublishName makes refs/heads/<name> lead to the mission.
func (tk *Taker) PublishName(ctx context.Context, m *projects.Mission) error {
	return m.Project.Store.SetSymbolic(ctx, gitstore.HeadRef(m.Name), "", gitstore.AgentRef(m.ID), gitstore.Durable)
}
