package missions

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
)

// owners says who changed the paths that a restore would take back since its
// target: this mission in its own turns, others outside of them, or this
// mission while another was at work in the same files. While it has an agent
// without hooks, nobody knows when a turn begins: all counts as its own.
type owners struct {
	turns  bool             // the mission has turns at all; without, all is its own
	differ map[string]bool  // the paths it is about
	dirs   map[string]bool  // the directories that hold them, and those above
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
// compares each snapshot with the one before. Of the trees it reads only what
// leads to the paths that differ now, those of paths if there are any.
func (l *Local) owners(ctx context.Context, m *loaded, target *gitstore.Snapshot, present gitstore.ID, paths []string) (*owners, error) {
	o := &owners{differ: map[string]bool{}, dirs: map[string]bool{}, own: map[string][]int{}, alien: map[string]bool{}}
	if err := o.differing(m.project, present, target.Tree, paths); err != nil || len(o.differ) == 0 {
		return o, err
	}
	steps, err := l.since(ctx, m, target)
	if objectLost(err) {
		return o, o.unknown(m, target, present, steps)
	}
	if err != nil || len(steps) == 0 {
		return o, err
	}
	if o.turns = slices.ContainsFunc(steps[1:], func(s step) bool { return s.Turn > 0 }); !o.turns {
		return o, nil
	}
	for i := 1; i < len(steps); i++ {
		if err := o.add(m.project, steps[i-1], steps[i]); err != nil {
			return nil, err
		}
	}
	last := steps[len(steps)-1]
	err = o.changed(m.project, last.Tree, present, func(path string) {
		if InTurn(m.life) || HasAgent(m.life) && m.unhooked() {
			o.mine(path, last.At, l.now())
		} else {
			o.alien[path] = true
		}
	})
	if err != nil {
		return nil, err
	}
	o.others, err = l.otherTurns(m, target.At)
	return o, err
}

// unknown takes nothing for the mission's own if a snapshot since the target is
// lost, unless nobody but it could have changed anything.
func (o *owners) unknown(m *loaded, target *gitstore.Snapshot, present gitstore.ID, steps []step) error {
	o.turns = m.life.LastTurn() > 0 || slices.ContainsFunc(steps, func(s step) bool { return s.Turn > 0 })
	return o.changed(m.project, target.Tree, present, func(path string) { o.alien[path] = true })
}

// objectLost tells of an error that says something stored can't be read.
func objectLost(err error) bool {
	return errors.Is(err, gitstore.ErrMissing) || errors.Is(err, gitstore.ErrDamaged)
}

// differing finds the paths that the restore would take back.
func (o *owners) differing(p *project, present, target gitstore.ID, paths []string) error {
	return p.store.DiffTrees(present, target, func(c gitstore.Change) error {
		if len(paths) > 0 && !slices.ContainsFunc(paths, func(dir string) bool { return dir == "" || within(dir, c.Path) }) {
			return nil
		}
		o.differ[c.Path] = true
		dir := c.Path
		for at := strings.LastIndexByte(dir, '/'); at >= 0; at = strings.LastIndexByte(dir, '/') {
			dir = dir[:at]
			o.dirs[dir] = true
		}
		return nil
	})
}

// changed calls fn for those of the paths that differ between two trees.
func (o *owners) changed(p *project, before, after gitstore.ID, fn func(path string)) error {
	enter := func(dir string) bool { return dir == "" || o.dirs[dir] }
	return p.store.DiffTreesIn(before, after, enter, func(c gitstore.Change) error {
		if o.differ[c.Path] {
			fn(c.Path)
		}
		return nil
	})
}

// since lists the mission's snapshots, oldest first, from target on, or from
// where target's history and the mission's part: a fork's moment says nothing
// of who changed what here. With nothing in common, all of them. Both histories
// are followed at one pace, so that only what is since is read.
func (l *Local) since(ctx context.Context, m *loaded, target *gitstore.Snapshot) ([]step, error) {
	theirs, stop := iter.Pull2(m.project.store.Snapshots(target.ID, gitstore.HistoryOptions{}))
	defer stop()
	ofTarget, ours := map[gitstore.ID]bool{}, map[gitstore.ID]int{}
	common := -1
	follow := func() error {
		s, err, more := theirs()
		if objectLost(err) {
			return nil // it ends there; ours may meet it before
		}
		if !more || err != nil {
			return err
		}
		ofTarget[s.ID] = true
		if at, ok := ours[s.ID]; ok && common < 0 {
			common = at
		}
		return nil
	}
	var steps []step
	err := m.project.eachTurn(m.tip.ID, func(turn []step) error {
		for _, s := range turn {
			if err := follow(); err != nil {
				return err
			}
			if ofTarget[s.ID] && common < 0 {
				common = len(steps)
			}
			ours[s.ID] = len(steps)
			steps = append(steps, s)
			if common >= 0 {
				return errStop
			}
		}
		return ctx.Err()
	})
	for err == nil && common < 0 {
		before := len(ofTarget)
		if err = follow(); len(ofTarget) == before {
			break
		}
	}
	if common >= 0 {
		steps = steps[:common+1]
	}
	slices.Reverse(steps)
	return steps, err
}

// madeUpSoon is how long after a moment for which there was no room a snapshot made up
// for it still is of what the turn has done: then others may have been at work.
const madeUpSoon = time.Minute

// add attributes what changed between two neighbouring snapshots.
func (o *owners) add(p *project, before, after step) error {
	inside := before.Turn == after.Turn && before.running()
	if inside && after.Late {
		info, err := p.snapshotInfo(after.Snapshot)
		if err != nil && !objectLost(err) {
			return err
		}
		inside = err == nil && (info.Moment.IsZero() || after.At.Sub(info.Moment) < madeUpSoon)
	}
	mine := inside || triggersOf(after.Snapshot).operation() != ""
	known := mine
	var failed error
	err := o.changed(p, before.Tree, after.Tree, func(path string) {
		if !known {
			known = true
			mine, failed = p.unheardAt(after.Snapshot)
			mine = mine && !before.closed()
		}
		if mine {
			o.mine(path, before.At, after.At)
		} else {
			o.alien[path] = true
		}
	})
	return errors.Join(err, failed)
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
	for i, s := range turn {
		if s.Ends || i+1 < len(turn) && endsTurn(s.Snapshot) && turn[i+1].running() {
			return s.At
		}
	}
	return turn[0].At
}

// foreign lists the paths that are not the mission's own, with the reason.
func (o *owners) foreign() []Kept {
	if !o.turns {
		return nil
	}
	var list []Kept
	for path := range o.differ {
		if o.alien[path] {
			list = append(list, Kept{Path: path, Reason: "changed outside this mission's turns"})
		} else if other := o.contested(path); other != "" {
			list = append(list, Kept{Path: path, Reason: fmt.Sprintf("mission %s was at work here at the time", other)})
		}
	}
	return sortedKept(list)
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
