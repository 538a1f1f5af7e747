package missions

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
)

// Status is one glance: the missions here, their states, what is wrong and the
// command that mends it.
func (l *Local) Status(ctx context.Context, r StatusRequest) (Status, error) {
	s := Status{Home: l.home.Dir, Missions: []Mission{}, Problems: []Problem{}, Stopped: l.space.stopped()}
	at, err := l.stand(r.Caller)
	if err != nil && at.Dir == "" {
		return s, err
	}
	if r.Brief {
		return l.briefStatus(s, at), nil
	}
	_, problems := l.allProjects() // with that of this place, if it can't be opened
	s.Problems = append(s.Problems, problems...)
	s.Problems = append(s.Problems, l.journalProblems()...)
	if problem := l.configProblem(); problem != nil {
		s.Problems = append(s.Problems, *problem)
	}
	s.Problems = append(s.Problems, l.hookProblems()...)
	if err := l.space.Low(); err != nil {
		e := AsError(err)
		s.Problems = append(s.Problems, Problem{Message: e.Message, Fix: e.Hint})
	}
	if refused := l.refusalHere(at); refused != nil {
		s.Problems = append(s.Problems, *refused)
	}
	if at.project == nil {
		return s, nil
	}
	v := l.projectView(at.project)
	s.Project = &v
	all, problems := l.missionsOf(at.project)
	s.Problems = append(s.Problems, problems...)
	var newest *loaded
	for _, m := range all {
		if m, err = l.fresh(ctx, m); err != nil {
			return s, err
		}
		if !overlap(m.bind.Workspace, at.Dir) && !HasAgent(m.life) {
			continue
		}
		view := l.view(m)
		s.Missions = append(s.Missions, view)
		for _, problem := range view.Problems {
			s.Problems = append(s.Problems, Problem{Project: at.project.Name, Mission: m.Name, Message: problem})
		}
		if m.bound() == nil && m.workspaceGone() {
			s.Problems = append(s.Problems, m.goneProblem())
		}
		problem, err := l.gitProblemThen(ctx, m)
		if err != nil {
			return s, err
		}
		if problem != nil && !fixed(s.Problems, problem.Fix) {
			s.Problems = append(s.Problems, *problem)
		}
		if out := l.leftOutOf(m); out != nil {
			s.LeftOut = append(s.LeftOut, *out)
		}
		if newest == nil || m.tip.At.After(newest.tip.At) {
			newest = m
		}
	}
	s.Walks, s.Unread = l.walksIn(s.Missions), l.unreadIn(s.Missions)
	if newest != nil {
		s.Last, err = l.lastEntry(ctx, newest)
	}
	return s, err
}

// briefStatus is for a shell's prompt: the missions whose workspace the caller
// stands in, most recently used first.
func (l *Local) briefStatus(s Status, at place) Status {
	if at.project == nil {
		return s
	}
	all, _ := l.missionsOf(at.project)
	slices.SortStableFunc(all, func(a, b *loaded) int { return b.tip.At.Compare(a.tip.At) })
	for _, m := range all {
		if m.bind.Workspace == "" || !within(m.bind.Workspace, at.Dir) {
			continue
		}
		view := l.view(m)
		s.Missions = append(s.Missions, view)
		for _, problem := range view.Problems {
			s.Problems = append(s.Problems, Problem{Project: at.project.Name, Mission: m.Name, Message: problem})
		}
	}
	return s
}

func (l *Local) lastEntry(ctx context.Context, m *loaded) (*Entry, error) {
	at, err := m.stepBack(m.tip.ID, 0)
	if err != nil {
		return nil, err
	}
	e, err := l.entry(ctx, m, at.step, nil)
	return &e, err
}

// journalProblems are operations that were cut off and wait for a decision.
func (l *Local) journalProblems() []Problem {
	list, damaged, err := l.journal.List()
	var problems []Problem
	if err != nil {
		problems = append(problems, Problem{Invariant: "I6", Message: err.Error(), Fix: "umbra doctor"})
	}
	for _, d := range damaged {
		problems = append(problems, Problem{Invariant: "I6", Message: d.Error(), Fix: "umbra doctor --fix"})
	}
	for _, op := range list {
		switch phase, since := op.Phase(); {
		case phase == journal.Interrupted:
			problems = append(problems, Problem{
				Invariant: "I6", Fix: "umbra undo, or umbra doctor --fix",
				Message: fmt.Sprintf("a %s was cut off at %s and people have gone on working since; what it took away is in %s", op.Kind(), since.Format(time.DateTime), op.DisplacedDir()),
			})
		case phase != journal.Done && abandoned(op):
			problems = append(problems, Problem{
				Invariant: "I6", Fix: "umbra doctor --fix",
				Message: fmt.Sprintf("a %s that began at %s was cut off; the next command there finishes it or takes it back", op.Kind(), op.Began().Format(time.DateTime)),
			})
		}
	}
	return problems
}

// abandoned reports whether the process of an operation in flight is not known
// to be at work on it still.
func abandoned(op *journal.Operation) bool {
	var doc struct {
		Owner lock.Owner `json:"owner"`
	}
	return op.Document(&doc) != nil || doc.Owner.Liveness() != lock.Alive
}

// Resolve says where a mission or moment is in the shadow repository.
func (l *Local) Resolve(ctx context.Context, r ResolveRequest) (Resolved, error) {
	if r.Moment != "" {
		at, err := l.findMoment(ctx, r.Caller, r.Moment, reading)
		if err != nil {
			return Resolved{}, err
		}
		return Resolved{Mission: l.view(at.loaded), Snapshot: at.step.ID.String(), ShadowRepo: at.project.shadow()}, nil
	}
	m, err := l.findMission(ctx, r.Caller, r.Mission, reading)
	if err != nil {
		return Resolved{}, err
	}
	return Resolved{Mission: l.view(m), Snapshot: m.tip.ID.String(), ShadowRepo: m.project.shadow()}, nil
}
