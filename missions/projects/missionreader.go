package projects

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
)

// MissionReader reads missions of a project that is open, and writes their live state.
// It takes no lock.
type MissionReader struct{ *Base }

// LoadMission reads a mission. It takes no lock: what it reads was published at once.
func (r *MissionReader) LoadMission(p *Project, id string) (*Mission, error) {
	tip, err := p.Store.Ref(gitstore.AgentRef(id))
	if errors.Is(err, gitstore.ErrRefNotFound) {
		m, err := r.loadProvisionalMission(p, id)
		if err == nil {
			return m, nil
		}
		if removed, unread := r.LoadRemovedMission(p, id); unread == nil {
			err = InTrashError(removed)
		}
		return nil, err
	}
	if err != nil {
		return nil, missionRefError(id, err)
	}
	snap, err := p.Store.Snapshot(tip)
	if err != nil {
		return nil, missions.Errorf(missions.KindDamaged, "umbra doctor", "mission %s: %w", id, err)
	}
	m := &Mission{Project: p, Tip: snap, Record: p.newestRecord(id, snap)}
	if err := m.ReadRecord(r.Home.Machine); err != nil {
		return nil, err
	}
	defer func() { m.Live.ProvisionalSnapshot = "" }() // its ref is there: it was published
	if m.ID != id {
		if now, err := p.Store.Ref(gitstore.AgentRef(id)); err == nil && now != tip {
			return r.LoadMission(p, id) // the first snapshot of a fork was published between the two refs
		}
		// a fork whose first record was not written
		return nil, missions.Errorf(missions.KindDamaged, "umbra doctor", "mission %s: its newest record is of mission %s", id, m.ID)
	}
	return m, m.overlayPresent(r.Journal)
}

// LoadRemovedMission reads a mission that is in the trash. It can be read and forked, as
// a pin on it leads there; whatever changes a mission does not find it.
func (r *MissionReader) LoadRemovedMission(p *Project, id string) (*Mission, error) {
	tip, err := p.Store.Ref(gitstore.TrashAgentRef(id))
	if err != nil {
		return nil, missionRefError(id, err)
	}
	m := &Mission{Project: p, InTrash: true}
	if m.Tip, err = p.Store.Snapshot(tip); err != nil {
		return nil, missionRefError(id, err)
	}
	m.Record = m.Tip.Record
	if newest, err := p.Store.Ref(gitstore.TrashRecordRef(id)); err == nil {
		m.Record = newest
	}
	if err := m.ReadRecord(r.Home.Machine); err != nil {
		return nil, err
	}
	return m, m.overlayPresent(r.Journal)
}

// LoadMissionOrRemoved reads a mission, be it in the trash.
func (r *MissionReader) LoadMissionOrRemoved(p *Project, id string) (*Mission, error) {
	m, err := r.LoadMission(p, id)
	if err != nil {
		return r.LoadRemovedMission(p, id)
	}
	return m, nil
}

// LoadPublishedMission loads the mission with an id, nil if the project has none.
func (r *MissionReader) LoadPublishedMission(p *Project, id string) (*Mission, error) {
	_, err := p.Store.Ref(gitstore.AgentRef(id))
	if errors.Is(err, gitstore.ErrRefNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, missionRefError(id, err)
	}
	return r.LoadMission(p, id)
}

// loadProvisionalMission reads a mission that was not published yet.
func (r *MissionReader) loadProvisionalMission(p *Project, id string) (*Mission, error) {
	missing := missionRefError(id, gitstore.ErrRefNotFound)
	raw, err := r.Journal.Live(id)
	if err != nil {
		return nil, missing
	}
	m := &Mission{Project: p}
	if json.Unmarshal(raw, &m.Live) != nil || m.Live.ProvisionalSnapshot == "" {
		return nil, missing
	}
	tip, err := gitstore.ParseID(m.Live.ProvisionalSnapshot)
	if err != nil {
		return nil, missing
	}
	if m.Tip, err = p.Store.Snapshot(tip); err != nil {
		return nil, missing // it is of another project
	}
	m.Record = m.Tip.Record
	if err := m.ReadRecord(r.Home.Machine); err != nil {
		return nil, err
	}
	if m.Live.ProvisionalPrompt != nil {
		m.LastPrompt = m.Live.ProvisionalPrompt
	}
	return m, m.overlayPresent(r.Journal)
}

// newestRecord is the record of a mission's newest snapshot, or the newest of
// the meta records on top of it. The ref that says so is derived: where it is
// missing, broken or behind, because a process was killed between the two refs,
// the snapshot's trailer counts, and the next writer repairs the ref.
func (p *Project) newestRecord(mission string, tip *gitstore.Snapshot) gitstore.ID {
	newest, err := p.Store.Ref(gitstore.RecordRef(mission))
	if err != nil {
		return tip.Record
	}
	for at := newest; at != tip.Record; {
		r, err := p.Store.Record(at)
		if err != nil || r.Kind != gitstore.KindMeta || len(r.Parents) == 0 {
			return tip.Record
		}
		at = r.Parents[0]
	}
	return newest
}

// InTrashError is the error of whatever needs a mission that was removed.
func InTrashError(m *Mission) error {
	return missions.Errorf(missions.KindNotFound, "umbra trash restore "+m.Name, "mission %s is in the trash", m.Name)
}

func missionRefError(id string, err error) error {
	if errors.Is(err, gitstore.ErrRefNotFound) {
		return missions.Errorf(missions.KindNotFound, "umbra mission ls --all", "no mission %s", id)
	}
	return missions.Errorf(missions.KindDamaged, "umbra doctor", "mission %s: %w", id, err)
}

// SaveLiveState writes what is known beyond the record. Failing to is not an error
// of the operation: it is told in the log.
func (r *MissionReader) SaveLiveState(m *Mission) (saved bool) {
	raw, err := missions.MarshalLifecycle(m.Lifecycle)
	if err == nil {
		m.Live.BaseRecord, m.Live.LifecycleJSON, m.Live.StateSince = m.Record.String(), raw, m.StateSince
		var p []byte
		if p, err = json.Marshal(m.Live); err == nil {
			put := r.Journal.PutLive
			if m.hidesPastLive {
				put = r.Journal.ReplaceLive
			}
			err = put(m.ID, p)
		}
	}
	m.hidesPastLive = m.hidesPastLive && err != nil
	if err != nil {
		r.Logger.Warn("note the mission's state", "mission", m.ID, "error", err)
	}
	if r.Watching != nil {
		r.Watching.Changed(m.ID)
	}
	return err == nil
}

// MayHaveAgent reports whether a mission's state in the journal has an agent.
func (r *MissionReader) MayHaveAgent(id string) bool {
	raw, err := r.Journal.Live(id)
	var state Live
	if err != nil || json.Unmarshal(raw, &state) != nil || state.LifecycleJSON == nil {
		return true // the record says it
	}
	life, err := missions.UnmarshalLifecycle(state.LifecycleJSON)
	return err != nil || missions.HasAgent(life)
}

// ProjectMissions loads a project's missions. A damaged one hides no other.
func (r *MissionReader) ProjectMissions(p *Project) ([]*Mission, []missions.Problem) {
	found, problems, err := r.ListMissions(p)
	if err != nil {
		return nil, []missions.Problem{{Invariant: "I1", Project: p.Name, Message: err.Error(), Fix: "umbra doctor"}}
	}
	return found, problems
}

// ListMissions is ProjectMissions where it matters whether there is none or they could
// not be listed.
func (r *MissionReader) ListMissions(p *Project) (found []*Mission, problems []missions.Problem, err error) {
	list, err := p.Store.Refs(gitstore.RefAgent)
	if err != nil {
		return nil, nil, err
	}
	for _, bad := range list.Bad {
		problems = append(problems, missions.Problem{Invariant: "I1", Project: p.Name, Message: bad.Error(), Fix: "umbra doctor --fix"})
	}
	for _, ref := range list.Refs {
		m, err := r.LoadMission(p, ref.Name.Mission())
		if err != nil {
			problems = append(problems, missions.Problem{Invariant: "I3", Project: p.Name, Mission: ref.Name.Mission(), Message: err.Error(), Fix: "umbra doctor --fix"})
			continue
		}
		found = append(found, m)
	}
	slices.SortStableFunc(found, func(a, b *Mission) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return found, problems, nil
}

// RemovedMissionsIn are the missions of a project that are in the trash, and what could
// not be read of them.
func (r *MissionReader) RemovedMissionsIn(p *Project) ([]*Mission, []missions.Problem) {
	problem := func(mission string, err error) missions.Problem {
		return missions.Problem{Invariant: "I3", Project: p.Name, Mission: mission, Message: "in the trash: " + err.Error(), Fix: "umbra doctor"}
	}
	refs, err := p.Store.Refs(gitstore.RefTrashAgent)
	if err != nil {
		return nil, []missions.Problem{problem("", err)}
	}
	var list []*Mission
	var problems []missions.Problem
	for _, bad := range refs.Bad {
		problems = append(problems, problem("", &bad))
	}
	for _, ref := range refs.Refs {
		id := ref.Name.Mission()
		if _, err := p.Store.Ref(gitstore.AgentRef(id)); err == nil {
			continue // a removal, or the way back, was cut off: it is there
		}
		m, err := r.LoadRemovedMission(p, id)
		if err != nil {
			problems = append(problems, problem(id, err))
			continue
		}
		list = append(list, m)
	}
	return list, problems
}

// maxForkAncestors bounds how far up the guard looks for whose copy a fork is.
const maxForkAncestors = 64

// ForkAncestors are the missions that a fork comes from, the nearest first, those in
// the trash too: their workspaces may be there still.
func (r *MissionReader) ForkAncestors(m *Mission) (list []*Mission) {
	for at := m; at.Parent != nil && len(list) < maxForkAncestors; {
		up, err := r.LoadMissionOrRemoved(m.Project, at.Parent.Mission)
		if err != nil {
			return list
		}
		list, at = append(list, up), up
	}
	return list
}
