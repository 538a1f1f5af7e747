// Package merges merges missions into another one: it says of each path how much of a
// question it is, keeps what was chosen while questions are open, and at last has the
// restore engine put the whole in place. Until then the workspace is as it was.
package merges

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/forks"
	"github.com/umbra-vcs/umbra/missions/handovers"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/promotes"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/missions/updates"
)

// Merger merges missions.
type Merger struct {
	*projects.Desk
	rooms Rooms
}

// Rooms are the rooms below that a Merger works with.
type Rooms struct {
	Addresses *addresses.Finder
	Snapshots *snapshots.Taker
	Presence  *presence.Observer
	Handovers *handovers.Scheduler
	Promotes  *promotes.Promoter
	Forks     *forks.Forker
	Updates   *updates.Courier
}

// New makes a Merger.
func New(d *projects.Desk, r Rooms) *Merger { return &Merger{Desk: d, rooms: r} }

// Merge does one step of a merge.
func (g *Merger) Merge(ctx context.Context, r missions.MergeRequest) (missions.MergeResult, error) {
	if err := r.Verify(); err != nil {
		return missions.MergeResult{}, err
	}
	if err := g.checkMerger(r.Merger); err != nil {
		return missions.MergeResult{}, err
	}
	if r.Step == missions.MergeBegin {
		return g.begin(ctx, r)
	}
	into, s, err := g.findWaiting(ctx, r)
	if err != nil && into != nil && r.Step == missions.MergeAbort {
		return g.setAside(into, r)
	}
	if err != nil {
		return missions.MergeResult{}, err
	}
	if !r.OnlyReads() {
		held, err := g.hold(into)
		if err != nil {
			return missions.MergeResult{}, err
		}
		defer func() { _ = held.Release() }()
		if s, err = readState(into); err == nil && s == nil {
			err = noneWaits(into)
		}
		if err != nil {
			return missions.MergeResult{}, err
		}
	}
	if r.Merge != "" && r.Merge != s.ID {
		return missions.MergeResult{}, missions.Errorf(missions.KindConflict, "umbra merge --status --into "+into.Name,
			"another merge into %s waits by now", into.Name)
	}
	if done, ok, err := g.finishIfDone(into, s, r); ok || err != nil {
		return done, err
	}
	if done, ok, err := g.leaveIfOver(into, s, r); ok || err != nil {
		return done, err
	}
	if r.Step == missions.MergeAbort {
		return g.abort(into, s, r.Leave)
	}
	if err := g.checkNobodyAsked(into, s, r.Merger); err != nil {
		return missions.MergeResult{}, err
	}
	if into, _, err = g.rooms.Promotes.SettleFork(ctx, into, settling(r)); err != nil {
		return missions.MergeResult{}, err
	}
	s.update(r)
	p, done, err := g.plan(ctx, into, s, r)
	if err != nil {
		return missions.MergeResult{}, err
	}
	defer done()
	switch r.Step {
	case missions.MergePropose:
		return g.makeMerger(ctx, p, r)
	case missions.MergeProposed:
		return g.takeProposals(ctx, p, r)
	case missions.MergeResolve:
		return g.resolve(p, r.Choices)
	case missions.MergeScratch:
		return g.makeScratch(ctx, p, r)
	case missions.MergeStatus:
		result, err := p.resultWithTexts(r.Texts)
		if err == nil {
			sayFailedCheck(p, &result)
		}
		return result, err
	}
	if err := p.judgeProposals(); err != nil {
		return missions.MergeResult{}, err
	}
	if err := p.state.save(into.Project); err != nil {
		return missions.MergeResult{}, err
	}
	return g.finish(ctx, p, r)
}

func settling(r missions.MergeRequest) promotes.Settling {
	return promotes.Settling{Verb: "merge", Force: r.Force, Preview: r.OnlyReads() || r.Step == missions.MergeResolve}
}

// checkMerger refuses an agent that can't be asked what paths become.
func (g *Merger) checkMerger(agent string) error {
	switch {
	case agent == "":
		return nil
	case g.Adapter(agent) == nil:
		return missions.Errorf(missions.KindUsage, "--merger "+missions.AgentNames, "%s is no agent that umbra knows", agent)
	}
	return g.CheckHeadless(agent, agent)
}

// checkNobodyAsked refuses another agent while the work of one waits.
func (g *Merger) checkNobodyAsked(into *projects.Mission, s *state, agent string) error {
	at := s.Merger
	if agent == "" || at == nil || at.Agent == agent {
		return nil
	}
	m, err := g.loadScratch(into, at.Mission)
	if m != nil && err == nil {
		err = missions.Errorf(missions.KindBusy, "umbra merge --continue takes that over first", "%s has work for this merge", at.Agent)
	}
	return err
}

// begin plans a merge, and ends it at once if nothing is open.
func (g *Merger) begin(ctx context.Context, r missions.MergeRequest) (missions.MergeResult, error) {
	list, into, err := g.findSides(ctx, r)
	if err != nil {
		return missions.MergeResult{}, err
	}
	if !r.OnlyReads() {
		if problem := into.WorkspaceProblem(r.Caller.Cwd); problem != nil {
			return missions.MergeResult{}, missions.Errorf(missions.KindFailed, problem.Fix, "nothing was merged into %s: %s", into.Name, problem.Message)
		}
		held, err := g.hold(into)
		if err != nil {
			return missions.MergeResult{}, err
		}
		defer func() { _ = held.Release() }()
	}
	if waiting, err := readState(into); err != nil || waiting != nil {
		return missions.MergeResult{}, orWaits(into, err)
	}
	s := &state{ID: g.NewID(), Into: into.ID, Auto: missions.MergeLow, BeganAt: g.Now()}
	s.update(r)
	for _, m := range list {
		side := mergedSide{Mission: m.ID}
		if m, _, err = g.rooms.Promotes.SettleFork(ctx, m, settling(r)); err != nil {
			return missions.MergeResult{}, err
		}
		side.Snapshot = m.Tip.ID.String()
		if r.Preview {
			tree, err := g.rooms.Promotes.PresentTree(ctx, m)
			if err != nil {
				return missions.MergeResult{}, err
			}
			side.Tree = tree.String()
		}
		s.Sides = append(s.Sides, side)
	}
	if into, _, err = g.rooms.Promotes.SettleFork(ctx, into, settling(r)); err != nil {
		return missions.MergeResult{}, err
	}
	p, done, err := g.plan(ctx, into, s, r)
	if err != nil {
		return missions.MergeResult{}, err
	}
	defer done()
	switch {
	case r.Preview:
		return p.result(), nil
	case p.changesNothing() && len(p.open()) == 0:
		result := p.result()
		result.Done, result.Notes = true, append(result.Notes, "nothing differs")
		return result, nil
	}
	if err := s.save(into.Project); err != nil {
		return missions.MergeResult{}, err
	}
	return g.finish(ctx, p, r)
}

// hold keeps other processes from a step of a merge into a mission.
func (g *Merger) hold(into *projects.Mission) (*lock.Lock, error) {
	held, err := lock.Try(g.Home.Path("locks", "merge-"+into.ID), lock.Exclusive, g.Self)
	if errors.Is(err, lock.ErrHeld) {
		return nil, missions.Errorf(missions.KindBusy, "umbra merge --status --into "+into.Name+" shows what it comes to",
			"another command merges into %s just now", into.Name)
	}
	return held, home.LockError(err)
}

func noneWaits(into *projects.Mission) error {
	return missions.Errorf(missions.KindNotFound, "umbra merge FORK --into "+into.Name, "no merge into %s waits", into.Name)
}

func orWaits(into *projects.Mission, err error) error {
	if err != nil {
		return err
	}
	return missions.Errorf(missions.KindBusy, fmt.Sprintf("umbra merge --status --into %[1]s shows it; --continue ends it, --abort drops it", into.Name),
		"a merge into %s waits", into.Name)
}

// findSides finds the missions to merge, and the one that they are merged into.
func (g *Merger) findSides(ctx context.Context, r missions.MergeRequest) (list []*projects.Mission, into *projects.Mission, err error) {
	for _, name := range r.Forks {
		m, err := g.rooms.Addresses.FindMission(ctx, r.Caller, name, addresses.InProject)
		if err != nil {
			return nil, nil, err
		}
		for _, other := range list {
			if other.ID == m.ID {
				return nil, nil, missions.Errorf(missions.KindUsage, "name each once", "%s is named twice", m.Name)
			}
		}
		list = append(list, m)
	}
	if r.Into != "" {
		into, err = g.rooms.Addresses.FindMission(ctx, r.Caller, r.Into, addresses.InProject)
	} else {
		into, err = g.findParent(list)
	}
	if err != nil {
		return nil, nil, err
	}
	for _, m := range list {
		if m.ID == into.ID {
			return nil, nil, missions.Errorf(missions.KindUsage, "umbra merge FORK --into "+m.Name, "%s can't be merged into itself", m.Name)
		}
		if m.Project.ID != into.Project.ID {
			return nil, nil, missions.Errorf(missions.KindUsage, "merge missions of one project", "%s is in another project than %s", m.Name, into.Name)
		}
	}
	return list, into, into.CheckMachine()
}

// findParent is the mission that all were forked from.
func (g *Merger) findParent(list []*projects.Mission) (*projects.Mission, error) {
	first := list[0]
	for _, m := range list {
		switch {
		case m.Parent == nil:
			return nil, missions.Errorf(missions.KindUsage, "say what to merge it into: --into MISSION", "%s is not a fork", m.Name)
		case m.Parent.Mission != first.Parent.Mission:
			return nil, missions.Errorf(missions.KindUsage, "say what to merge them into: --into MISSION",
				"%s and %s are forks of different missions", first.Name, m.Name)
		}
	}
	parent, err := g.LoadPublishedMission(first.Project, first.Parent.Mission)
	if parent == nil && err == nil {
		err = missions.Errorf(missions.KindNotFound, "say what to merge it into: --into MISSION", "the parent of %s is gone", first.Name)
	}
	return parent, err
}

// findWaiting finds the merge that waits: into the mission that is named, into the default
// one, or the only one of the project.
func (g *Merger) findWaiting(ctx context.Context, r missions.MergeRequest) (*projects.Mission, *state, error) {
	var said []missions.Notice // of a mission that is guessed, and may not be the one
	guessing := missions.WithNotify(ctx, func(n missions.Notice) { said = append(said, n) })
	into, err := g.rooms.Addresses.FindMission(guessing, r.Caller, r.Into, addresses.InProject)
	if err == nil {
		if s, err := readState(into); s != nil || err != nil {
			for _, n := range said {
				missions.Notify(ctx, n)
			}
			return into, s, err
		}
	}
	if r.Into != "" {
		if err == nil {
			err = noneWaits(into)
		}
		return nil, nil, err
	}
	at, err := g.rooms.Addresses.LocateCaller(r.Caller)
	if err != nil {
		return nil, nil, err
	}
	var waiting []*projects.Mission
	var names []string
	var all []*projects.Mission
	if at.Project != nil {
		all, _ = g.ProjectMissions(at.Project) // of one that can't be read no merge can go on
	}
	for _, m := range all {
		if s, err := readState(m); s != nil || err != nil {
			waiting, names = append(waiting, m), append(names, m.Name)
		}
	}
	switch len(waiting) {
	case 0:
		return nil, nil, missions.Errorf(missions.KindNotFound, "umbra merge FORK begins one", "no merge waits here")
	case 1:
		s, err := readState(waiting[0])
		return waiting[0], s, err
	}
	return nil, nil, missions.Errorf(missions.KindAmbiguous, "name one: --into "+names[0], "merges wait into %s", strings.Join(names, ", "))
}

// abort drops a merge that waits. Nothing of it was in the workspace.
func (g *Merger) abort(into *projects.Mission, s *state, leave bool) (missions.MergeResult, error) {
	result := s.result(into)
	result.Aborted = true
	return g.forget(into, s, result, leave)
}

// setAside drops a merge that can't be read, and keeps what is kept of it.
func (g *Merger) setAside(into *projects.Mission, r missions.MergeRequest) (missions.MergeResult, error) {
	if r.Merge != "" {
		return missions.MergeResult{}, missions.Errorf(missions.KindConflict, "umbra merge --abort --into "+into.Name+" puts it aside",
			"the merge into %s can't be read: it may be another one by now", into.Name)
	}
	held, err := g.hold(into)
	if err != nil {
		return missions.MergeResult{}, err
	}
	defer func() { _ = held.Release() }()
	result := (&state{}).result(into)
	s, failed := readState(into)
	switch {
	case s != nil:
		return result, orWaits(into, nil)
	case failed == nil:
		return result, noneWaits(into)
	}
	file, err := setAside(into)
	if err != nil {
		return result, failed
	}
	result.Aborted, result.Notes = true, append(result.Notes, "what was kept of it can't be read, and is in "+file+
		": umbra log "+into.Name+" says whether it was done")
	if names := g.maybeMadeFor(into); len(names) > 0 {
		result.Notes = append(result.Notes, "it may have made "+strings.Join(names, ", ")+": umbra mission rm --workspace "+names[0])
	}
	return result, nil
}

// maybeMadeFor are the missions that by their names a merge into another one has made.
func (g *Merger) maybeMadeFor(into *projects.Mission) (names []string) {
	all, _ := g.ProjectMissions(into.Project) // those that can be read
	for _, m := range all {
		name := strings.TrimRight(m.Name, "0123456789") // of a name that was taken
		isMade := slices.ContainsFunc([]string{checkSuffix, mergerSuffix}, func(suffix string) bool {
			return m.Name == nameStart(into)+suffix || name == nameStart(into)+suffix+"-"
		})
		if isMade && m.Parent != nil && m.Parent.Mission == into.ID {
			names = append(names, m.Name)
		}
	}
	return names
}

// forget forgets a merge that has ended. One that has made missions which are still there is
// kept, unless these are to be left: no kill makes them missions that nobody knows.
func (g *Merger) forget(into *projects.Mission, s *state, result missions.MergeResult, leave bool) (missions.MergeResult, error) {
	result.Left = g.viewsOf(into, s.made())
	result.Notes = append(result.Notes, g.unreadOf(into, s.made())...)
	if len(result.Left) == 0 || leave {
		return result, s.remove(into.Project)
	}
	if s.Over = missions.MergeContinue; result.Aborted {
		s.Over = missions.MergeAbort
	}
	return result, s.save(into.Project)
}

// unreadOf says which missions that a merge has made can't be read: once it is forgotten,
// nothing else says where they come from.
func (g *Merger) unreadOf(into *projects.Mission, ids []string) (notes []string) {
	for _, id := range ids {
		if _, err := g.loadScratch(into, id); err != nil {
			notes = append(notes, fmt.Sprintf("what the merge has made may be left (umbra doctor): %s", missions.AsError(err).Message))
		}
	}
	return notes
}

// leaveIfOver ends the removal of what a merge has made that is done or dropped. One that is
// done may have been taken back since: it is not done again.
func (g *Merger) leaveIfOver(into *projects.Mission, s *state, r missions.MergeRequest) (missions.MergeResult, bool, error) {
	result := s.result(into)
	switch {
	case s.Over == missions.MergeContinue || r.Leave && r.Step == missions.MergeContinue:
		if result.Done = true; r.OnlyReads() {
			return result, true, nil
		}
		result, err := g.forget(into, s, result, r.Leave)
		return result, true, err
	case s.Over == missions.MergeAbort && r.Step != missions.MergeAbort:
		return result, false, missions.Errorf(missions.KindConflict, "umbra merge --abort --into "+into.Name,
			"the merge into %s was dropped, and what it has made is being removed", into.Name)
	}
	return result, false, nil
}

// point is a moment that is in the histories of both missions: the older one of those at
// which they left the nearest mission that both come from.
func (g *Merger) point(into, m *projects.Mission) (string, error) {
	type leaving struct{ mission, snapshot string }
	line := func(m *projects.Mission) (list []leaving) {
		list = append(list, leaving{m.ID, m.Tip.ID.String()})
		at := m
		for _, up := range g.ForkAncestors(m) {
			list, at = append(list, leaving{up.ID, at.Parent.Snapshot}), up
		}
		return list
	}
	mine := line(into)
	for _, theirs := range line(m) {
		for _, my := range mine {
			if my.mission != theirs.mission {
				continue
			}
			first, err := gitstore.ParseID(theirs.snapshot)
			if err != nil {
				return "", err
			}
			second, err := gitstore.ParseID(my.snapshot)
			if err != nil {
				return "", err
			}
			_, ok, err := into.Project.FindInHistory(second, first)
			if err != nil {
				return "", err
			}
			if ok {
				return theirs.snapshot, nil
			}
			return my.snapshot, nil
		}
	}
	return "", missions.Errorf(missions.KindConflict, "bring its files by Git", "%s and %s have no moment in common", m.Name, into.Name)
}
