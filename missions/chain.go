package missions

import (
	"errors"
	"fmt"

	"github.com/umbra-vcs/umbra/gitstore"
)

// step is a snapshot with its place in its turn.
type step struct {
	*gitstore.Snapshot
	K     int  // its number within the turn
	Ends  bool // the snapshot that the turn ended with
	First bool // the mission's first
	ended bool // the turn had ended when it was taken, or with it
}

// address is the part after the mission's name: what `umbra log` prints.
func (s step) address(mission string) string {
	switch {
	case s.First:
		return mission + "@start"
	case s.Ends:
		return mission + "@" + itoa(s.Turn)
	}
	return mission + "@" + itoa(s.Turn) + "." + itoa(s.K)
}

// running reports whether the agent was in the turn when a snapshot was taken: also in
// one that had ended and went on.
func (s step) running() bool {
	return s.Turn > 0 && (!s.ended || s.State == string(StateRunning) || s.State == string(StateWaiting))
}

// closed reports whether there was no agent after it.
func (s step) closed() bool { return s.State == string(StateClosed) }

// errStop ends a walk early.
var errStop = errors.New("stop")

// eachTurn walks a history from tip backwards and hands over one turn at a
// time, each newest turn first and within it newest snapshot first. A turn is
// a run of snapshots with one number; numbers never go back.
func (p *project) eachTurn(tip gitstore.ID, fn func([]step) error) error {
	var turn []step
	flush := func(first bool) error {
		if len(turn) == 0 {
			return nil
		}
		number(turn, first)
		err := fn(turn)
		turn = nil
		return err
	}
	err := func() error {
		for s, err := range p.snapshots.walk(p.store, tip) {
			if err != nil {
				return err
			}
			if len(turn) > 0 && turn[0].Turn != s.Turn {
				if err := flush(false); err != nil {
					return err
				}
			}
			turn = append(turn, step{Snapshot: s})
		}
		return flush(true)
	}()
	if errors.Is(err, errStop) {
		return nil
	}
	return err
}

// number gives the snapshots of a turn, newest first, their places in it.
func number(turn []step, first bool) {
	last := len(turn) - 1
	k := 0
	if turn[last].Turn > 0 && !triggersOf(turn[last].Snapshot).Has(TriggerPrompt) {
		k = 1 // its beginning was not heard, so nothing is "before" it
	}
	ended := false
	for i := last; i >= 0; i-- {
		turn[i].K = k
		k++
		if !ended && turn[i].Turn > 0 && endsTurn(turn[i].Snapshot) {
			turn[i].Ends, ended = true, true
		}
		turn[i].ended = ended
	}
	turn[last].First = first
}

// endsTurn reports whether a snapshot was taken because its turn ended.
func endsTurn(s *gitstore.Snapshot) bool { return triggersOf(s).endTurn() }

func (t Triggers) endTurn() bool {
	return t.Has(TriggerIdle) || t.Has(TriggerError) || t.Has(TriggerClose)
}

// nextStep is the place of the snapshot that is about to follow the newest one,
// nil if it is not known of that.
func (m *loaded) nextStep(turn int, triggers Triggers) *turnStep {
	var next turnStep
	switch {
	case m.tip == nil || m.tip.Turn != turn:
		if turn > 0 && !triggers.Has(TriggerPrompt) {
			next.K = 1
		}
	case m.Step == nil:
		return nil
	default:
		next = turnStep{K: m.Step.K + 1, Ended: m.Step.Ended}
	}
	next.Ends = !next.Ended && turn > 0 && triggers.endTurn()
	next.Ended = next.Ended || next.Ends
	return &next
}

// stepOf is a snapshot with the place that its record says. ok is false if it
// says none, or is lost: then only a walk through the turn tells.
func (p *project) stepOf(s *gitstore.Snapshot) (at step, ok bool, err error) {
	then, err := p.storedAt(s.Record)
	if objectLost(err) {
		return step{}, false, nil // its files may be whole
	}
	if err != nil || then.Step == nil {
		return step{}, false, err
	}
	return then.Step.of(s), true, nil
}

// of is the snapshot whose record says that place.
func (t *turnStep) of(s *gitstore.Snapshot) step {
	return step{Snapshot: s, K: t.K, Ends: t.Ends, First: s.Parent().IsZero(), ended: t.Ended}
}

// locate finds a snapshot in a history, with its place; errStop-free.
func (p *project) locate(tip, id gitstore.ID) (step, bool, error) {
	for s, err := range p.store.Snapshots(tip, gitstore.HistoryOptions{}) {
		if err != nil {
			return step{}, false, err
		}
		if s.ID != id {
			continue
		}
		if at, known, err := p.stepOf(s); known || err != nil {
			return at, known, err
		}
		at, err := p.numbered(tip, id)
		return at, err == nil, err
	}
	return step{}, false, nil
}

// numbered finds a snapshot that is in a history by numbering its turns down to
// it.
func (p *project) numbered(tip, id gitstore.ID) (step, error) {
	var found step
	err := p.eachTurn(tip, func(turn []step) error {
		for _, s := range turn {
			if s.ID == id {
				found = s
				return errStop
			}
		}
		return nil
	})
	return found, err
}

// turnSteps returns the snapshots of one turn, oldest first.
func (p *project) turnSteps(tip gitstore.ID, n int) ([]step, error) {
	var found []step
	err := p.eachTurn(tip, func(turn []step) error {
		switch {
		case turn[0].Turn == n:
			for i := len(turn) - 1; i >= 0; i-- {
				found = append(found, turn[i])
			}
			return errStop
		case turn[0].Turn < n:
			return errStop
		}
		return nil
	})
	return found, err
}

// before returns the snapshot before s in its history; one without a Snapshot
// if s is the first.
func (p *project) before(tip gitstore.ID, s step) (step, error) {
	var at step
	seen := false
	err := p.eachTurn(tip, func(turn []step) error {
		for _, other := range turn {
			if seen {
				at = other
				return errStop
			}
			seen = other.ID == s.ID
		}
		return nil
	})
	return at, err
}

// endOf returns the snapshot that turn n ended with.
func (p *project) endOf(name string, tip gitstore.ID, n int) (step, error) {
	steps, err := p.turnSteps(tip, n)
	if err != nil {
		return step{}, err
	}
	if len(steps) == 0 {
		return step{}, Errorf(KindNotFound, "umbra log "+name, "%s has no turn %d", name, n)
	}
	for _, s := range steps {
		if s.Ends {
			return s, nil
		}
	}
	last := steps[len(steps)-1]
	if n > 0 && last.ID == tip {
		hint := last.address(name) + " is its newest snapshot"
		if before := fmt.Sprintf("%s@%d.0", name, n); before != last.address(name) {
			hint += ", " + before + " the one before it"
		}
		return step{}, Errorf(KindNotFound, hint,
			"turn %d of %s has not ended", n, name)
	}
	return last, nil
}

// finished returns the snapshot that the back-th newest finished turn ended
// with; 1 is the newest.
func (p *project) finished(name string, tip gitstore.ID, back int) (step, error) {
	var found step
	count := 0
	err := p.eachTurn(tip, func(turn []step) error {
		for _, s := range turn {
			if s.Ends {
				if count++; count == back {
					found = s
					return errStop
				}
			}
		}
		return nil
	})
	if err == nil && found.Snapshot == nil {
		err = Errorf(KindNotFound, "umbra log "+name, "%s has only %d finished turns", name, count)
	}
	return found, err
}
