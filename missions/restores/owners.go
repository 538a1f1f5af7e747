package restores

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// owners says who changed the paths that a restore would take back, since its target:
// this mission in its own turns, others outside of them, or this mission while another
// mission was at work in the same files. A plain command has no turns: it counts as at
// work from its mission's beginning until it ends, and all changes as its own as long as
// no other mission works there.
type owners struct {
	judged     bool             // whose a change is counts; else all are the mission's own
	hasTurns   bool             // the mission has turns at all
	differing  map[string]bool  // the paths it is about
	dirs       map[string]bool  // the directories that hold them, and those above
	ownSpans   map[string][]int // path -> indexes of spans in which it changed
	foreign    map[string]bool
	spans      []timeSpan
	otherTurns []otherTurn
}

// timeSpan is the time of a turn.
type timeSpan struct{ from, to time.Time }

// otherTurn is a turn of another mission in an overlapping workspace.
type otherTurn struct {
	timeSpan
	mission string
	dir     string // the part of this mission's workspace that is the other's too, "" for all
}

// findOwners walks the mission's history from the target to what is on disk, and
// compares each snapshot with the one before. It reads only the directories that lead
// to the paths that differ now. If paths are given, only those below them count.
func (nb *Neighbours) findOwners(ctx context.Context, m *projects.Mission, target *gitstore.Snapshot, present gitstore.ID, paths []string) (*owners, error) {
	o := &owners{differing: map[string]bool{}, dirs: map[string]bool{}, ownSpans: map[string][]int{}, foreign: map[string]bool{}}
	if err := o.findDiffering(m.Project, present, target.Tree, paths); err != nil || len(o.differing) == 0 {
		return o, err
	}
	steps, err := nb.SnapshotsSince(ctx, m, target)
	if projects.IsObjectLost(err) {
		return o, o.markAllForeign(m, target, present, steps)
	}
	if err != nil || len(steps) == 0 {
		return o, err
	}
	o.hasTurns = slices.ContainsFunc(steps[1:], func(s projects.NumberedSnapshot) bool { return s.Turn > 0 })
	if o.otherTurns, err = nb.otherTurns(m, o.hasTurns, target.At); err != nil {
		return nil, err
	}
	if o.judged = o.hasTurns || len(o.otherTurns) > 0; !o.judged {
		return o, nil
	}
	for i := 1; i < len(steps); i++ {
		if err := o.addChanges(m.Project, steps[i-1], steps[i]); err != nil {
			return nil, err
		}
	}
	last := steps[len(steps)-1]
	err = o.eachChangedPath(m.Project, last.Tree, present, func(path string) {
		if o.isAtWork(m) {
			o.addOwnChange(path, last.At, nb.Now())
		} else {
			o.foreign[path] = true
		}
	})
	return o, err
}

// isAtWork reports whether the mission is at work now, so that a change is its own.
func (o *owners) isAtWork(m *projects.Mission) bool {
	if !o.hasTurns {
		_, ended := m.Lifecycle.(missions.Closed)
		return !ended
	}
	return missions.InTurn(m.Lifecycle) || missions.HasAgent(m.Lifecycle) && conversations.RunsWithoutHooks(m)
}

// markAllForeign takes no change for the mission's own, since a snapshot after the
// target is lost. If the mission has had no turns, all changes are its own still.
func (o *owners) markAllForeign(m *projects.Mission, target *gitstore.Snapshot, present gitstore.ID, steps []projects.NumberedSnapshot) error {
	o.judged = m.Lifecycle.LastTurn() > 0 || slices.ContainsFunc(steps, func(s projects.NumberedSnapshot) bool { return s.Turn > 0 })
	return o.eachChangedPath(m.Project, target.Tree, present, func(path string) { o.foreign[path] = true })
}

// findDiffering finds the paths that the restore would take back.
func (o *owners) findDiffering(p *projects.Project, present, target gitstore.ID, paths []string) error {
	return p.Store.DiffTrees(present, target, func(c gitstore.Change) error {
		if len(paths) > 0 && !slices.ContainsFunc(paths, func(dir string) bool { return dir == "" || home.IsWithin(dir, c.Path) }) {
			return nil
		}
		o.differing[c.Path] = true
		dir := c.Path
		for at := strings.LastIndexByte(dir, '/'); at >= 0; at = strings.LastIndexByte(dir, '/') {
			dir = dir[:at]
			o.dirs[dir] = true
		}
		return nil
	})
}

// eachChangedPath calls fn for the paths of the restore that differ between two trees.
func (o *owners) eachChangedPath(p *projects.Project, before, after gitstore.ID, fn func(path string)) error {
	enter := func(dir string) bool { return dir == "" || o.dirs[dir] }
	return p.Store.DiffTreesIn(before, after, enter, func(c gitstore.Change) error {
		if o.differing[c.Path] {
			fn(c.Path)
		}
		return nil
	})
}

// SnapshotsSince lists the mission's snapshots, oldest first, from the target on. If
// the target is in another history, it lists them from where the two histories part:
// the moment of a fork does not say who changed what here. If they have nothing in
// common, it lists all. Both histories are followed at the same pace, so that nothing
// older is read.
func (nb *Neighbours) SnapshotsSince(ctx context.Context, m *projects.Mission, target *gitstore.Snapshot) ([]projects.NumberedSnapshot, error) {
	theirs, stop := iter.Pull2(m.Project.Store.Snapshots(target.ID, shadow.HistoryOptions{}))
	defer stop()
	ofTarget, ours := map[gitstore.ID]bool{}, map[gitstore.ID]int{}
	common := -1
	follow := func() error {
		s, err, more := theirs()
		if projects.IsObjectLost(err) {
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
	var steps []projects.NumberedSnapshot
	err := m.Project.WalkTurns(m.Tip.ID, func(turn []projects.NumberedSnapshot) error {
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
				return projects.ErrStopWalk
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

// addChanges finds the owner of what changed between two neighbouring snapshots.
func (o *owners) addChanges(p *projects.Project, before, after projects.NumberedSnapshot) error {
	making := sync.OnceValues(func() (presence.Making, error) { return presence.WhoMade(p, before, after, o.hasTurns) })
	var failed error
	err := o.eachChangedPath(p, before.Tree, after.Tree, func(path string) {
		var made presence.Making
		if made, failed = making(); made.Path(path) {
			o.addOwnChange(path, before.At, after.At)
		} else {
			o.foreign[path] = true
		}
	})
	return errors.Join(err, failed)
}

func (o *owners) addOwnChange(path string, from, to time.Time) {
	o.ownSpans[path] = append(o.ownSpans[path], len(o.spans))
	o.spans = append(o.spans, timeSpan{from, to})
}

// otherTurns lists the turns of missions in overlapping workspaces that ended after a
// time. For a mission without turns, what can't be read of the others is passed over:
// CheckNeighbours says it.
func (nb *Neighbours) otherTurns(m *projects.Mission, hasTurns bool, after time.Time) ([]otherTurn, error) {
	all, problems := nb.findOverlappingMissions(m)
	if len(problems) > 0 && hasTurns {
		return nil, unreadNeighbourError(m, problems[0])
	}
	var turns []otherTurn
	for _, o := range all {
		dir := ""
		if home.IsWithin(m.Binding.Workspace, o.Binding.Workspace) {
			dir = strings.Trim(strings.TrimPrefix(o.Binding.Workspace, m.Binding.Workspace), "/")
		}
		if o.Lifecycle.LastTurn() == 0 && nb.Adapter(o.Agent) == nil {
			until := nb.Now()
			if isUnlaunched(o) && !isUnlaunched(m) {
				until = o.Tip.At // no command is at work, and what its user did since shows in no snapshot of it
			}
			spans, err := nb.plainSpans(o, after, until)
			if err != nil {
				return nil, err
			}
			for _, span := range spans {
				turns = append(turns, otherTurn{span, o.Name, dir})
			}
			continue
		}
		var gap time.Time // what was pruned before it may have been turns
		err := o.Project.WalkTurns(o.Tip.ID, func(turn []projects.NumberedSnapshot) error {
			newest, oldest := turn[0], turn[len(turn)-1]
			for _, s := range turn {
				if !gap.IsZero() {
					turns = append(turns, otherTurn{timeSpan{s.At, gap}, o.Name, dir})
				}
				if gap = (time.Time{}); !s.PrunedAt.IsZero() && s.Mission == o.ID {
					gap = s.At
				}
			}
			if newest.At.Before(after) {
				return projects.ErrStopWalk
			}
			if newest.Turn > 0 && newest.Mission == o.ID {
				turns = append(turns, otherTurn{timeSpan{oldest.At, turnEndTime(turn, missions.InTurn(o.Lifecycle) && newest.ID == o.Tip.ID, nb.Now())}, o.Name, dir})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return turns, nil
}

// isUnlaunched reports whether a mission has had no command yet. All that is done in it is
// done by hand.
func isUnlaunched(m *projects.Mission) bool {
	_, unlaunched := m.Lifecycle.(missions.Initializing)
	return unlaunched
}

// plainSpans are the times between two moments in which a mission of a plain command was
// there: from its beginning until its command ended.
func (nb *Neighbours) plainSpans(o *projects.Mission, after, until time.Time) ([]timeSpan, error) {
	var spans []timeSpan
	for s, err := range o.Project.Store.Snapshots(o.Tip.ID, shadow.HistoryOptions{}) {
		if projects.IsObjectLost(err) || err == nil && s.Mission != o.ID {
			break
		}
		if err != nil {
			return nil, err
		}
		if s.State != string(missions.StateClosed) {
			spans = append(spans, timeSpan{s.At, until})
		}
		if s.At.Before(after) {
			break
		}
		until = s.At
	}
	return spans, nil
}

// turnEndTime is when a turn ended; now if it still runs.
func turnEndTime(turn []projects.NumberedSnapshot, running bool, now time.Time) time.Time {
	if running {
		return now
	}
	for i, s := range turn {
		if s.EndsTurn || i+1 < len(turn) && projects.EndsTurn(s.Snapshot) && turn[i+1].TakenInTurn() {
			return s.At
		}
	}
	return turn[0].At
}

// foreignPaths lists the paths that are not the mission's own, with the reason.
func (o *owners) foreignPaths() []missions.PathReason {
	if !o.judged {
		return nil
	}
	outside := "changed outside this mission's turns"
	if !o.hasTurns {
		outside = "changed while this mission's command did not run"
	}
	var list []missions.PathReason
	for path := range o.differing {
		if o.foreign[path] {
			list = append(list, missions.PathReason{Path: path, Reason: outside})
		} else if other := o.contestingMission(path); other != "" {
			list = append(list, missions.PathReason{Path: path, Reason: fmt.Sprintf("mission %s was at work here at the time", other)})
		}
	}
	return sortKept(list)
}

// contestingMission names another mission that was in a turn while this one changed the
// path; "" if there was none.
func (o *owners) contestingMission(path string) string {
	for _, i := range o.ownSpans[path] {
		for _, other := range o.otherTurns {
			if other.dir != "" && !home.IsWithin(other.dir, path) {
				continue
			}
			if !other.to.Before(o.spans[i].from) && !other.from.After(o.spans[i].to) {
				return other.mission
			}
		}
	}
	return ""
}
