package projects

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/sessions"
)

// Mission is a mission as it is on disk: its newest snapshot and record, and
// what is known beyond them.
type Mission struct {
	Stored
	Project    *Project
	Binding    Binding
	Live       Live
	Lifecycle  missions.Lifecycle
	StateSince time.Time
	Tip        *gitstore.Snapshot
	Record     gitstore.ID // newest record, the tip's or a meta record on top
	// InheritedSession marks the first record after a fork or restore gave the mission
	// a session made of another one.
	InheritedSession *gitstore.Inherited
	InTrash          bool // it is in the trash: no name leads to it
}

// LoadMission reads a mission. It takes no lock: what it reads was published at once.
func (d *Desk) LoadMission(p *Project, id string) (*Mission, error) {
	tip, err := p.Store.Ref(gitstore.AgentRef(id))
	if errors.Is(err, gitstore.ErrRefNotFound) {
		m, err := d.loadProvisionalMission(p, id)
		if err == nil {
			return m, nil
		}
		if removed, unread := d.LoadRemovedMission(p, id); unread == nil {
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
	if err := m.ReadRecord(d.Home.Machine); err != nil {
		return nil, err
	}
	defer func() { m.Live.ProvisionalSnapshot = "" }() // its ref is there: it was published
	if m.ID != id {                                    // a fork whose first record was not written
		return nil, missions.Errorf(missions.KindDamaged, "umbra doctor", "mission %s: its newest record is of mission %s", id, m.ID)
	}
	return m, m.overlayLiveState(d)
}

// LoadRemovedMission reads a mission that is in the trash. It can be read and forked, as
// a pin on it leads there; whatever changes a mission does not find it.
func (d *Desk) LoadRemovedMission(p *Project, id string) (*Mission, error) {
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
	if err := m.ReadRecord(d.Home.Machine); err != nil {
		return nil, err
	}
	return m, m.overlayLiveState(d)
}

// LoadMissionOrRemoved reads a mission, be it in the trash.
func (d *Desk) LoadMissionOrRemoved(p *Project, id string) (*Mission, error) {
	m, err := d.LoadMission(p, id)
	if err != nil {
		return d.LoadRemovedMission(p, id)
	}
	return m, nil
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

// loadProvisionalMission reads a mission that was not published yet.
func (d *Desk) loadProvisionalMission(p *Project, id string) (*Mission, error) {
	missing := missionRefError(id, gitstore.ErrRefNotFound)
	raw, err := d.Journal.Live(id)
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
	if err := m.ReadRecord(d.Home.Machine); err != nil {
		return nil, err
	}
	if m.Live.ProvisionalPrompt != nil {
		m.LastPrompt = m.Live.ProvisionalPrompt
	}
	return m, m.overlayLiveState(d)
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

func (m *Mission) ReadRecord(machine string) error {
	damaged := func(err error) error {
		return missions.Errorf(missions.KindDamaged, "umbra doctor", "record %s: %w", m.Record.Short(), err)
	}
	p, err := m.Project.Store.RecordFile(m.Record, MissionDoc)
	if err != nil {
		return damaged(err)
	}
	if err := ParseDoc(MissionDoc, p, &m.Stored); err != nil {
		return err
	}
	p, err = m.Project.Store.RecordFile(m.Record, BindingDoc(machine))
	if errors.Is(err, gitstore.ErrNoEntry) {
		return nil // made on another machine: read-only here
	}
	if err != nil {
		return damaged(err)
	}
	return ParseDoc(BindingDoc(machine), p, &m.Binding)
}

// overlayLiveState puts what is known beyond the newest record on top of it. An error that
// was left behind, as with /clear, is none of the mission's any more.
func (m *Mission) overlayLiveState(l *Desk) error {
	if err := m.readLiveState(l); err != nil {
		return err
	}
	switch m.Lifecycle.(type) {
	case missions.Failed, missions.Closed:
	default:
		m.LastError = ""
	}
	return nil
}

func (m *Mission) readLiveState(l *Desk) error {
	life, err := missions.UnmarshalLifecycle(m.Stored.LifecycleJSON)
	if err != nil {
		return missions.Errorf(missions.KindDamaged, "umbra doctor", "mission %s: %w", m.Name, err)
	}
	m.Lifecycle, m.StateSince = life, m.Stored.RecordedStateSince
	raw, err := l.Journal.Live(m.ID)
	if err == nil && json.Unmarshal(raw, &m.Live) != nil {
		m.Live = Live{} // knowledge of a process that is gone at worst
	}
	if m.Live.HookTally != nil {
		m.Tally = m.Live.HookTally
	}
	if m.Live.BaseRecord == m.Record.String() && m.Live.LifecycleJSON != nil {
		if newer, err := missions.UnmarshalLifecycle(m.Live.LifecycleJSON); err == nil {
			m.Lifecycle, m.StateSince = newer, m.Live.StateSince
		}
	}
	return nil
}

// SaveLiveState writes what is known beyond the record. Failing to is not an error
// of the operation: it is told in the log.
func (d *Desk) SaveLiveState(m *Mission) (saved bool) {
	raw, err := missions.MarshalLifecycle(m.Lifecycle)
	if err == nil {
		m.Live.BaseRecord, m.Live.LifecycleJSON, m.Live.StateSince = m.Record.String(), raw, m.StateSince
		var p []byte
		if p, err = json.Marshal(m.Live); err == nil {
			err = d.Journal.PutLive(m.ID, p)
		}
	}
	if err != nil {
		d.Logger.Warn("note the mission's state", "mission", m.ID, "error", err)
	}
	if d.Watching != nil {
		d.Watching.Changed(m.ID)
	}
	return err == nil
}

// EnterLifecycle moves the mission to another lifecycle.
func (m *Mission) EnterLifecycle(next missions.Lifecycle, now time.Time) {
	if missions.StateOf(next) != missions.StateOf(m.Lifecycle) || next.LastTurn() != m.Lifecycle.LastTurn() {
		m.StateSince = now
	}
	m.Lifecycle = next
}

// AdapterEnv is what the mission's agent was started with, as far as its
// adapter needs it.
func (m *Mission) AdapterEnv() sessions.Environ {
	return sessions.Environ{Home: m.Binding.AgentVars["HOME"], Vars: m.Binding.AgentVars}
}

// CheckMachine reports whether the mission can be acted on from this machine.
func (m *Mission) CheckMachine() error {
	if m.Binding.Machine == "" {
		return missions.Errorf(missions.KindConflict, "umbra fork "+m.Name, "mission %s belongs to another machine: it can be read and forked here, not changed", m.Name)
	}
	return nil
}

// LastUsed is when the mission was last active.
func (m *Mission) LastUsed() time.Time {
	if m.StateSince.After(m.Tip.At) {
		return m.StateSince
	}
	return m.Tip.At
}

// Cwd is where the mission's agent runs.
func (m *Mission) Cwd() string {
	if m.Binding.Workspace == "" || m.Subdir == "" {
		return m.Binding.Workspace
	}
	return strings.TrimSuffix(m.Binding.Workspace, "/") + "/" + m.Subdir
}
