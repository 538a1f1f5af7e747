package land

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/commits"
)

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
	all, err := commits.ReadLanded(name)
	if err != nil {
		return err
	}
	all.Add(r)
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
		l, err := commits.ReadLanded(h.LandedFile(m.ID))
		if err != nil || len(l.Landings) == 0 || !m.IsUnmanned() {
			continue
		}
		plan, err := svc.PlanLanding(ctx, missions.LandingRequest{Caller: caller, Mission: m.ID})
		if err != nil {
			continue // its workspace is gone, or the like: it says so where it is named
		}
		onBranches := l.StepsOnBranches(ctx, plan.Mission, c.Environ())
		left, err := commits.WorkNotLanded(ctx, svc, caller, plan, onBranches)
		switch {
		case err != nil:
			c.Notice("%s stays: whether it has work that has not landed can't be told: %s", m.Name, missions.AsError(err).Message)
		case len(onBranches) > 0 && len(left) > 0:
			c.Notice("%s stays: it has work that has not landed: %s", m.Name, some(left))
		case l.IsWhole(plan, onBranches):
			names = append(names, m.ID)
		}
	}
	return names, nil
}
