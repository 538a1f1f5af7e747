package missions

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/sessions"
)

// loaded is a mission as it is on disk: its newest snapshot and record, and
// what is known beyond them.
type loaded struct {
	stored
	project *project
	bind    binding
	live    live
	life    Lifecycle
	since   time.Time
	tip     *gitstore.Snapshot
	record  gitstore.ID // newest record, the tip's or a meta record on top
	// inherited marks the first record after a fork or restore gave the mission
	// a session made of another one.
	inherited *gitstore.Inherited
	removed   bool // it is in the trash: no name leads to it
}

// load reads a mission. It takes no lock: what it reads was published at once.
func (l *Local) load(p *project, id string) (*loaded, error) {
	tip, err := p.store.Ref(gitstore.AgentRef(id))
	if errors.Is(err, gitstore.ErrRefNotFound) {
		m, err := l.loadProvisional(p, id)
		if err == nil {
			return m, nil
		}
		if removed, unread := l.loadRemoved(p, id); unread == nil {
			err = inTrash(removed)
		}
		return nil, err
	}
	if err != nil {
		return nil, refError(id, err)
	}
	snap, err := p.store.Snapshot(tip)
	if err != nil {
		return nil, Errorf(KindDamaged, "umbra doctor", "mission %s: %w", id, err)
	}
	m := &loaded{project: p, tip: snap, record: p.newestRecord(id, snap)}
	if err := m.readRecord(l.home.Machine); err != nil {
		return nil, err
	}
	defer func() { m.live.Provisional = "" }() // its ref is there: it was published
	if m.ID != id {                            // a fork whose first record was not written
		return nil, Errorf(KindDamaged, "umbra doctor", "mission %s: its newest record is of mission %s", id, m.ID)
	}
	return m, m.overlay(l)
}

// loadRemoved reads a mission that is in the trash. It can be read and forked, as
// a pin on it leads there; whatever changes a mission does not find it.
func (l *Local) loadRemoved(p *project, id string) (*loaded, error) {
	tip, err := p.store.Ref(gitstore.TrashAgentRef(id))
	if err != nil {
		return nil, refError(id, err)
	}
	m := &loaded{project: p, removed: true}
	if m.tip, err = p.store.Snapshot(tip); err != nil {
		return nil, refError(id, err)
	}
	m.record = m.tip.Record
	if newest, err := p.store.Ref(gitstore.TrashRecordRef(id)); err == nil {
		m.record = newest
	}
	if err := m.readRecord(l.home.Machine); err != nil {
		return nil, err
	}
	return m, m.overlay(l)
}

// loadAny reads a mission, be it in the trash.
func (l *Local) loadAny(p *project, id string) (*loaded, error) {
	m, err := l.load(p, id)
	if err != nil {
		return l.loadRemoved(p, id)
	}
	return m, nil
}

// newestRecord is the record of a mission's newest snapshot, or the newest of
// the meta records on top of it. The ref that says so is derived: where it is
// missing, broken or behind, because a process was killed between the two refs,
// the snapshot's trailer counts, and the next writer repairs the ref.
func (p *project) newestRecord(mission string, tip *gitstore.Snapshot) gitstore.ID {
	newest, err := p.store.Ref(gitstore.RecordRef(mission))
	if err != nil {
		return tip.Record
	}
	for at := newest; at != tip.Record; {
		r, err := p.store.Record(at)
		if err != nil || r.Kind != gitstore.KindMeta || len(r.Parents) == 0 {
			return tip.Record
		}
		at = r.Parents[0]
	}
	return newest
}

// loadProvisional reads a mission that was not published yet.
func (l *Local) loadProvisional(p *project, id string) (*loaded, error) {
	missing := refError(id, gitstore.ErrRefNotFound)
	raw, err := l.journal.Live(id)
	if err != nil {
		return nil, missing
	}
	m := &loaded{project: p}
	if json.Unmarshal(raw, &m.live) != nil || m.live.Provisional == "" {
		return nil, missing
	}
	tip, err := gitstore.ParseID(m.live.Provisional)
	if err != nil {
		return nil, missing
	}
	if m.tip, err = p.store.Snapshot(tip); err != nil {
		return nil, missing // it is of another project
	}
	m.record = m.tip.Record
	if err := m.readRecord(l.home.Machine); err != nil {
		return nil, err
	}
	if m.live.Asked != nil {
		m.LastPrompt = m.live.Asked
	}
	return m, m.overlay(l)
}

// inTrash is the error of whatever needs a mission that was removed.
func inTrash(m *loaded) error {
	return Errorf(KindNotFound, "umbra trash restore "+m.Name, "mission %s is in the trash", m.Name)
}

func refError(id string, err error) error {
	if errors.Is(err, gitstore.ErrRefNotFound) {
		return Errorf(KindNotFound, "umbra mission ls --all", "no mission %s", id)
	}
	return Errorf(KindDamaged, "umbra doctor", "mission %s: %w", id, err)
}

func (m *loaded) readRecord(machine string) error {
	damaged := func(err error) error {
		return Errorf(KindDamaged, "umbra doctor", "record %s: %w", m.record.Short(), err)
	}
	p, err := m.project.store.RecordFile(m.record, missionDoc)
	if err != nil {
		return damaged(err)
	}
	if err := parseDoc(missionDoc, p, &m.stored); err != nil {
		return err
	}
	p, err = m.project.store.RecordFile(m.record, bindingDoc(machine))
	if errors.Is(err, gitstore.ErrNoEntry) {
		return nil // made on another machine: read-only here
	}
	if err != nil {
		return damaged(err)
	}
	return parseDoc(bindingDoc(machine), p, &m.bind)
}

// overlay puts what is known beyond the newest record on top of it. An error that
// was left behind, as with /clear, is none of the mission's any more.
func (m *loaded) overlay(l *Local) error {
	if err := m.overlayLive(l); err != nil {
		return err
	}
	switch m.life.(type) {
	case Failed, Closed:
	default:
		m.LastError = ""
	}
	return nil
}

func (m *loaded) overlayLive(l *Local) error {
	life, err := unmarshalLifecycle(m.stored.Lifecycle)
	if err != nil {
		return Errorf(KindDamaged, "umbra doctor", "mission %s: %w", m.Name, err)
	}
	m.life, m.since = life, m.stored.Since
	raw, err := l.journal.Live(m.ID)
	if err == nil && json.Unmarshal(raw, &m.live) != nil {
		m.live = live{} // knowledge of a process that is gone at worst
	}
	if m.live.Told != nil {
		m.Talk = m.live.Told
	}
	if m.live.Base == m.record.String() && m.live.Lifecycle != nil {
		if newer, err := unmarshalLifecycle(m.live.Lifecycle); err == nil {
			m.life, m.since = newer, m.live.Since
		}
	}
	return nil
}

// saveLive writes what is known beyond the record. Failing to is not an error
// of the operation: it is told in the log.
func (l *Local) saveLive(m *loaded) (saved bool) {
	raw, err := marshalLifecycle(m.life)
	if err == nil {
		m.live.Base, m.live.Lifecycle, m.live.Since = m.record.String(), raw, m.since
		var p []byte
		if p, err = json.Marshal(m.live); err == nil {
			err = l.journal.PutLive(m.ID, p)
		}
	}
	if err != nil {
		l.log.Warn("note the mission's state", "mission", m.ID, "error", err)
	}
	if l.watching != nil {
		l.watching.Changed(m.ID)
	}
	return err == nil
}

// enter moves the mission to another lifecycle.
func (m *loaded) enter(next Lifecycle, now time.Time) {
	if State(next) != State(m.life) || next.LastTurn() != m.life.LastTurn() {
		m.since = now
	}
	m.life = next
}

// adapterEnv is what the mission's agent was started with, as far as its
// adapter needs it.
func (m *loaded) adapterEnv() sessions.Environ {
	return sessions.Environ{Home: m.bind.Vars["HOME"], Vars: m.bind.Vars}
}

// bound reports whether the mission can be acted on from this machine.
func (m *loaded) bound() error {
	if m.bind.Machine == "" {
		return Errorf(KindConflict, "umbra fork "+m.Name, "mission %s belongs to another machine: it can be read and forked here, not changed", m.Name)
	}
	return nil
}

// view is the mission as the user sees it.
func (l *Local) view(m *loaded) Mission {
	v := Mission{
		ID: m.ID, Name: m.Name, Agent: m.program(), State: State(m.life), StateSince: m.since,
		Managed: ManagedNone, Command: m.Command, Workspace: m.bind.Workspace, Cwd: m.cwd(),
		Project: m.project.Name, ProjectID: m.project.ID,
		Ref: string(gitstore.AgentRef(m.ID)), Head: m.tip.ID.String(), HeadAt: m.headAddress(),
		SessionID: m.stored.Session, Session: m.bind.Session, Parent: m.Parent,
		Config: m.Config, Fixed: m.ConfigFixed, Talk: m.talked(),
		CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt, Turn: m.life.LastTurn(),
		LastPrompt: m.LastPrompt, LastTool: m.LastTool, LastError: m.LastError,
		Diverged: m.Diverged, Git: GitState{Head: m.tip.GitHead, Branch: m.tip.GitBranch},
		Pending: []Permission{}, ShadowRepo: m.project.shadow(), EnvNames: m.EnvNames,
		Made: m.bind.Made, Branch: m.bind.Branch,
	}
	if m.live.Config != "" {
		v.Config = m.live.Config
	}
	if m.live.LastTool != nil {
		v.LastTool = m.live.LastTool
	}
	v.Action = m.action()
	if m.live.NotRestored != "" {
		v.Problems = append(v.Problems, m.live.NotRestored)
	}
	if m.live.Problem != "" {
		v.Problems = append(v.Problems, m.live.Problem)
	}
	if m.live.Refused != nil {
		v.Problems = append(v.Problems, m.live.Refused.String())
	}
	for _, problem := range []string{m.worksAway(), l.unheard(m)} {
		if problem != "" {
			v.Problems = append(v.Problems, problem)
		}
	}
	if _, err := l.config.Capture.NarrowedBy(m.bind.Workspace); m.bind.Workspace != "" && err != nil {
		v.Problems = append(v.Problems, err.Error()+"; it is not followed")
	}
	v.Client = m.live.Client
	if note := untriedClient(l.adapter(m.Agent), m.live.Client); note != "" {
		v.Notes = append(v.Notes, note)
	}
	if err := m.bound(); err != nil && !m.removed {
		v.Notes = append(v.Notes, err.Error())
	}
	if m.Diverged {
		v.Notes = append(v.Notes, "a second agent speaks in a conversation of it, whose turns are not counted")
	}
	v.life(m)
	return v
}

// action is what was asked for and not done yet, "" for nothing.
func (m *loaded) action() string {
	switch {
	case m.live.Pending != nil:
		return m.live.Pending.String()
	case m.live.Handover.open():
		return m.live.Handover.Asked.String()
	}
	return ""
}

// headAddress is the address of the newest snapshot, without a walk: "" where its
// record does not say its place.
func (m *loaded) headAddress() string {
	if m.Step == nil {
		return ""
	}
	return m.Step.of(m.tip).address(m.Name)
}

// life projects the lifecycle and the processes onto the view.
func (v *Mission) life(m *loaded) {
	process, alive := m.live.process()
	switch l := m.life.(type) {
	case Running:
		v.Pending = append(v.Pending, l.Pending...)
		if l.Tool != nil {
			v.LastTool = l.Tool
		}
	case Failed:
		v.LastError = l.Message
	case Closed:
		v.ClosedHow = l.How
		if l.How == HowExit {
			code := l.ExitCode
			v.ExitCode = &code
		}
	}
	if alive {
		v.PID = process.PID
	}
	switch {
	case m.live.kept():
		v.Managed = ManagedKeeper
	case m.live.Hooked && HasAgent(m.life):
		v.Managed = ManagedHooks
	}
	v.CanFork = true
	if m.bind.Machine != "" {
		if _, err := os.Stat(m.bind.Workspace); err != nil {
			v.ForkReason = "its workspace is missing: fork from a past moment, " + m.Name + "~0"
		}
	}
	if InTurn(m.life) {
		v.ForkReason = fmt.Sprintf("in turn %d: a fork waits for its end", m.life.LastTurn())
	}
}

// used is when the mission was last active.
func (m *loaded) used() time.Time {
	if m.since.After(m.tip.At) {
		return m.since
	}
	return m.tip.At
}

// cwd is where the mission's agent runs.
func (m *loaded) cwd() string {
	if m.bind.Workspace == "" || m.Subdir == "" {
		return m.bind.Workspace
	}
	return strings.TrimSuffix(m.bind.Workspace, "/") + "/" + m.Subdir
}
