package projects

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
)

// NumberedSnapshot is a snapshot with its place in its turn.
type NumberedSnapshot struct {
	*gitstore.Snapshot
	K         int  // its number within the turn
	EndsTurn  bool // the snapshot that the turn ended with
	IsFirst   bool // the mission's first
	turnEnded bool // the turn had ended when it was taken, or with it
}

// Address is the part after the mission's name: what `umbra log` prints.
func (s NumberedSnapshot) Address(mission string) string {
	switch {
	case s.IsFirst:
		return mission + "@start"
	case s.EndsTurn:
		return mission + "@" + missions.Itoa(s.Turn)
	}
	return mission + "@" + missions.Itoa(s.Turn) + "." + missions.Itoa(s.K)
}

// TakenInTurn reports whether the agent was in the turn when a snapshot was taken: also in
// one that had ended and went on.
func (s NumberedSnapshot) TakenInTurn() bool {
	return s.Turn > 0 && (!s.turnEnded || s.State == string(missions.StateRunning) || s.State == string(missions.StateWaiting))
}

// IsClosed reports whether there was no agent after it.
func (s NumberedSnapshot) IsClosed() bool { return s.State == string(missions.StateClosed) }

// ErrStopWalk ends a walk early.
var ErrStopWalk = errors.New("stop")

// WalkTurns walks a history from tip backwards and hands over one turn at a
// time, each newest turn first and within it newest snapshot first. A turn is
// a run of snapshots with one number; numbers never go back.
func (p *Project) WalkTurns(tip gitstore.ID, fn func([]NumberedSnapshot) error) error {
	var turn []NumberedSnapshot
	flush := func(first bool) error {
		if len(turn) == 0 {
			return nil
		}
		numberTurn(turn, first)
		p.numberByRecords(turn)
		err := fn(turn)
		turn = nil
		return err
	}
	err := func() error {
		for s, err := range p.SnapshotCache.WalkHistory(p.Store, tip) {
			if err != nil {
				return err
			}
			if len(turn) > 0 && turn[0].Turn != s.Turn {
				if err := flush(false); err != nil {
					return err
				}
			}
			turn = append(turn, NumberedSnapshot{Snapshot: s})
		}
		return flush(true)
	}()
	if errors.Is(err, ErrStopWalk) {
		return nil
	}
	return err
}

// numberTurn gives the snapshots of a turn, newest first, their places in it.
func numberTurn(turn []NumberedSnapshot, first bool) {
	last := len(turn) - 1
	k := 0
	if turn[last].Turn > 0 && !TriggersOf(turn[last].Snapshot).Has(missions.TriggerPrompt) {
		k = 1 // its beginning was not heard, so nothing is "before" it
	}
	ended := false
	for i := last; i >= 0; i-- {
		turn[i].K = k
		k++
		if !ended && turn[i].Turn > 0 && EndsTurn(turn[i].Snapshot) {
			turn[i].EndsTurn, ended = true, true
		}
		turn[i].turnEnded = ended
	}
	turn[last].IsFirst = first
}

// numberByRecords gives the snapshots outside of turns the numbers that they had before some
// of them were pruned. A turn is pruned whole.
func (p *Project) numberByRecords(turn []NumberedSnapshot) {
	pruned := func(s NumberedSnapshot) bool { return !s.PrunedAt.IsZero() }
	if turn[0].Turn > 0 || !slices.ContainsFunc(turn, pruned) {
		return
	}
	for i, s := range turn {
		if at, known, err := p.NumberSnapshotByRecord(s.Snapshot); known && err == nil {
			turn[i].K = at.K
		}
	}
}

// PrunedTurn is the error where a turn was pruned from a history, nil where it was not.
func (p *Project) PrunedTurn(name string, tip gitstore.ID, n int) error {
	var newer *gitstore.Snapshot
	for s, err := range p.Store.Snapshots(tip, shadow.HistoryOptions{}) {
		if err != nil {
			return err
		}
		if s.Turn < n && newer != nil && newer.Turn > n && !newer.PrunedAt.IsZero() {
			return PrunedError(name, fmt.Sprintf("turn %d", n), newer.PrunedAt)
		}
		if s.Turn <= n {
			break
		}
		newer = s
	}
	return nil
}

// PrunedError says that something went with older snapshots.
func PrunedError(name, what string, at time.Time) error {
	return missions.Errorf(missions.KindNotFound, "umbra log "+name+" shows what is left", "%s of %s is gone: older snapshots were pruned on %s",
		what, name, at.Local().Format(time.DateOnly))
}

// PrunedBetween are the first and the last of the turns that were pruned between two
// neighbouring snapshots, 0 if those were in none.
func PrunedBetween(before, after NumberedSnapshot) (first, last int) {
	first, last = before.Turn+1, after.Turn-1
	if after.PrunedAt.IsZero() || first > last {
		return 0, 0
	}
	return first, last
}

// GapText says what was pruned between two neighbouring snapshots.
func GapText(before, after NumberedSnapshot) string {
	switch first, last := PrunedBetween(before, after); {
	case last == 0:
		return "in what was pruned"
	case first == last:
		return fmt.Sprintf("in turn %d, which was pruned", last)
	default:
		return fmt.Sprintf("in turns %d to %d, which were pruned", first, last)
	}
}

// EndsTurn reports whether a snapshot was taken because its turn ended.
func EndsTurn(s *gitstore.Snapshot) bool { return TriggersOf(s).HasTurnEnd() }

// PromptOfTurn is the prompt of a turn, as its commits have it: on one line, and cut.
func PromptOfTurn(turn []NumberedSnapshot) string {
	for _, s := range turn {
		if s.Prompt != "" {
			return s.Prompt
		}
	}
	return ""
}

// NextTurnPosition is the place of the snapshot that is about to follow the newest one,
// nil if it is not known of that.
func (m *Mission) NextTurnPosition(turn int, triggers missions.Triggers) *turnPosition {
	var next turnPosition
	switch {
	case m.Tip == nil || m.Tip.Turn != turn:
		if turn > 0 && !triggers.Has(missions.TriggerPrompt) {
			next.K = 1
		}
	case m.TurnPosition == nil:
		return nil
	default:
		next = turnPosition{K: m.TurnPosition.K + 1, TurnEnded: m.TurnPosition.TurnEnded}
	}
	next.EndsTurn = !next.TurnEnded && turn > 0 && triggers.HasTurnEnd()
	next.TurnEnded = next.TurnEnded || next.EndsTurn
	return &next
}

// NumberSnapshotByRecord is a snapshot with the place that its record says. ok is false if it
// says none, or is lost: then only a walk through the turn tells.
func (p *Project) NumberSnapshotByRecord(s *gitstore.Snapshot) (at NumberedSnapshot, ok bool, err error) {
	then, err := p.ReadStored(s.Record)
	if IsObjectLost(err) {
		return NumberedSnapshot{}, false, nil // its files may be whole
	}
	if err != nil || then.TurnPosition == nil {
		return NumberedSnapshot{}, false, err
	}
	return then.TurnPosition.NumberSnapshot(s), true, nil
}

// NumberSnapshot is the snapshot whose record says that place.
func (t *turnPosition) NumberSnapshot(s *gitstore.Snapshot) NumberedSnapshot {
	return NumberedSnapshot{Snapshot: s, K: t.K, EndsTurn: t.EndsTurn, IsFirst: s.Parent().IsZero(), turnEnded: t.TurnEnded}
}

// FindInHistory finds a snapshot in a history, with its place; ErrStopWalk-free.
func (p *Project) FindInHistory(tip, id gitstore.ID) (NumberedSnapshot, bool, error) {
	for s, err := range p.Store.Snapshots(tip, shadow.HistoryOptions{}) {
		if err != nil {
			return NumberedSnapshot{}, false, err
		}
		if s.ID != id {
			continue
		}
		if at, known, err := p.NumberSnapshotByRecord(s); known || err != nil {
			return at, known, err
		}
		at, err := p.NumberSnapshotByWalk(tip, id)
		return at, err == nil, err
	}
	return NumberedSnapshot{}, false, nil
}

// NumberSnapshotByWalk finds a snapshot that is in a history by numbering its turns down to
// it.
func (p *Project) NumberSnapshotByWalk(tip, id gitstore.ID) (NumberedSnapshot, error) {
	var found NumberedSnapshot
	err := p.WalkTurns(tip, func(turn []NumberedSnapshot) error {
		for _, s := range turn {
			if s.ID == id {
				found = s
				return ErrStopWalk
			}
		}
		return nil
	})
	return found, err
}

// TurnSnapshots returns the snapshots of one turn, oldest first.
func (p *Project) TurnSnapshots(tip gitstore.ID, n int) ([]NumberedSnapshot, error) {
	var found []NumberedSnapshot
	err := p.WalkTurns(tip, func(turn []NumberedSnapshot) error {
		switch {
		case turn[0].Turn == n:
			for i := len(turn) - 1; i >= 0; i-- {
				found = append(found, turn[i])
			}
			return ErrStopWalk
		case turn[0].Turn < n:
			return ErrStopWalk
		}
		return nil
	})
	return found, err
}

// PreviousSnapshot returns the snapshot before s in its history; one without a Snapshot
// if s is the first.
func (p *Project) PreviousSnapshot(tip gitstore.ID, s NumberedSnapshot) (NumberedSnapshot, error) {
	var at NumberedSnapshot
	seen := false
	err := p.WalkTurns(tip, func(turn []NumberedSnapshot) error {
		for _, other := range turn {
			if seen {
				at = other
				return ErrStopWalk
			}
			seen = other.ID == s.ID
		}
		return nil
	})
	return at, err
}

// TurnEnd returns the snapshot that turn n ended with.
func (p *Project) TurnEnd(name string, tip gitstore.ID, n int) (NumberedSnapshot, error) {
	steps, err := p.TurnSnapshots(tip, n)
	if err != nil {
		return NumberedSnapshot{}, err
	}
	if len(steps) == 0 {
		if err := p.PrunedTurn(name, tip, n); err != nil {
			return NumberedSnapshot{}, err
		}
		return NumberedSnapshot{}, missions.Errorf(missions.KindNotFound, "umbra log "+name, "%s has no turn %d", name, n)
	}
	for _, s := range steps {
		if s.EndsTurn {
			return s, nil
		}
	}
	last := steps[len(steps)-1]
	if n > 0 && last.ID == tip {
		hint := last.Address(name) + " is its newest snapshot"
		if before := fmt.Sprintf("%s@%d.0", name, n); before != last.Address(name) {
			hint += ", " + before + " the one before it"
		}
		return NumberedSnapshot{}, missions.Errorf(missions.KindNotFound, hint,
			"turn %d of %s has not ended", n, name)
	}
	return last, nil
}

// NthFinishedTurn returns the snapshot that the back-th newest finished turn ended
// with; 1 is the newest.
func (p *Project) NthFinishedTurn(name string, tip gitstore.ID, back int) (NumberedSnapshot, error) {
	var found NumberedSnapshot
	count := 0
	err := p.WalkTurns(tip, func(turn []NumberedSnapshot) error {
		for _, s := range turn {
			if s.EndsTurn {
				if count++; count == back {
					found = s
					return ErrStopWalk
				}
			}
			if !s.PrunedAt.IsZero() {
				return PrunedError(name, "finished turn "+missions.Itoa(back)+" from the newest", s.PrunedAt)
			}
		}
		return nil
	})
	if err == nil && found.Snapshot == nil {
		err = missions.Errorf(missions.KindNotFound, "umbra log "+name, "%s has only %d finished turns", name, count)
	}
	return found, err
}
