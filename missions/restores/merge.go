package restores

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/restore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// Base is what two missions have in common, path by path.
type Base struct {
	Tree     gitstore.ID
	Modes    *documents.Modes
	Snapshot *gitstore.Snapshot // the newest moment that both have in common
}

// FindBase is what a mission and another one have in common. point is a moment that is in
// the histories of both.
func FindBase(ctx context.Context, m, other *projects.Mission, point string) (Base, error) {
	base, err := findMergeBase(ctx, m, other, point)
	if err != nil {
		return Base{}, err
	}
	tree, err := base.writeTree(ctx)
	return Base{tree, base.modes, base.snapshot}, err
}

// planMergedFiles plans to make a merged tree the mission's. The mission must be as it was
// merged: nobody has looked at what it became since.
func planMergedFiles(rs *Restorer, m *projects.Mission, j *Job, present restore.Side) error {
	merged := j.merge
	if present.Tree.String() != merged.Ours {
		return missions.Errorf(missions.KindConflict, "umbra merge --continue merges it again",
			"files of %s have changed since they were merged; nothing was changed", m.Name)
	}
	to := present
	var err error
	if to.Tree, err = gitstore.ParseID(merged.Tree); err != nil {
		return err
	}
	if to.Rules, err = snapshots.RecordedRulesIn(m.Project, m.Tip, to.Tree); err != nil {
		return err
	}
	if to.Modes, err = documents.ParseModes(merged.Modes); err != nil {
		return err
	}
	j.Files, err = rs.planPaths(m, j.target, sides{present, to}, nil, nil)
	return err
}

// isMerge reports whether a merge is done, or taken back. That is recorded though it may
// change no file: what was merged is not merged again.
func (j *Job) isMerge() bool {
	return j.merge != nil && !j.merge.Scratch || j.takesBack.Merge != ""
}

// mergeNote is what the agent is told with its next prompt, beside the update that says
// what was merged.
func mergeNote(j *Job) string {
	if files := j.countsText(); files != "" && !j.merge.Scratch {
		return fmt.Sprintf("Umbra has merged files of %s into yours (%s). "+
			"Read a file again before you rely on what you remember of it.", strings.Join(j.merge.Names, ", "), files)
	}
	return ""
}

// FindMerge finds the operation of a merge in a mission's history, if it was done and not
// taken back. No snapshot before that time is looked at.
func FindMerge(m *projects.Mission, id string, began time.Time) (op PastOperation, found bool, err error) {
	for op, err := range standingOperations(m) {
		if err != nil || op.Snapshot.At.Before(began.Add(-time.Second)) { // commits have whole seconds
			return PastOperation{}, false, err
		}
		if op.Merge == id {
			return op, true, nil
		}
	}
	return PastOperation{}, false, nil
}
