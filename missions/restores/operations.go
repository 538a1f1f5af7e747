package restores

import (
	"errors"
	"fmt"
	"iter"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// PastOperation is an operation in a mission's history.
type PastOperation struct {
	projects.Operation
	Snapshot *gitstore.Snapshot
}

// ReadOperation reads the operation that a snapshot records. Only the mission's own
// operations count: a fork does not undo what happened to its parent.
func ReadOperation(m *projects.Mission, s *gitstore.Snapshot) (PastOperation, bool, error) {
	if s.Mission != m.ID {
		return PastOperation{}, false, nil
	}
	return readAnyOperation(m.Project, s)
}

// readAnyOperation reads the operation that a snapshot of any mission records.
func readAnyOperation(project *projects.Project, s *gitstore.Snapshot) (PastOperation, bool, error) {
	if projects.TriggersOf(s).Operation() == "" {
		return PastOperation{}, false, nil
	}
	doc, err := project.ReadRecordDoc(s, projects.OperationDoc)
	if errors.Is(err, gitstore.ErrNoEntry) {
		return PastOperation{}, false, nil
	}
	if err != nil {
		return PastOperation{}, false, err
	}
	p := PastOperation{Snapshot: s}
	if err := projects.ParseDoc(projects.OperationDoc, doc, &p.Operation); err != nil {
		return PastOperation{}, false, fmt.Errorf("snapshot %s: %w", s.ID.Short(), err)
	}
	return p, true, nil
}

// UndoableOperations lists the newest n operations that undo or redo can take back, the
// next one first. It reads no further back than it must. An undo takes back the newest
// operation that stands, a redo brings it back, and any other operation ends what can
// be redone.
func UndoableOperations(m *projects.Mission, kind string, n int) ([]PastOperation, error) {
	var list []PastOperation
	answered := 0 // of those that come, by what was met
	for s, err := range m.Project.Store.Snapshots(m.Tip.ID, shadow.HistoryOptions{}) {
		if err != nil || s.Mission != m.ID || len(list) == n {
			return list, err
		}
		op, ok, err := ReadOperation(m, s)
		if err != nil {
			return list, err
		}
		if !ok {
			continue
		}
		if kind == "redo" && op.Kind != "undo" && op.Kind != "redo" {
			return list, nil
		}
		switch {
		case (op.Kind == "undo") == (kind == "undo"):
			answered++
		case answered > 0:
			answered--
		default:
			list = append(list, op)
		}
	}
	return list, nil
}

// standingOperations lists a mission's restores and promotions that no undo has taken
// back, the newest first. Where a redo brought one back, it stands.
func standingOperations(m *projects.Mission) iter.Seq2[PastOperation, error] {
	return standingWhile(m, func(s *gitstore.Snapshot) bool { return s.Mission == m.ID })
}

// standingWhile lists those in a mission's history down to where it is to end. What was done
// before the mission was forked is its too.
func standingWhile(m *projects.Mission, goesOn func(*gitstore.Snapshot) bool) iter.Seq2[PastOperation, error] {
	return func(yield func(PastOperation, error) bool) {
		reversed := map[string]bool{}
		for s, err := range m.Project.Store.Snapshots(m.Tip.ID, shadow.HistoryOptions{}) {
			if err == nil && !goesOn(s) {
				return
			}
			op, ok := PastOperation{}, false
			if err == nil {
				op, ok, err = readAnyOperation(m.Project, s)
			}
			switch {
			case err != nil:
				yield(op, err)
				return
			case !ok || reversed[op.ID]:
			case op.ReversedOperation != "":
				reversed[op.ReversedOperation] = true
			case !yield(op, nil):
				return
			}
		}
	}
}

// RequireUndoableOperations is UndoableOperations, or an error if there are fewer than
// n.
func RequireUndoableOperations(m *projects.Mission, kind string, n int) ([]PastOperation, error) {
	list, err := UndoableOperations(m, kind, n)
	switch {
	case err != nil:
		return nil, err
	case len(list) == 0:
		return nil, missions.Errorf(missions.KindNotFound, "umbra log --ops lists them", "nothing to %s on %s", kind, m.Name)
	case len(list) < n:
		return nil, missions.Errorf(missions.KindNotFound, fmt.Sprintf("umbra %s %s -n %d", kind, m.Name, len(list)), "there are only %d to %s on %s", len(list), kind, m.Name)
	}
	return list, nil
}

// ActivitySince says how far the agent's user has gone on since an operation: in turns
// or, for an agent without hooks, in prompts of the conversation. It is "" if nothing
// came since. A turn that ran when the user asked for the step, and was known then,
// does not count.
func ActivitySince(m *projects.Mission, op PastOperation, known *missions.KnownOperations) (string, error) {
	running := 0
	if known != nil && (known.Turn == 0 || known.Turn > op.Snapshot.Turn) {
		running = 1
	}
	if m.Lifecycle.LastTurn() > 0 {
		return pluralText(m.Lifecycle.LastTurn()-op.Snapshot.Turn-running, "a turn ran", "turns ran"), nil
	}
	then, err := m.Project.ReadStored(op.Snapshot.Record)
	if err != nil || m.Tally == nil || then.Tally == nil || m.Tally.Session != then.Tally.Session {
		return "", err
	}
	return pluralText(m.Tally.Total.Prompts-then.Tally.Total.Prompts-running, "a prompt was sent", "prompts were sent"), nil
}

func pluralText(n int, one, more string) string {
	switch {
	case n <= 0:
		return ""
	case n == 1:
		return one
	}
	return missions.Itoa(n) + " " + more
}
