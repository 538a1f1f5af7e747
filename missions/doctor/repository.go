package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/upkeep"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// checkRepository checks a project's shadow repository. If mending is asked for, what can
// be mended without loss is, and what is returned remains.
func (x *Examination) checkRepository(ctx context.Context, p *projects.Project) ([]upkeep.Problem, error) {
	problems, err := x.repositoryProblems(ctx, p)
	if err != nil || !x.request.Fix {
		return withFixes(problems), err
	}
	const rounds = 3 // what is mended may show what else is wrong
	for round := 0; round < rounds && x.mendAll(ctx, p, problems); round++ {
		if problems, err = x.repositoryProblems(ctx, p); err != nil {
			return nil, err
		}
	}
	return x.mendLost(ctx, p, problems)
}

// mendAll mends what it can of a shadow repository but what is lost, and reports
// whether that was anything.
func (x *Examination) mendAll(ctx context.Context, p *projects.Project, problems []upkeep.Problem) (mended bool) {
	for _, problem := range problems {
		mend := x.mendFor(ctx, p, problem)
		if mend == nil {
			continue
		}
		if err := mend(); err != nil {
			x.Examiner.Logger.Warn("mend", "project", p.Name, "ref", problem.Ref, "error", err)
			continue
		}
		mended = true
		x.report(missions.Problem{Invariant: problem.Invariant, Project: p.Name, Message: problemLine(problem), Details: problem.Details}, func() error { return nil })
	}
	return mended
}

// repositoryProblems is what is wrong with a project's shadow repository now.
func (x *Examination) repositoryProblems(ctx context.Context, p *projects.Project) ([]upkeep.Problem, error) {
	roots, err := x.Examiner.unpublished(p)
	if err != nil {
		return nil, err
	}
	problems, err := upkeep.Check(ctx, p.Store, roots...)
	if err != nil {
		return nil, err
	}
	lost, err := lostRefs(p)
	return append(problems, lost...), err
}

// problemLine is a problem of a shadow repository in one line.
func problemLine(problem upkeep.Problem) string {
	if problem.Ref == "" {
		return missions.OneLine(problem.Message, "")
	}
	return missions.OneLine(problem.Ref, problem.Message)
}

// withFixes names the command for the problems that doctor can mend.
func withFixes(problems []upkeep.Problem) []upkeep.Problem {
	for i, problem := range problems {
		if problem.Fix == "" && isBrokenAgentRef(problem) {
			problems[i].Fix = "umbra doctor --fix"
		}
	}
	return problems
}

func isBrokenAgentRef(problem upkeep.Problem) bool {
	return problem.Invariant == "I1" && gitstore.RefName(problem.Ref).Kind() == gitstore.RefAgent
}

// mendFor is how a problem of a shadow repository is mended, nil if it is not.
func (x *Examination) mendFor(ctx context.Context, p *projects.Project, problem upkeep.Problem) func() error {
	name := gitstore.RefName(problem.Ref)
	switch {
	case len(problem.Lost) > 0:
		return nil // once all else is mended
	case len(problem.Rotten) > 0:
		return func() error { return x.Examiner.salvage(ctx, p, problem.Rotten) }
	case problem.Invariant == "I6" && problem.Fix == "umbra doctor --fix":
		return func() error {
			_, err := upkeep.Sweep(ctx, p.Store)
			return err
		}
	case problem.Fix == "umbra doctor --fix" && strings.HasPrefix(problem.Ref, "packed-refs "):
		return func() error { return p.Store.MendPackedRefs(ctx) }
	case name.Kind() == gitstore.RefHead:
		return nil // by the missions' names
	case isBrokenAgentRef(problem):
		return func() error { return mendAgentRef(ctx, p, name.Mission()) }
	case problem.Fix == "umbra doctor --fix":
		return func() error {
			_, err := p.Store.RepairRecords(ctx)
			return err
		}
	}
	return nil
}

// lostRefs are missions whose records are there and whose ref is not.
func lostRefs(p *projects.Project) ([]upkeep.Problem, error) {
	records, err := p.Store.Refs(gitstore.RefRecord)
	if err != nil {
		return nil, err
	}
	var lost []upkeep.Problem
	for _, ref := range records.Refs {
		agent := gitstore.AgentRef(ref.Name.Mission())
		_, err := p.Store.Ref(agent)
		if _, trashed := p.Store.Ref(gitstore.TrashAgentRef(ref.Name.Mission())); trashed == nil || !errors.Is(err, gitstore.ErrRefNotFound) {
			continue
		}
		lost = append(lost, upkeep.Problem{Invariant: "I1", Ref: string(agent), Message: "it is gone, its records are there", Fix: "umbra doctor --fix"})
	}
	return lost, nil
}

// mendAgentRef sets a mission's ref, torn or lost, to its newest snapshot. A fork
// that has taken none goes back to its fork point.
func mendAgentRef(ctx context.Context, p *projects.Project, mission string) error {
	s, err := newestSnapshot(ctx, p, mission)
	if err != nil {
		return err
	}
	return p.Store.MendRef(ctx, gitstore.AgentRef(mission), s)
}

// unpublished are the first snapshots of headless sessions, and their records,
// to which no ref leads yet.
func (e *Examiner) unpublished(p *projects.Project) ([]gitstore.ID, error) {
	ids, err := e.Journal.LiveMissions()
	if err != nil {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	var roots []gitstore.ID
	for _, id := range ids {
		var state projects.Live
		raw, err := e.Journal.Live(id)
		if err != nil || json.Unmarshal(raw, &state) != nil || state.ProvisionalSnapshot == "" {
			continue
		}
		first, err := gitstore.ParseID(state.ProvisionalSnapshot)
		if err != nil {
			continue
		}
		if snap, err := p.Store.Snapshot(first); err == nil {
			roots = append(roots, snap.ID, snap.Record)
		}
	}
	return roots, nil
}
