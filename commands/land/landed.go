package land

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/commits"
)

// landed is which work of a mission is on branches, as it is kept beside the mission.
type landed struct {
	Landings []landing `json:"landings"` // oldest first
}

// landing is what a branch had when umbra land ended, whoever had committed it.
type landing struct {
	Branch string   `json:"branch"`
	Commit string   `json:"commit"` // that the branch was at
	Steps  []string `json:"steps"`  // ids of the steps that it had
}

// keepLanded notes what is on a branch now, beside what was before.
func keepLanded(c *call.Call, m missions.Mission, r commits.Result) error {
	if len(r.Landed) == 0 {
		return nil
	}
	if c.Unwritten != nil {
		return c.Unwritten
	}
	h, err := homeOf(c)
	if err != nil {
		return err
	}
	name := h.LandedFile(m.ID)
	all, err := readLanded(name)
	if err != nil {
		return err
	}
	all.Landings = slices.DeleteFunc(all.Landings, func(l landing) bool { return l.Branch == r.Branch && l.Commit == r.Head })
	all.Landings = append(all.Landings, landing{Branch: r.Branch, Commit: r.Head, Steps: r.Landed})
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return replace(name, text)
}

// replace replaces a file by one step.
func replace(name string, text []byte) error {
	next, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".new-*")
	if err != nil {
		return err
	}
	_, err = next.Write(text)
	if err = errors.Join(err, next.Close()); err == nil {
		err = os.Rename(next.Name(), name)
	}
	if err != nil {
		_ = os.Remove(next.Name()) // the error that counts is above
	}
	return err
}

func readLanded(name string) (l landed, err error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return l, err
	}
	return l, json.Unmarshal(text, &l)
}

// Missions are the missions of this project all of whose work is on a branch, and whose
// agents have ended.
func Missions(ctx context.Context, c *call.Call, svc missions.Service, caller missions.Caller) (names []string, err error) {
	h, err := homeOf(c)
	if err != nil {
		return nil, err
	}
	all, err := svc.Missions(ctx, missions.MissionsRequest{Caller: caller})
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		l, err := readLanded(h.LandedFile(m.ID))
		if err != nil || len(l.Landings) == 0 || !m.IsUnmanned() {
			continue
		}
		plan, err := svc.PlanLanding(ctx, missions.LandingRequest{Caller: caller, Mission: m.ID})
		if err != nil {
			continue // its workspace is gone, or the like: it says so where it is named
		}
		onBranches := l.stepsOnBranches(ctx, c, plan.Mission)
		left, err := workNotLanded(ctx, svc, caller, plan, onBranches)
		switch {
		case err != nil:
			c.Notice("%s stays: whether it has work that has not landed can't be told: %s", m.Name, missions.AsError(err).Message)
		case len(onBranches) > 0 && len(left) > 0:
			c.Notice("%s stays: it has work that has not landed: %s", m.Name, some(left))
		case l.isWhole(plan, onBranches):
			names = append(names, m.ID)
		}
	}
	return names, nil
}

// workNotLanded are the paths that have changed in steps that are on no branch: in the mission's
// own, and, where its workspace may go with it, in anybody's, also in no snapshot. Where any
// content is lost it can't be told.
func workNotLanded(
	ctx context.Context, svc missions.Service, caller missions.Caller, plan missions.LandingPlan, onBranches map[string]bool,
) (paths []string, err error) {
	m := plan.Mission
	if m.MadeByUmbra {
		if plan, err = svc.PlanLanding(ctx, missions.LandingRequest{Caller: caller, Mission: m.ID, All: true}); err != nil {
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
		d, err := svc.Diff(ctx, missions.DiffRequest{Caller: caller, From: m.ID})
		if err != nil {
			return nil, err
		}
		for _, f := range d.Files {
			paths = append(paths, f.Path)
		}
		for _, out := range d.LeftOut {
			paths = append(paths, out.Path)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// isWhole reports whether branches have all of a mission's work, and all that has ever landed,
// such as what others had changed.
func (l landed) isWhole(plan missions.LandingPlan, onBranches map[string]bool) bool {
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

// stepsOnBranches are the ids of the steps that are on a branch still.
func (l landed) stepsOnBranches(ctx context.Context, c *call.Call, m missions.Mission) map[string]bool {
	steps := map[string]bool{}
	for _, landing := range l.Landings {
		if !commits.IsOnBranch(ctx, m, c.Environ(), landing.Commit) {
			continue
		}
		for _, id := range landing.Steps {
			steps[id] = true
		}
	}
	return steps
}
