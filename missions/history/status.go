package history

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/forks"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/missions/worktrees"
)

// Status is one glance: the missions here, their states, what is wrong and the
// command that mends it.
func (rd *Reader) Status(ctx context.Context, r missions.StatusRequest) (missions.Status, error) {
	s := missions.Status{Home: rd.Home.Dir, Missions: []missions.Mission{}, Problems: []missions.Problem{}, StoppedReason: rd.Space.ShortReason()}
	at, err := rd.addresses.LocateCaller(r.Caller)
	if err != nil && at.Dir == "" {
		return s, err
	}
	if r.Brief {
		return rd.briefStatus(s, at), nil
	}
	there, problems := rd.AllProjects() // with that of this place, if it can't be opened
	s.Problems = append(s.Problems, problems...)
	register, _ := rd.ReadRegister() // doctor says why it can't be read
	s.Problems = append(s.Problems, rd.GoneProblems(register, there)...)
	s.Problems = append(s.Problems, rd.journalProblems()...)
	if problem := rd.ConfigProblem(); problem != nil {
		s.Problems = append(s.Problems, *problem)
	}
	s.Problems = append(append(s.Problems, rd.hooks.HookProblems()...), worktrees.Problems(rd.Home, at.Directory)...)
	if err := rd.Space.CheckRoom(); err != nil {
		e := missions.AsError(err)
		s.Problems = append(s.Problems, missions.Problem{Message: e.Message, Fix: e.Hint})
	}
	s.Expiring, s.DailyImport, s.Prunings = rd.Expiring(r.Caller), rd.DailyImport(), rd.Prunings()
	s.Tightening = rd.Tightening()
	s.TrashExpiry, s.ForkExpiry, s.Pushes, s.Budget = rd.TrashExpiry(), rd.ForkExpiry(), rd.Pushes(), rd.Space.Budget()
	if refused := rd.agents.RefusalProblem(at); refused != nil {
		s.Problems = append(s.Problems, *refused)
	}
	if at.Project == nil {
		if problem := rd.LostProblem(at.Directory); problem != nil {
			s.Problems = append(s.Problems, *problem)
		}
		return s, nil
	}
	v := rd.presence.ProjectView(at.Project)
	s.Project = &v
	all, problems := rd.ProjectMissions(at.Project)
	s.Problems = append(s.Problems, problems...)
	var newest *projects.Mission
	var live []*projects.Mission
	for _, m := range all {
		if m, err = rd.presence.ReloadMission(ctx, m); err != nil {
			return s, err
		}
		if !agents.PathsOverlap(m.Binding.Workspace, at.Dir) && !missions.HasAgent(m.Lifecycle) && m.MovedTo(at.Dir) == "" {
			continue
		}
		live = append(live, m)
		view := rd.presence.MissionView(m)
		s.Missions = append(s.Missions, view)
		for _, problem := range view.Problems {
			s.Problems = append(s.Problems, missions.Problem{Project: at.Project.Name, Mission: m.Name, Message: problem})
		}
		if m.CheckMachine() == nil {
			if problem := m.WorkspaceProblem(at.Dir); problem != nil && !worktrees.IsGone(rd.Home, m) {
				s.Problems = append(s.Problems, *problem)
			}
		}
		problem, err := rd.snapshots.RecordedGitProblem(ctx, m)
		if err != nil {
			return s, err
		}
		if problem != nil && !snapshots.HasFix(s.Problems, problem.Fix) {
			s.Problems = append(s.Problems, *problem)
		}
		rd.addUncaptured(&s, m)
		if newest == nil || m.Tip.At.After(newest.Tip.At) {
			newest = m
		}
	}
	s.Walks, s.Unread = rd.snapshots.MissionWalks(s.Missions), rd.snapshots.UnreadWorkspaces(s.Missions)
	if s.Overlaps, err = rd.comparisons.Overlaps(ctx, live); err != nil {
		rd.Logger.Info("compare what live forks have changed", "error", err) // doctor says what is lost
	}
	if newest == nil {
		return s, nil
	}
	s.LastSnapshot, err = rd.lastEntry(ctx, newest)
	return s, err
}

// addUncaptured adds which files of a mission's workspace are out of its snapshots, and why.
func (rd *Reader) addUncaptured(s *missions.Status, m *projects.Mission) {
	s.Problems = append(s.Problems, rd.snapshots.FileProblems(m)...)
	if out := rd.snapshots.LeftOutFiles(m); out != nil {
		s.LeftOut = append(s.LeftOut, *out)
	}
	if out := snapshots.RuledOutFiles(m); out != nil {
		s.RuledOut = append(s.RuledOut, *out)
	}
	if withheld := snapshots.WithheldPaths(m); withheld != nil {
		s.Withheld = append(s.Withheld, *withheld)
	}
}

// briefStatus is for a shell's prompt: the missions whose workspace the caller
// stands in, most recently used first.
func (rd *Reader) briefStatus(s missions.Status, at addresses.CallerDirectory) missions.Status {
	if at.Project == nil {
		return s
	}
	all, _ := rd.ProjectMissions(at.Project)
	slices.SortStableFunc(all, func(a, b *projects.Mission) int { return b.Tip.At.Compare(a.Tip.At) })
	for _, m := range all {
		if m.Binding.Workspace == "" || !home.IsWithin(m.Binding.Workspace, at.Dir) {
			continue
		}
		view := rd.presence.MissionView(m)
		s.Missions = append(s.Missions, view)
		for _, problem := range view.Problems {
			s.Problems = append(s.Problems, missions.Problem{Project: at.Project.Name, Mission: m.Name, Message: problem})
		}
	}
	return s
}

func (rd *Reader) lastEntry(ctx context.Context, m *projects.Mission) (*missions.Entry, error) {
	at, err := addresses.MomentBack(m, m.Tip.ID, 0)
	if err != nil {
		return nil, err
	}
	e, err := rd.snapshots.LogEntry(ctx, m, at.Snapshot, nil)
	return &e, err
}

// journalProblems are the operations that were cut off and wait for a decision.
func (rd *Reader) journalProblems() []missions.Problem {
	list, damaged, err := rd.Journal.List()
	var problems []missions.Problem
	if err != nil {
		problems = append(problems, missions.Problem{Invariant: "I6", Message: err.Error(), Fix: "umbra doctor"})
	}
	for _, d := range damaged {
		problems = append(problems, missions.Problem{Invariant: "I6", Message: d.Error(), Fix: "umbra doctor --fix"})
	}
	for _, op := range list {
		switch phase, since := op.Phase(); {
		case phase == journal.Interrupted:
			problems = append(problems, missions.Problem{
				Invariant: "I6", Fix: "umbra undo, or umbra doctor --fix",
				Message: fmt.Sprintf("a %s was cut off at %s and people have gone on working since; what it took away is in %s", op.Kind(), since.Format(time.DateTime), op.DisplacedDir()),
			})
		case phase != journal.Done && forks.IsAbandoned(op):
			problems = append(problems, missions.Problem{
				Invariant: "I6", Fix: "umbra doctor --fix",
				Message: fmt.Sprintf("a %s that began at %s was cut off; the next command there finishes it or takes it back", op.Kind(), op.Began().Format(time.DateTime)),
			})
		}
	}
	return problems
}
