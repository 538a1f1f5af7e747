package projects

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/records"
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
	InheritedSession *records.Inherited
	// SessionRecord marks the first record after an undo or redo has gone back to a session:
	// it is an earlier record, which holds that session.
	SessionRecord gitstore.ID
	InTrash       bool // it is in the trash: no name leads to it
	// Remote is where it was fetched from, "" for a mission of this home. Its id may be
	// that of one.
	Remote        string
	hidesPastLive bool // what Live said before is to be in no file any more
}

// ReadRecord reads what the record says, of now or of a moment that is past.
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

// overlayPresent puts what is so now on top of the newest record.
func (m *Mission) overlayPresent(j *journal.Journal) error {
	m.Binding.renumber()
	return m.overlayLiveState(j)
}

// overlayLiveState puts what is known beyond the newest record on top of it. An error that
// was left behind, as with /clear, is none of the mission's any more.
func (m *Mission) overlayLiveState(j *journal.Journal) error {
	if err := m.readLiveState(j); err != nil {
		return err
	}
	switch m.Lifecycle.(type) {
	case missions.Failed, missions.Closed:
	default:
		m.LastError = ""
	}
	return nil
}

func (m *Mission) readLiveState(j *journal.Journal) error {
	life, err := missions.UnmarshalLifecycle(m.Stored.LifecycleJSON)
	if err != nil {
		return missions.Errorf(missions.KindDamaged, "umbra doctor", "mission %s: %w", m.Name, err)
	}
	m.Lifecycle, m.StateSince = life, m.Stored.RecordedStateSince
	raw, err := j.Live(m.ID)
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

// EnterLifecycle moves the mission to another lifecycle.
func (m *Mission) EnterLifecycle(next missions.Lifecycle, now time.Time) {
	if missions.StateOf(next) != missions.StateOf(m.Lifecycle) || next.LastTurn() != m.Lifecycle.LastTurn() {
		m.StateSince = now
	}
	m.Lifecycle = next
}

// NoteUnrecordedPrompt notes a prompt of a mission that has no record of it yet, or no name.
func (m *Mission) NoteUnrecordedPrompt() {
	if m.Live.ProvisionalSnapshot != "" {
		m.Live.ProvisionalPrompt = m.LastPrompt
	}
	if m.Unnamed && m.Live.PendingName == "" {
		m.Live.PendingName = NameFromPrompt(m.LastPrompt.Text)
	}
}

// StoreLiveConfig makes the version that was noted beside the record part of it.
func (m *Mission) StoreLiveConfig() {
	if m.Live.ConfigCommit != "" {
		m.Stored.Config, m.Live.ConfigCommit = m.Live.ConfigCommit, ""
	}
}

// AdapterEnv is what the mission's agent was started with, as far as its
// adapter needs it.
func (m *Mission) AdapterEnv() sessions.Environ {
	return sessions.Environ{Home: m.Binding.AgentVars["HOME"], Vars: m.Binding.AgentVars}
}

// CheckMachine reports whether the mission can be acted on from this machine.
func (m *Mission) CheckMachine() error {
	if err := m.CheckOwn(); err != nil {
		return err
	}
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
