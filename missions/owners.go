package missions

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
)

// owners says who changed which path since a snapshot: this mission in its own
// turns, others outside of them, or this mission while another was at work in
// the same files.
type owners struct {
	turns  bool             // the mission has turns at all; without, all is its own
	own    map[string][]int // path -> indexes of spans in which it changed
	alien  map[string]bool
	spans  []span
	others []otherTurn
}

// span is the time of a turn.
type span struct{ from, to time.Time }

// otherTurn is a turn of another mission in an overlapping workspace.
type otherTurn struct {
	span
	mission string
}

// owners walks the mission's history from what is on disk back to target, and
// compares each snapshot with the one before.
func (l *Local) owners(ctx context.Context, m *loaded, target *gitstore.Snapshot, present gitstore.ID) (*owners, error) {
	o := &owners{own: map[string][]int{}, alien: map[string]bool{}}
	steps, err := l.since(ctx, m, target)
	if err != nil {
		return nil, err
	}
	if len(steps) == 0 {
		return o, nil
	}
	for i := 1; i < len(steps); i++ {
		if err := o.add(m.project, steps[i-1], steps[i]); err != nil {
			return nil, err
		}
	}
	last := steps[len(steps)-1]
	err = m.project.store.DiffTrees(last.Tree, present, func(c gitstore.Change) error {
		if InTurn(m.life) {
			o.mine(c.Path, last.At, l.now())
		} else {
			o.alien[c.Path] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	o.others, err = l.otherTurns(m, target.At)
	return o, err
}

// since lists the mission's snapshots, oldest first, from target on, or from
// where target's history and the mission's part: a fork's moment says nothing
// of who changed what here. With nothing in common, all of them.
func (l *Local) since(ctx context.Context, m *loaded, target *gitstore.Snapshot) ([]step, error) {
	common := map[gitstore.ID]bool{}
	for s, err := range m.project.store.Snapshots(target.ID, gitstore.HistoryOptions{}) {
		if err != nil {
			return nil, err
		}
		common[s.ID] = true
	}
	var steps []step
	err := m.project.eachTurn(m.tip.ID, func(turn []step) error {
		for _, s := range turn {
			steps = append(steps, s)
			if common[s.ID] {
				return errStop
			}
		}
		return ctx.Err()
	})
	slices.Reverse(steps)
	return steps, err
}

// add attributes what changed between two neighbouring snapshots.
func (o *owners) add(p *project, before, after step) error {
	o.turns = o.turns || after.Turn > 0
	inside := before.Turn == after.Turn && after.Turn > 0 && !before.ended
	operation := triggersOf(after.Snapshot).Has(TriggerRestore) || triggersOf(after.Snapshot).Has(TriggerUndo)
	return p.store.DiffTrees(before.Tree, after.Tree, func(c gitstore.Change) error {
		if inside || operation {
			o.mine(c.Path, before.At, after.At)
		} else {
			o.alien[c.Path] = true
		}
		return nil
	})
}

func (o *owners) mine(path string, from, to time.Time) {
	o.own[path] = append(o.own[path], len(o.spans))
	o.spans = append(o.spans, span{from, to})
}

// otherTurns lists the turns of missions in overlapping workspaces that ended
// after a time.
func (l *Local) otherTurns(m *loaded, after time.Time) ([]otherTurn, error) {
	all, err := l.overlapping(m)
	if err != nil {
		return nil, err
	}
	var turns []otherTurn
	for _, o := range all {
		err := o.project.eachTurn(o.tip.ID, func(turn []step) error {
			newest, oldest := turn[0], turn[len(turn)-1]
			if newest.At.Before(after) {
				return errStop
			}
			if newest.Turn > 0 && newest.Mission == o.ID {
				turns = append(turns, otherTurn{span{oldest.At, endTime(turn, InTurn(o.life) && newest.ID == o.tip.ID, l.now())}, o.Name})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return turns, nil
}

// endTime is when a turn ended, or now if it goes on.
func endTime(turn []step, running bool, now time.Time) time.Time {
	if running {
		return now
	}
	for _, s := range turn {
		if s.Ends {
			return s.At
		}
	}
	return turn[0].At
}

// foreign lists the paths that differ between two trees and are not the
// mission's own, with the reason.
func (o *owners) foreign(p *project, from, to gitstore.ID, paths []string) ([]Kept, error) {
	var list []Kept
	if !o.turns {
		return nil, nil
	}
	err := p.store.DiffTrees(from, to, func(c gitstore.Change) error {
		if len(paths) > 0 && !slices.ContainsFunc(paths, func(dir string) bool { return dir == "" || within(dir, c.Path) }) {
			return nil
		}
		if o.alien[c.Path] {
			list = append(list, Kept{Path: c.Path, Reason: "changed outside this mission's turns"})
		} else if other := o.contested(c.Path); other != "" {
			list = append(list, Kept{Path: c.Path, Reason: fmt.Sprintf("mission %s was at work here at the time", other)})
		}
		return nil
	})
	return sortedKept(list), err
}

// contested names another mission whose turn overlapped one in which this one
// changed the path.
func (o *owners) contested(path string) string {
	for _, i := range o.own[path] {
		for _, other := range o.others {
			if !other.to.Before(o.spans[i].from) && !other.from.After(o.spans[i].to) {
				return other.mission
			}
		}
	}
	return ""
}
