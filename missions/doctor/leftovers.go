package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/gitstore/upkeep"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/checks"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// checkLiveStates looks for live states of missions that no project has a ref of (H3). It
// is called only if all projects can be read.
func (x *Examination) checkLiveStates(list []*projects.Project) error {
	ids, err := x.Examiner.Journal.LiveMissions()
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	for _, id := range ids {
		var damaged *journal.DamagedError
		if _, err := x.Examiner.Journal.Live(id); errors.As(err, &damaged) {
			x.report(missions.Problem{Invariant: "I6", Mission: id, Message: "the journal's state of a mission can't be read; what its record says counts"}, func() error {
				_, err := x.Examiner.Journal.MoveAside(damaged)
				return err
			})
			continue
		}
		if x.refless[id] || x.Examiner.waitsToBePublished(id) || slices.ContainsFunc(list, func(p *projects.Project) bool { return hasRefs(p, id) }) {
			continue
		}
		x.report(missions.Problem{Invariant: "I6", Mission: id, Message: "the journal holds the state of a mission that is no more"}, func() error { return x.Examiner.Journal.DeleteLive(id) })
	}
	return nil
}

// hasRefs reports whether the project's repository has a ref of a mission, or may have one
// that can't be read.
func hasRefs(p *projects.Project, id string) bool {
	for _, ref := range []gitstore.RefName{gitstore.AgentRef(id), gitstore.RecordRef(id)} {
		if _, err := p.Store.Ref(ref); !errors.Is(err, gitstore.ErrRefNotFound) {
			return true
		}
	}
	return false
}

// waitsToBePublished reports whether a mission without a ref belongs to a headless session
// that has changed nothing yet.
func (e *Examiner) waitsToBePublished(id string) bool {
	raw, err := e.Journal.Live(id)
	if err != nil {
		return false
	}
	var state projects.Live
	if json.Unmarshal(raw, &state) != nil || state.ProvisionalSnapshot == "" {
		return false
	}
	return state.Agent == nil || state.Agent.Liveness() == lock.Alive
}

// checkTemporaries reports temporary files that killed processes left, and removes them.
func (x *Examination) checkTemporaries() error {
	var left []string
	for _, dir := range x.Examiner.TemporaryDirs() {
		names, err := journal.Leftovers(dir)
		if err != nil {
			return fmt.Errorf("look for temporary files: %w", err)
		}
		for _, name := range names {
			left = append(left, filepath.Join(dir, name))
		}
	}
	if len(left) > 0 {
		x.report(missions.Problem{
			Invariant: "I6", Message: fmt.Sprintf("%d temporary files of processes that are gone, as %s", len(left), left[0]),
		}, x.Examiner.SweepTemporaries)
	}
	return nil
}

// checkChecks reports checks that run on though the commands that ran them were killed, and
// ends them.
func (x *Examination) checkChecks(ctx context.Context) {
	left, err := checks.Left(x.Examiner.Home)
	if err != nil {
		x.report(missions.Problem{
			Invariant: "I6", Message: fmt.Sprintf("whether a check runs on can't be told: %v", err), Fix: "let that file be read, or rm it once nothing runs of that check",
		}, nil)
	}
	for _, of := range left {
		x.report(missions.Problem{Invariant: "I6", Message: "the check of a command that was killed runs on, or has left its record"}, func() error {
			_, err := checks.EndLeft(ctx, x.Examiner.Home, of)
			return err
		})
	}
}

// leftScratches are the workspaces of searches that were killed, with how they are removed.
func (e *Examiner) leftScratches(ctx context.Context) (list []missions.Finding) {
	for _, left := range e.rooms.Bin.LeftScratches() {
		m := left.Mission
		problem := missions.Problem{Invariant: "I6", Project: m.Project.Name, Mission: m.Name, Message: "umbra bisect was killed and has left this workspace"}
		list = append(list, missions.Finding{Problem: problem, Mend: func() error { return e.rooms.Bin.RemoveLeftScratch(ctx, left) }})
	}
	return list
}

// noteSetAside notes the damaged files that were set aside in a project, now or before.
func (x *Examination) noteSetAside(p *projects.Project) {
	dir := upkeep.DamagedDir(p.Store)
	if entries, err := os.ReadDir(dir); err != nil || len(entries) == 0 {
		return
	}
	bytes, err := home.DiskUsage(dir)
	if err != nil {
		x.Examiner.Logger.Warn("measure what was set aside", "project", p.Name, "error", err)
	}
	x.Result.SetAside = append(x.Result.SetAside, missions.SetAside{Project: p.Name, Path: dir, Bytes: bytes})
}
