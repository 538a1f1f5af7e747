package commits

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/missions"
)

// Landed is which work of a mission is on branches, as it is kept beside the mission.
type Landed struct {
	Landings []Landing `json:"landings"` // oldest first
}

// Landing is what a branch had when umbra land ended, whoever had committed it.
type Landing struct {
	Branch string   `json:"branch"`
	Commit string   `json:"commit"` // that the branch was at
	Steps  []string `json:"steps"`  // ids of the steps that it had
}

// ReadLanded reads the file that is kept beside a mission; without one nothing has landed.
func ReadLanded(name string) (l Landed, err error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return l, err
	}
	return l, json.Unmarshal(text, &l)
}

// Add notes what is on a branch now, beside what was before.
func (l *Landed) Add(r Result) {
	l.Landings = slices.DeleteFunc(l.Landings, func(o Landing) bool { return o.Branch == r.Branch && o.Commit == r.Head })
	l.Landings = append(l.Landings, Landing{Branch: r.Branch, Commit: r.Head, Steps: r.Landed})
}

// StepsOnBranches are the ids of the steps that are on a branch still.
func (l Landed) StepsOnBranches(ctx context.Context, m missions.Mission, environ []string) map[string]bool {
	steps := map[string]bool{}
	for _, landing := range l.Landings {
		if !IsOnBranch(ctx, m, environ, landing.Commit) {
			continue
		}
		for _, id := range landing.Steps {
			steps[id] = true
		}
	}
	return steps
}

// IsWhole reports whether branches have all of a mission's work, and all that has ever landed,
// such as what others had changed.
func (l Landed) IsWhole(plan missions.LandingPlan, onBranches map[string]bool) bool {
	for _, s := range plan.Steps {
		if s.IsOwn() && !onBranches[s.ID()] {
			return false
		}
	}
	for _, landing := range l.Landings {
		for _, id := range landing.Steps {
			if !onBranches[id] {
				return false
			}
		}
	}
	return true
}

// Looker lists the work of missions, and what has changed since.
type Looker interface {
	PlanLanding(context.Context, missions.LandingRequest) (missions.LandingPlan, error)
	Diff(context.Context, missions.DiffRequest) (missions.Difference, error)
}

// WorkNotLanded are the paths that have changed in steps that are on no branch: in the mission's
// own, and, where its workspace may go with it, in anybody's, also in no snapshot. Where any
// content is lost it can't be told.
func WorkNotLanded(
	ctx context.Context, looker Looker, caller missions.Caller, plan missions.LandingPlan, onBranches map[string]bool,
) (paths []string, err error) {
	m := plan.Mission
	if m.MadeByUmbra {
		if plan, err = looker.PlanLanding(ctx, missions.LandingRequest{Caller: caller, Mission: m.ID, All: true}); err != nil {
			return nil, err
		}
	}
	landed := map[[2]string]bool{} // by its trees: with All a step may be counted as another one's
	for id := range onBranches {
		_, trees, _ := strings.Cut(id, ":")
		from, to, _ := strings.Cut(trees, ":")
		landed[[2]string{from, to}] = true
	}
	for _, s := range plan.Steps {
		if landed[[2]string{s.From, s.To}] {
			continue
		}
		for _, f := range s.Changes {
			if m.MadeByUmbra || s.IsOwn() {
				paths = append(paths, f.Path)
			}
		}
	}
	if m.MadeByUmbra {
		since, err := ChangedSince(ctx, looker, caller, m.ID)
		if err != nil {
			return nil, err
		}
		paths = append(paths, since...)
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// ChangedSince are the paths of a mission's workspace that are not what its newest snapshot
// has, also where no snapshot would hold them.
func ChangedSince(ctx context.Context, looker Looker, caller missions.Caller, mission string) (paths []string, err error) {
	d, err := looker.Diff(ctx, missions.DiffRequest{Caller: caller, From: mission})
	if err != nil {
		return nil, err
	}
	for _, f := range d.Files {
		paths = append(paths, f.Path)
	}
	for _, out := range d.LeftOut {
		paths = append(paths, out.Path)
	}
	return paths, nil
}

// IsOnBranch reports whether a commit is on a branch, the user's own or one that was fetched.
func IsOnBranch(ctx context.Context, m missions.Mission, environ []string, id string) bool {
	r, err := openRepository(ctx, m, Options{Environ: environ})
	if err != nil || id == "" {
		return false
	}
	on, err := r.line("for-each-ref", "--count=1", "--contains="+id, "--format=%(refname)", "refs/heads", "refs/remotes")
	return err == nil && on != ""
}
