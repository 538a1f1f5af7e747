package snapshots

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/diff"
	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// EntryFacts are what an Entry takes from a snapshot and its parent alone. They never
// change, so the index keeps them.
type EntryFacts struct {
	Entry    missions.Entry `json:"entry"`
	HasLines bool           `json:"lined"`

	RecordLost bool `json:"-"` // what its record says is lost, for now or for good
}

// EntryReader reads what is said of snapshots. It keeps in the index what never changes.
type EntryReader struct{ *projects.Desk }

// LogEntry describes a snapshot for the log. Its address and names are those of the
// mission that was asked. Lines are not counted if lines is nil.
func (er *EntryReader) LogEntry(ctx context.Context, m *projects.Mission, s projects.NumberedSnapshot, lines *diff.Differ) (missions.Entry, error) {
	f, err := er.FindFacts(ctx, m.Project, s.Snapshot, lines)
	if err != nil {
		return missions.Entry{}, err
	}
	e := f.Entry
	e.Address, e.MissionName, e.Pins = s.Address(m.Name), m.Name, []string{}
	e.Label = missions.LabelOf(e).String()
	e.NotLaunched = e.State == missions.StateInitializing && er.isNotLaunched(m, e.Mission)
	return e, nil
}

// isNotLaunched reports whether nobody has launched the agent of a snapshot's mission, nor is
// about to. That is the mission that was asked, or one that it was forked from.
func (er *EntryReader) isNotLaunched(m *projects.Mission, id string) bool {
	if id != m.ID {
		var err error
		if m, err = er.LoadMissionOrRemoved(m.Project, id); err != nil {
			return false
		}
	}
	return missions.StateOf(m.Lifecycle) == missions.StateInitializing && !m.Live.HasKeeper()
}

// FindFacts takes the facts of a snapshot from the index, or reads them and puts them
// there.
func (er *EntryReader) FindFacts(ctx context.Context, p *projects.Project, s *gitstore.Snapshot, lines *diff.Differ) (EntryFacts, error) {
	if f, ok := er.IndexedFacts(s.ID, lines != nil); ok && s.Lost.IsZero() {
		return f, nil
	}
	f, err := ReadFacts(ctx, p, s, lines)
	if err == nil && !f.RecordLost && s.Lost.IsZero() && er.Index != nil {
		if raw, err := json.Marshal(f); err == nil {
			er.Index.Put(factsKey(s.ID), raw)
		}
	}
	return f, err
}

func factsKey(id gitstore.ID) string { return "snapshot/" + id.String() }

// IndexedFacts are what the index knows of a snapshot.
func (er *EntryReader) IndexedFacts(id gitstore.ID, lines bool) (EntryFacts, bool) {
	if er.Index == nil {
		return EntryFacts{}, false
	}
	var f EntryFacts
	raw, ok := er.Index.Get(factsKey(id))
	ok = ok && json.Unmarshal(raw, &f) == nil && (f.HasLines || !lines)
	return f, ok
}

// FilesLost reports whether an error says that Umbra or git can't read what a snapshot
// holds.
func FilesLost(err error) bool {
	return projects.IsObjectLost(err) || missions.AsError(err).Kind == missions.KindDamaged
}

// ReadFacts reads a snapshot, its record and what it changed.
func ReadFacts(ctx context.Context, p *projects.Project, s *gitstore.Snapshot, lines *diff.Differ) (EntryFacts, error) {
	e := missions.Entry{
		ID: s.ID.String(), Mission: s.Mission, State: missions.StateName(s.State), At: s.At, Message: s.Message,
		Turn: s.Turn, SessionID: s.Session, Skipped: s.Skipped, RestoredFrom: idText(s.RestoredFrom),
		ForkedFrom: idText(s.ForkedFrom), PromotedFrom: idText(s.PromotedFrom), Partial: s.Partial, LostBefore: idText(s.Lost), PrunedAt: s.PrunedAt, Late: s.Late, Pins: []string{},
	}
	triggers := projects.TriggersOf(s)
	e.Triggers, e.Operation = triggers.Texts(), string(triggers.Operation())
	var from gitstore.ID
	if parent := s.Parent(); !parent.IsZero() {
		prev, err := p.Store.Snapshot(parent)
		if err != nil {
			return EntryFacts{}, err
		}
		e.Parent, from = parent.String(), prev.Tree
	}
	counted := countChanges(ctx, p, &e, from, s.Tree, lines)
	if counted != nil && !FilesLost(counted) {
		return EntryFacts{}, counted
	}
	err := addRecordFacts(p, &e, s)
	if projects.IsObjectLost(err) || err == nil && counted != nil {
		e.Partial = true // doctor says what is lost; the others are to be seen
		return EntryFacts{Entry: e, HasLines: lines != nil, RecordLost: true}, nil
	}
	return EntryFacts{Entry: e, HasLines: lines != nil}, err
}

func idText(id gitstore.ID) string {
	if id.IsZero() {
		return ""
	}
	return id.String()
}

// addRecordFacts adds what the record says and the commit does not.
func addRecordFacts(p *projects.Project, e *missions.Entry, s *gitstore.Snapshot) error {
	info, err := p.ReadSnapshotInfo(s)
	if err != nil {
		return err
	}
	e.At, e.Bytes, e.Events, e.Tally, e.MadeBy, e.Typed = info.At, info.Bytes, info.Events, info.Tally, info.MadeBy, info.Typed
	if e.HasPromptTrigger() {
		e.Prompt = info.Prompt
	}
	return nil
}

// MaxLineCountedFiles is in how many changed files lines are counted. All files of a
// new workspace are no change, and to read them takes seconds.
const MaxLineCountedFiles = 1000

func countChanges(ctx context.Context, p *projects.Project, e *missions.Entry, from, to gitstore.ID, lines *diff.Differ) error {
	err := p.Store.DiffTrees(from, to, func(c gitstore.Change) error {
		switch c.Type() {
		case gitstore.Added:
			e.Files.Added++
		case gitstore.Deleted:
			e.Files.Deleted++
		default:
			e.Files.Modified++
		}
		return ctx.Err()
	})
	if err != nil || lines == nil || e.Files.Added+e.Files.Modified+e.Files.Deleted > MaxLineCountedFiles {
		return err
	}
	d, err := lines.Trees(from, to)
	if err != nil {
		return NotCompared(from, to, err)
	}
	e.Lines = &missions.LineCounts{}
	for _, f := range d.Files {
		e.Lines.Added += f.LinesAdded
		e.Lines.Deleted += f.LinesDeleted
	}
	return nil
}

// NotCompared explains why git did not compare two trees.
func NotCompared(from, to gitstore.ID, err error) error {
	if errors.Is(err, git.ErrNotInstalled) {
		return missions.Errorf(missions.KindFailed, "install git 2.38 or newer", "%w", err)
	}
	if _, ok := errors.AsType[*git.Error](err); ok {
		return missions.Errorf(missions.KindDamaged, "umbra doctor", "compare %s and %s: %w", from.Short(), to.Short(), err)
	}
	return err
}
