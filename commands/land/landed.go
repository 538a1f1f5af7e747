package land

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/commits"
)

// landed is which work of a mission is on a branch, as it is kept beside the mission.
type landed struct {
	Steps   []string `json:"steps"`
	Branch  string   `json:"branch"`
	Commits []string `json:"commits"` // all that were made, oldest first
}

// keepLanded notes what is on a branch now, beside what was before.
func keepLanded(c *call.Call, m missions.Mission, r commits.Result) error {
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
	all.Branch = r.Branch
	all.Steps = append(all.Steps, r.Landed...)
	slices.Sort(all.Steps)
	all.Steps = slices.Compact(all.Steps)
	for _, commit := range r.Commits {
		all.Commits = append(all.Commits, commit.ID)
	}
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
		if err != nil || len(l.Steps) == 0 || !m.IsUnmanned() {
			continue
		}
		plan, err := svc.PlanLanding(ctx, missions.LandingRequest{Caller: caller, Mission: m.ID})
		if err != nil {
			continue // its workspace is gone, or the like: it says so where it is named
		}
		whole := true
		for _, s := range plan.Steps {
			whole = whole && (!s.IsOwn() || slices.Contains(l.Steps, s.ID()))
		}
		if whole && commits.AreOnBranch(ctx, plan.Mission, c.Environ(), l.Commits) {
			names = append(names, m.ID)
		}
	}
	return names, nil
}
